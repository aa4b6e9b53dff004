package commands

import (
	"context"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// shortDiff is how many lines a diff may have to be printed instead of opened in the
// pager.
const shortDiff = 40

// diff shows the changes of the session that are still in the files.
func (c changes) diff(ctx context.Context, args string) (command.Reply, error) {
	if args == "turn" {
		return c.diffTurns(ctx)
	}
	calls, _ := c.prompts()
	s := c.scope(undo.Everything, calls.all(), c.ancestors())
	if err := c.aim(&s, args, undo.Everything); err != nil {
		return command.Reply{}, err
	}
	log, err := undo.Read(ctx, c.App.Root)
	if err != nil {
		return command.Reply{}, err
	}
	nets, err := log.Net(ctx, s)
	if len(nets) == 0 && err == nil {
		return command.Reply{Text: "this session has changed nothing yet"}, nil
	}
	return showNets("What this session changed", nets), err
}

// diffTurns lets the person choose a turn that changed files.
func (c changes) diffTurns(ctx context.Context) (command.Reply, error) {
	pick, err := c.pick(ctx, promptList{"Changes of which prompt?", undo.Everything, prompt.alone, false}, func(ctx context.Context, p prompt) (command.Reply, error) {
		log, err := undo.Read(ctx, c.App.Root)
		if err != nil {
			return command.Reply{}, err
		}
		nets, err := log.Net(ctx, c.scope(undo.Everything, p.alone(), c.ancestors()))
		if err != nil || len(nets) == 0 {
			return command.Reply{Text: "nothing of it is left"}, err
		}
		return showNets("What this prompt changed", nets), nil
	})
	if err == nil && len(pick.Items) == 0 {
		return command.Reply{Text: "no change by a prompt of this session is left"}, nil
	}
	return command.Reply{Pick: pick}, err
}

// showNets shows the only file, or lets the person choose.
func showNets(title string, nets []undo.Net) command.Reply {
	if len(nets) == 1 {
		n := nets[0]
		text, remark := n.Diff(), remarks(n)
		head := joined(n.Name, summary(nets), remark)
		switch {
		case text == "" && remark == "":
			return command.Reply{Text: n.Name + " is as it was"}
		case n.Err != nil: // nothing was counted
			return command.Reply{Text: joined(n.Name, remark), Diff: text}
		case strings.Count(text, "\n") > shortDiff:
			return command.Reply{Page: diffPage(head, text)}
		}
		return command.Reply{Text: head, Diff: text}
	}
	return command.Reply{Pick: netsPick(title, nets)}
}

// netsPick shows one file after the other, or all, as the person chooses.
func netsPick(title string, nets []undo.Net) *command.Pick {
	var all strings.Builder
	pick := &command.Pick{Title: title, Items: []command.Choice{{ID: "all", Title: "all " + plural.Of(len(nets), "file"), Cells: []string{signed(total(nets)), ""}}}}
	for i, n := range nets {
		all.WriteString(n.Diff())
		pick.Items = append(pick.Items, command.Choice{ID: strconv.Itoa(i), Title: n.Name, Cells: []string{signed(n.Counts()), remarks(n)}, Preview: func() string { return beginning(n.Diff()) }})
	}
	pick.Choose = func(_ context.Context, id string) (command.Reply, error) {
		if i, err := strconv.Atoi(id); err == nil {
			return command.Reply{Page: diffPage(joined(nets[i].Name, remarks(nets[i])), nets[i].Diff()), Pick: pick}, nil
		}
		return command.Reply{Page: diffPage(title, all.String()), Pick: pick}, nil
	}
	return pick
}

// beginning returns the first lines of a diff, without its head.
func beginning(unified string) string {
	_, hunks, found := strings.Cut(unified, "\n@@ ")
	if !found {
		return ""
	}
	return strings.Join(short(strings.Split(strings.TrimSuffix("@@ "+hunks, "\n"), "\n")), "\n")
}

func diffPage(title, unified string) *pager.Page {
	return &pager.Page{Title: title, Doc: pager.Diff(unified)}
}

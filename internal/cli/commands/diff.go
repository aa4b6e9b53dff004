package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// shortDiff is the number of lines up to which a diff is printed and not opened
// in the pager.
const shortDiff = 40

// diff shows what the session changed and did not take back, as far as it is
// still so.
func (c changes) diff(ctx context.Context, args string) (command.Reply, error) {
	if args == "turn" {
		return c.diffTurns(ctx)
	}
	talk, _ := c.talk()
	s := c.scope(undo.Everything, talk.all(), c.ancestors())
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

// diffTurns lets the person choose one of the turns that changed something.
func (c changes) diffTurns(ctx context.Context) (command.Reply, error) {
	pick, err := c.pick(ctx, list{"What did which prompt change?", undo.Everything, prompt.alone, false}, func(ctx context.Context, p prompt) (command.Reply, error) {
		log, err := undo.Read(ctx, c.App.Root)
		if err != nil {
			return command.Reply{}, err
		}
		nets, err := log.Net(ctx, c.scope(undo.Everything, p.alone(), c.ancestors()))
		if err != nil || len(nets) == 0 {
			return command.Reply{Text: "nothing of that still stands"}, err
		}
		return showNets("What this prompt changed", nets), nil
	})
	if err == nil && len(pick.Items) == 0 {
		return command.Reply{Text: "no prompt of this session has changed anything that still stands"}, nil
	}
	return command.Reply{Pick: pick}, err
}

// showNets shows one file, or lets the person choose.
func showNets(title string, nets []undo.Net) command.Reply {
	if len(nets) == 1 {
		n := nets[0]
		text, remark := n.Diff(), remarks(n)
		said := joined(n.Name, summary(nets), remark)
		switch {
		case text == "" && remark == "":
			return command.Reply{Text: n.Name + " is as it was"}
		case n.Err != nil: // then nothing is counted
			return command.Reply{Text: joined(n.Name, remark), Diff: text}
		case strings.Count(text, "\n") > shortDiff:
			return command.Reply{Page: diffPage(said, text)}
		}
		return command.Reply{Text: said, Diff: text}
	}
	return command.Reply{Pick: netsPick(title, nets)}
}

// netsPick lets the person look at one file after the other, or at all.
func netsPick(title string, nets []undo.Net) *command.Pick {
	var all strings.Builder
	pick := &command.Pick{Title: title, Items: []command.Choice{{ID: "all", Title: "all " + count(len(nets), "file"), Cells: []string{signed(total(nets)), ""}}}}
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

// beginning is the first lines of a diff, without its head.
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

// remarks is what there is to say of a file beside its diff.
func remarks(n undo.Net) string {
	var out []string
	switch {
	case n.Err != nil:
		return "not known: " + n.Err.Error()
	case n.Created && n.Deleted:
		out = append(out, "created, and gone")
	case n.Created:
		out = append(out, "new")
	case n.Deleted:
		out = append(out, "gone")
	}
	if n.Others {
		out = append(out, "with changes by others")
	}
	return joined(out...)
}

// summary sums up what was changed.
func summary(nets []undo.Net) string {
	if len(nets) == 0 {
		return "no change"
	}
	return count(len(nets), "file") + " " + signed(total(nets))
}

func total(nets []undo.Net) (added, removed int) {
	for _, n := range nets {
		a, r := n.Counts()
		added, removed = added+a, removed+r
	}
	return added, removed
}

// sum sums up what a plan would change.
func sum(p undo.Plan) string {
	added, removed := 0, 0
	for _, ch := range p.Changes {
		a, r := diff.Count(ch.Text, ch.After)
		added, removed = added+a, removed+r
	}
	return count(len(p.Changes), "file") + " " + signed(added, removed)
}

func signed(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// joined joins what is not empty.
func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " · ")
}

package commands

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
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
	nets = moved(nets)
	if len(nets) == 0 && err == nil {
		return command.Reply{Text: "No changes in this session."}, nil
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
			return command.Reply{Text: "none of its changes are in the files any more"}, err
		}
		return showNets("What this prompt changed", moved(nets)), nil
	})
	if err == nil && len(pick.Items) == 0 {
		return command.Reply{Text: "The last turn changed no files."}, nil
	}
	return command.Reply{Pick: pick}, err
}

// showNets shows the only file, or lets the person choose.
func showNets(title string, nets []undo.Net) command.Reply {
	if len(nets) == 1 {
		n := nets[0]
		text, remark := n.Diff(), remarks(n)
		head := joined(titleOf(n), summary(nets), remark)
		switch {
		case text == "" && remark == "":
			return command.Reply{Text: n.Name + " is unchanged"}
		case n.Err != nil: // nothing was counted
			return command.Reply{Text: joined(n.Name, remark), Diff: text}
		case strings.Count(text, "\n") > shortDiff:
			return command.Reply{Page: diffPage(head, text)}
		}
		if remark == "new" || remark == "deleted" { // the title of the diff has it
			remark = ""
		}
		return command.Reply{Text: remark, Diff: text}
	}
	return command.Reply{Pick: netsPick(title, nets)}
}

// netsPick shows one file after the other, or all, as the person chooses.
func netsPick(title string, nets []undo.Net) *command.Pick {
	var all strings.Builder
	pick := &command.Pick{Title: title, Items: []command.Choice{{ID: "all", Title: "all " + plural.Of(len(nets), "file"), Cells: []string{signed(total(nets)), "", ""}}}}
	most := 0
	for _, n := range nets {
		added, removed := n.Counts()
		most = max(most, added+removed)
	}
	for i, n := range nets {
		added, removed := n.Counts()
		all.WriteString(n.Diff())
		pick.Items = append(pick.Items, command.Choice{ID: strconv.Itoa(i), Title: titleOf(n), Cells: []string{signed(added, removed), stat(added, removed, most), remarks(n)}, Preview: func() string { return beginning(n.Diff()) }})
	}
	pick.Choose = func(_ context.Context, id string) (command.Reply, error) {
		if i, err := strconv.Atoi(id); err == nil {
			return command.Reply{Page: diffPage(joined(titleOf(nets[i]), remarks(nets[i])), nets[i].Diff()), Pick: pick}, nil
		}
		return command.Reply{Page: diffPage(title, all.String()), Pick: pick}, nil
	}
	return pick
}

// statWidth is the width of the longest bar.
const statWidth = 16

// stat shows the lines added and removed in proportion to most, as git --stat does.
func stat(added, removed, most int) string {
	part := func(n int) int {
		if n == 0 || most <= statWidth {
			return n
		}
		return max(1, n*statWidth/most)
	}
	return strings.Repeat("+", part(added)) + strings.Repeat("−", part(removed))
}

func titleOf(n undo.Net) string {
	if n.From != "" {
		return n.From + " → " + n.Name
	}
	return n.Name
}

// mostMoves bounds the pairs of files that moved compares.
const mostMoves = 400

// moved joins a deleted and a created file of which half of the lines are the same: one entry.
func moved(nets []undo.Net) []undo.Net {
	pairs := 0
	out := slices.Clone(nets)
	for _, from := range nets {
		if !from.Deleted || from.Created || from.Err != nil || from.Before == "" {
			continue
		}
		best := closest(from.Before, out, &pairs)
		if best < 0 {
			continue
		}
		to := &out[best]
		to.From, to.Before, to.Created, to.Others = from.Name, from.Before, false, to.Others || from.Others
		out = slices.DeleteFunc(out, func(n undo.Net) bool { return n.Name == from.Name && n.Deleted })
	}
	return out
}

// closest returns the index of the created file that is most like a text, or -1. It counts the pairs that it looks at.
func closest(before string, nets []undo.Net, pairs *int) int {
	best, least := -1, 0
	for i, to := range nets {
		if *pairs++; *pairs > mostMoves || !to.Created || to.Deleted || to.Err != nil {
			continue
		}
		if changed, ok := alike(before, to.After); ok && (best < 0 || changed < least) {
			best, least = i, changed
		}
	}
	return best
}

// alike reports whether half of the lines of two texts are the same, and how many are not.
func alike(before, after string) (changed int, ok bool) {
	added, removed := diff.Count(before, after)
	lines := strings.Count(before, "\n")
	return added + removed, added+removed == 0 || 2*removed < lines && 2*added < lines
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
	return &pager.Page{Title: title, Doc: diffview.Doc(unified)}
}

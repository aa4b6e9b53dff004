package commands

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// prompt is a prompt that the session can go back to.
type prompt struct {
	history.Prompt
	at    int // among the prompts, from 0
	calls *callIndex
}

// callIndex maps the ids of the model's calls to their prompts, from 0.
type callIndex map[string]int

// prompts returns the index of the calls and the prompts, the newest first.
func (c changes) prompts() (*callIndex, []prompt) {
	items := c.App.Loop.Items() // once: a turn may be running
	of, at := callIndex{}, -1
	for _, it := range items {
		if it.Prompts() {
			at++
		}
		for _, call := range it.Message.Calls {
			of[call.ID] = at
		}
	}
	var all []prompt
	for i, p := range history.Prompts(items) {
		all = append(all, prompt{p, i, &of})
	}
	slices.Reverse(all)
	return &of, all
}

// where selects the changes by the calls of the prompts for which meant is true, and
// those after the mark unknown by calls that are not in the index.
func (t *callIndex) where(meant func(at int) bool, unknown int64) undo.Since {
	return undo.Since{Mark: unknown, After: func(call string) (after, known bool) {
		at, known := (*t)[call]
		return known && meant(at), known
	}}
}

// all selects the changes of the session.
func (t *callIndex) all() undo.Since {
	return t.where(func(int) bool { return true }, 1)
}

// since selects the changes by p and the prompts after it.
func (p prompt) since() undo.Since {
	return p.calls.where(func(at int) bool { return at >= p.at }, p.mark())
}

// mark returns the place of p among the changes; for older sessions, which keep none, the time
// of p takes its place.
func (p prompt) mark() int64 {
	if p.Mark == 0 && !p.At.IsZero() {
		return p.At.UnixNano()
	}
	return p.Mark
}

// alone selects the changes by p.
func (p prompt) alone() undo.Since {
	return p.calls.where(func(at int) bool { return at == p.at }, 0)
}

// promptList configures a list of prompts with their changes.
type promptList struct {
	title string
	what  undo.Range
	since func(prompt) undo.Since
	all   bool // list prompts without changes, too
}

// counted is how many of the newest prompts are listed with their changes.
const counted = 40

// pick lets the person choose a prompt.
func (c changes) pick(ctx context.Context, l promptList, choose func(context.Context, prompt) (command.Reply, error)) (*command.Pick, error) {
	log, err := undo.Read(ctx, c.App.Root)
	if err != nil {
		return nil, err
	}
	pick, at := &command.Pick{Title: l.title}, map[string]prompt{}
	known, nets := -1, []undo.Net(nil)
	_, all := c.prompts()
	from := c.ancestors()
	for i, p := range all {
		scope := c.scope(l.what, l.since(p), from)
		n := log.Count(scope)
		if n == 0 && !l.all {
			continue
		}
		came := ""
		if i < counted {
			if n != known || !l.all { // the same number means the same changes
				if nets, err = log.Net(ctx, scope); err != nil {
					return nil, err
				}
			}
			known, came = n, summary(nets)
		} else {
			nets = nil
		}
		id := strconv.Itoa(p.N)
		at[id] = p
		pick.Items = append(pick.Items, command.Choice{
			ID: id, Title: oneLine(p.Text), Cells: []string{came, ago(time.Since(p.At), p.At)}, Preview: p.sketch(nets),
		})
	}
	pick.Choose = func(ctx context.Context, id string) (command.Reply, error) { return choose(ctx, at[id]) }
	return pick, nil
}

// sketch returns the preview of a prompt: its text, if that has several lines, and the
// changed files.
func (p prompt) sketch(nets []undo.Net) func() string {
	return func() string {
		var out []string
		if lines := strings.Split(strings.TrimSpace(p.Text), "\n"); len(lines) > 1 {
			out = append(out, short(lines)...)
		}
		var files []string
		for _, n := range nets {
			files = append(files, joined(n.Name+"  "+signed(n.Counts()), remarks(n)))
		}
		return strings.Join(append(out, short(files)...), "\n")
	}
}

// scope selects changes of this session.
func (c changes) scope(what undo.Range, since undo.Since, from []string) undo.Scope {
	return undo.Scope{Range: what, Session: c.App.Current().ID(), From: from, Since: since}
}

// maxForks bounds the number of ancestors.
const maxForks = 20

// ancestors returns the sessions that this one was forked from, up to one that was
// deleted.
func (c changes) ancestors() []string {
	var from []string
	for id := c.App.Current().Info().From; id != "" && len(from) < maxForks; {
		from = append(from, id)
		info, _, err := c.App.Archive.Read(id)
		if err != nil {
			break
		}
		id = info.From
	}
	return from
}

package commands

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// prompt is one that the session can go back to.
type prompt struct {
	history.Prompt
	at   int    // among the prompts, from 0
	talk *talks // all of them
}

// talks is which prompt each of the model's calls answers.
type talks map[string]int

// talk goes through the conversation.
func (c changes) talk() (*talks, []prompt) {
	items := c.App.Loop.Items() // once: a turn may be running
	of, at := talks{}, -1
	for _, it := range items {
		if it.Message.Role == llm.User {
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

// where is an instant: what came of the prompts that are meant, and of unknown
// calls since a time.
func (t *talks) where(meant func(at int) bool, unknown time.Time) undo.Since {
	return undo.Since{Time: unknown, After: func(call string) (after, known bool) {
		at, known := (*t)[call]
		return known && meant(at), known
	}}
}

// all is the whole session.
func (t *talks) all() undo.Since {
	return t.where(func(int) bool { return true }, time.Unix(1, 0))
}

// since is what came of p and of those after it.
func (p prompt) since() undo.Since {
	return p.talk.where(func(at int) bool { return at >= p.at }, p.At)
}

// alone is what came of p.
func (p prompt) alone() undo.Since {
	return p.talk.where(func(at int) bool { return at == p.at }, time.Time{})
}

// list is how prompts are listed with what they changed.
type list struct {
	title string
	what  undo.Range
	since func(prompt) undo.Since
	all   bool // also those that changed nothing
}

// counted is for how many prompts it is worked out what changed: the newest.
const counted = 40

// pick lets the person choose a prompt.
func (c changes) pick(ctx context.Context, l list, choose func(context.Context, prompt) (command.Reply, error)) (*command.Pick, error) {
	log, err := undo.Read(ctx, c.App.Root)
	if err != nil {
		return nil, err
	}
	pick, at := &command.Pick{Title: l.title}, map[string]prompt{}
	known, nets := -1, []undo.Net(nil)
	_, all := c.talk()
	from := c.ancestors()
	for i, p := range all {
		scope := c.scope(l.what, l.since(p), from)
		n := log.Count(scope)
		if n == 0 && !l.all {
			continue
		}
		came := ""
		if i < counted {
			if n != known || !l.all { // as many since: the same ones
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

// maxTitle is how much of a prompt a list shows, in bytes.
const maxTitle = 300

// oneLine is the beginning of a text, on one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), maxTitle)], "")), " ")
}

// maxSketch is how many lines of a prompt and how many files are shown below the
// list.
const maxSketch = 5

// sketch is what is shown of a prompt below the list: its text, if that has several
// lines, and the files that were changed.
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

// short is the first lines.
func short(lines []string) []string {
	if len(lines) <= maxSketch {
		return lines
	}
	return append(slices.Clone(lines[:maxSketch]), fmt.Sprintf("… %d more", len(lines)-maxSketch))
}

// scope is what was done in this session since an instant.
func (c changes) scope(what undo.Range, since undo.Since, from []string) undo.Scope {
	return undo.Scope{Range: what, Session: c.App.Current().ID(), From: from, Since: since}
}

// maxForks bounds how often a session is the fork of a fork.
const maxForks = 20

// ancestors are the sessions that this one is a fork of. One that was deleted ends
// them.
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

// ago is an age for people; empty for what has no time.
func ago(d time.Duration, at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

package commands

import (
	"context"
	"errors"
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
	of, at := talks{}, -1
	for _, msg := range c.App.Messages() {
		if msg.Role == llm.User {
			at++
		}
		for _, call := range msg.Calls {
			of[call.ID] = at
		}
	}
	var all []prompt
	for i, p := range c.App.Loop.Prompts() {
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
	known, came := -1, ""
	_, all := c.talk()
	from := c.ancestors()
	for i, p := range all {
		scope := c.everything(l.since(p), from)
		n := log.Count(scope)
		if n == 0 && !l.all {
			continue
		}
		switch {
		case i >= counted:
			came = ""
		case n != known || !l.all: // as many since: the same ones
			nets, err := log.Net(ctx, scope)
			if err != nil {
				return nil, err
			}
			known, came = n, summary(nets)
		}
		id := strconv.Itoa(p.N)
		at[id] = p
		pick.Items = append(pick.Items, command.Choice{ID: id, Title: oneLine(p.Text), Detail: joined(ago(time.Since(p.At), p.At), came)})
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

// rewinds are the ways back to a prompt.
type rewinds struct{ changes }

// rewind goes back to the state before a prompt.
func (c rewinds) rewind(ctx context.Context, _ string) (command.Reply, error) {
	pick, err := c.pick(ctx, list{"Go back to before which prompt?", prompt.since, true}, func(ctx context.Context, p prompt) (command.Reply, error) {
		return c.rewindTo(ctx, p, false)
	})
	if err == nil && len(pick.Items) == 0 {
		err = errors.New("there is no prompt to go back to yet")
	}
	return command.Reply{Pick: pick}, err
}

// everything is what this session changed since an instant.
func (c changes) everything(since undo.Since, from []string) undo.Scope {
	return undo.Scope{What: undo.Everything, Session: c.App.Current().ID(), From: from, Since: since}
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

// The ways to go back.
const (
	both      = "both"
	filesOnly = "files"
	chatOnly  = "chat"
	// withOthers asks again, with files that others changed since.
	withOthers = "others"
)

// rewindTo asks what is to go back; with others, files go back that others have
// changed since, too.
func (c rewinds) rewindTo(ctx context.Context, p prompt, others bool) (command.Reply, error) {
	scope := c.everything(p.since(), c.ancestors())
	scope.Others = others
	plan, err := undo.Find(ctx, c.App.Root, scope)
	if err != nil && len(plan.Refused) == 0 && !errors.Is(err, undo.ErrNothing) {
		return command.Reply{}, err
	}
	lost, err := c.App.Root.Lost()
	if err != nil {
		return command.Reply{}, err
	}
	w := wish{
		title: "go back to before that prompt", done: "put back",
		told: "The user took back all changes since an earlier point of the conversation in these files",
	}
	if p.At.Before(lost) {
		w.note = "The journal has the changes since " + lost.Local().Format(time.DateTime) + " only: files that were changed before get what they held then."
	}
	text := ""
	for _, r := range plan.Refused {
		text += r.Name + " cannot go back: " + r.Err.Error() + "\n"
	}
	pick := ways(plan, others)
	pick.Choose = func(ctx context.Context, id string) (command.Reply, error) {
		switch id {
		case withOthers:
			return c.rewindTo(ctx, p, true)
		case chatOnly:
			reply, err := c.rewindChat(p)
			if err == nil {
				c.tell("The user went back to this point of the conversation, and left as they are these files, which were changed after it", Names(plan))
			}
			return reply, err
		}
		return c.rewindFiles(ctx, p, plan, w, id == both)
	}
	return command.Reply{Text: text, Pick: pick}, nil
}

// ways are the ways to go back.
func ways(plan undo.Plan, others bool) *command.Pick {
	pick := &command.Pick{Title: "What goes back?"}
	if len(plan.Changes) > 0 {
		pick.Items = append(pick.Items, command.Choice{ID: both, Title: "Files and conversation", Detail: sum(plan)},
			command.Choice{ID: filesOnly, Title: "The files only", Detail: "the conversation stays"})
	}
	pick.Items = append(pick.Items, command.Choice{ID: chatOnly, Title: "The conversation only", Detail: "the files stay"})
	if len(plan.Refused) > 0 && !others {
		pick.Items = append(pick.Items, command.Choice{ID: withOthers, Title: "Files that others changed since, too", Detail: count(len(plan.Refused), "more file")})
	}
	return pick
}

// rewindFiles takes the files back and, with chat, the conversation.
func (c rewinds) rewindFiles(ctx context.Context, p prompt, plan undo.Plan, w wish, chat bool) (command.Reply, error) {
	done, err := c.restore(ctx, plan, w)
	if err != nil || len(done) == 0 {
		return command.Reply{Text: w.report(nil)}, err
	}
	text := w.report(done) + "\n/redo brings the files back."
	if !chat {
		c.tell(w.told, done)
		return command.Reply{Text: text}, nil
	}
	reply, err := c.rewindChat(p)
	reply.Text = text + "\n" + reply.Text
	return reply, err
}

// rewindChat takes the prompt, and what followed it, out of the conversation. Its
// text is at the prompt again.
func (c rewinds) rewindChat(p prompt) (command.Reply, error) {
	if err := c.App.Loop.Rewind(p.N); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Session: c.App, Text: "The conversation is back before that prompt.", Insert: p.Text}, nil
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

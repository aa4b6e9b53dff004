package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// prompt is one that the session can go back to.
type prompt struct {
	history.Prompt
	since undo.Since // what came of it and of those after it
	alone undo.Since // what came of it alone
}

// prompts lists the session's prompts, the newest first.
func (c changes) prompts() []prompt {
	of := map[string]int{} // the prompt that a call answers
	at := -1
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
		which := func(meant func(at int) bool) func(string) (bool, bool) {
			return func(call string) (after, known bool) {
				at, known := of[call]
				return known && meant(at), known
			}
		}
		all = append(all, prompt{
			Prompt: p,
			since:  undo.Since{After: which(func(at int) bool { return at >= i }), Time: p.At},
			alone:  undo.Since{After: which(func(at int) bool { return at == i })},
		})
	}
	slices.Reverse(all)
	return all
}

// list is how prompts are listed with what they changed.
type list struct {
	title string
	scope func(prompt) undo.Scope
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
	for i, p := range c.prompts() {
		n := log.Count(l.scope(p))
		if n == 0 && !l.all {
			continue
		}
		switch {
		case i >= counted:
			came = ""
		case n != known || !l.all: // as many since: the same ones
			nets, err := log.Net(ctx, l.scope(p))
			if err != nil {
				return nil, err
			}
			known, came = n, summary(nets)
		}
		id := strconv.Itoa(p.N)
		at[id] = p
		pick.Items = append(pick.Items, command.Choice{ID: id, Title: p.Text, Detail: joined(ago(time.Since(p.At), p.At), came)})
	}
	pick.Choose = func(ctx context.Context, id string) (command.Reply, error) { return choose(ctx, at[id]) }
	return pick, nil
}

// rewinds are the ways back to a prompt.
type rewinds struct{ changes }

// rewind goes back to the state before a prompt.
func (c rewinds) rewind(ctx context.Context, _ string) (command.Reply, error) {
	since := func(p prompt) undo.Scope { return c.everything(p.since) }
	pick, err := c.pick(ctx, list{"Go back to before which prompt?", since, true}, func(ctx context.Context, p prompt) (command.Reply, error) {
		return c.rewindTo(ctx, p, false)
	})
	if err == nil && len(pick.Items) == 0 {
		err = errors.New("there is no prompt to go back to yet")
	}
	return command.Reply{Pick: pick}, err
}

func (c changes) everything(since undo.Since) undo.Scope {
	return undo.Scope{What: undo.Everything, Session: c.App.Current().ID(), Since: since}
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
	scope := c.everything(p.since)
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

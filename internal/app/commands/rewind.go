package commands

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// rewinds holds the command that goes back to a prompt.
type rewinds struct{ changes }

// rewind goes back to the state before a prompt.
func (c rewinds) rewind(ctx context.Context, _ string) (command.Reply, error) {
	pick, err := c.pick(ctx, promptList{"Go back to before which prompt?", undo.Rewind, prompt.since, true}, func(ctx context.Context, p prompt) (command.Reply, error) {
		return c.rewindTo(ctx, p, false)
	})
	if err == nil && len(pick.Items) == 0 {
		err = errors.New("there is no prompt to go back to yet")
	}
	return command.Reply{Pick: pick}, err
}

// The ways to go back.
const (
	both      = "both"
	filesOnly = "files"
	chatOnly  = "chat"
	// withOthers asks again and includes files that others changed since.
	withOthers = "others"
)

// rewindTo asks what to restore. If others is set, files that others changed since are
// restored, too.
func (c rewinds) rewindTo(ctx context.Context, p prompt, others bool) (command.Reply, error) {
	scope := c.scope(undo.Rewind, p.since(), c.ancestors())
	scope.Others = others
	plan, err := undo.Find(ctx, c.App.Root, scope)
	if err != nil && len(plan.Refused) == 0 && !errors.Is(err, undo.ErrNothing) {
		return command.Reply{}, err
	}
	plan = c.refuseUnsaved(ctx, plan)
	lost, err := c.App.Root.Lost()
	if err != nil {
		return command.Reply{}, err
	}
	w := action{
		title: "go back to before that prompt", done: "put back",
		note: modelNote{"Rewind", "the user undid all changes since an earlier point of the conversation in these files"},
	}
	if p.At.Before(lost) {
		w.warning = "Undo knows only the changes since " + lost.Local().Format(time.DateTime) + ": files changed before that are restored to their content at that time."
	}
	text := ""
	for _, r := range plan.Refused {
		text += r.Reason("restored").Error() + "\n"
	}
	pick := ways(plan, c.following(p), others)
	pick.Choose = func(ctx context.Context, id string) (command.Reply, error) {
		switch id {
		case withOthers:
			return c.rewindTo(ctx, p, true)
		case chatOnly:
			return c.rewindChat(p, plan, nil)
		}
		return c.rewindFiles(ctx, p, plan, w, id == both)
	}
	return command.Reply{Text: text, Pick: pick}, nil
}

// following returns the prompts from p on.
func (c rewinds) following(p prompt) []string {
	var texts []string
	for _, q := range c.App.Loop.Prompts()[p.at:] {
		texts = append(texts, oneLine(q.Text))
	}
	return texts
}

// ways lists the ways to go back and what each changes: the files of plan, and the
// prompts with their answers.
func ways(plan undo.Plan, prompts []string, others bool) *command.Pick {
	pick := &command.Pick{Title: "What to restore?"}
	chat := plural.Of(len(prompts), "prompt")
	files := func() string {
		var lines []string
		for _, ch := range plan.Changes {
			lines = append(lines, ch.Name+"  "+signed(diff.Count(ch.Text, ch.After)))
		}
		return strings.Join(short(lines), "\n")
	}
	talk := func() string { return "removed, with their answers:\n  " + strings.Join(short(prompts), "\n  ") }
	if len(plan.Changes) > 0 {
		pick.Items = append(pick.Items,
			command.Choice{ID: both, Title: "Files and conversation", Detail: sum(plan) + ", " + chat, Preview: func() string { return files() + "\n" + talk() }},
			command.Choice{ID: filesOnly, Title: "The files only", Detail: sum(plan) + "; the conversation stays", Preview: files})
	}
	pick.Items = append(pick.Items, command.Choice{ID: chatOnly, Title: "The conversation only", Detail: chat + "; the files stay", Preview: talk})
	changed := 0
	for _, r := range plan.Refused {
		if errors.Is(r.Err, workspace.ErrStale) {
			changed++
		}
	}
	if changed > 0 && !others {
		pick.Items = append(pick.Items, command.Choice{ID: withOthers, Title: "Files that others changed since, too", Detail: plural.Of(changed, "more file")})
	}
	return pick
}

// rewindFiles restores the files and, with chat, the conversation.
func (c rewinds) rewindFiles(ctx context.Context, p prompt, plan undo.Plan, w action, chat bool) (command.Reply, error) {
	done, remark, err := c.restore(ctx, plan, w)
	if err != nil || len(done) == 0 {
		return command.Reply{Text: w.summary(nil, remark) + ", and the conversation stays"}, err
	}
	text := w.summary(done, remark) + "\n/redo brings the files back."
	if !chat {
		c.notifyModel(w.note, done)
		return command.Reply{Text: text}, nil
	}
	reply, err := c.rewindChat(p, plan, done)
	reply.Text = text + "\n" + reply.Text
	return reply, err
}

// rewindChat removes the prompt, and everything after it, from the conversation, and
// puts its text back at the prompt. done are the files of plan that were restored.
func (c rewinds) rewindChat(p prompt, plan undo.Plan, done []string) (command.Reply, error) {
	if err := c.App.Loop.Rewind(p.N); err != nil {
		return command.Reply{}, err
	}
	left := slices.DeleteFunc(Names(plan), func(name string) bool { return slices.Contains(done, name) })
	for _, r := range plan.Refused {
		left = append(left, r.Name)
	}
	c.notifyModel(modelNote{"Keep", "the user went back to this point of the conversation, and kept these files, which were changed after it"}, left)
	return command.Reply{Session: c.App, Text: "The conversation is back before that prompt.", Insert: p.Text}, nil
}

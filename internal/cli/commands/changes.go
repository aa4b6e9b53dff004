package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// changes are the commands about what was changed.
type changes struct{ *Set }

func (c changes) list() []command.Command {
	return []command.Command{
		{Name: "diff", Args: "[turn|file]", Help: "what this session changed, or one turn, or in one file", Group: command.Changes, Run: c.diff},
		{Name: "undo", Args: "[turn|file]", Help: "take back the last change, the last turn's, or that of a file", Group: command.Changes, Idle: true, Run: c.undo},
		{Name: "redo", Help: "take back the last undo or rewind", Group: command.Changes, Idle: true, Run: c.redo},
		{Name: "rewind", Help: "go back to a prompt: files, conversation, or both (Esc Esc)", Group: command.Changes, Idle: true, Run: c.rewind},
	}
}

// undo takes back the last change of this session or, with "turn", those of the
// last turn or, with a file, that file's last one.
func (c changes) undo(ctx context.Context, args string) (command.Reply, error) {
	s := undo.Scope{Session: c.App.Current().ID()}
	if err := c.aim(&s, args, undo.LastTurn); err != nil {
		return command.Reply{}, err
	}
	return c.back(ctx, s, restoring{tool: "undo", title: "Take back", done: "undone"})
}

func (c changes) redo(ctx context.Context, args string) (command.Reply, error) {
	if args != "" {
		return command.Reply{}, errors.New("/redo takes back the last undo: it needs nothing more")
	}
	s := undo.Scope{What: undo.LastUndo, Session: c.App.Current().ID()}
	return c.back(ctx, s, restoring{tool: "redo", title: "Bring back", done: "redone"})
}

// aim narrows s to what follows a command.
func (c changes) aim(s *undo.Scope, args string, turn undo.What) error {
	switch args {
	case "":
	case "turn":
		s.What = turn
	default:
		file, _, err := c.App.Root.Resolve(args)
		if err != nil {
			return err
		}
		s.File = file
	}
	return nil
}

// back finds out what is to be restored, and asks.
func (c changes) back(ctx context.Context, s undo.Scope, r restoring) (command.Reply, error) {
	plan, err := undo.Find(ctx, c.App.Root, s)
	if err != nil {
		return command.Reply{}, c.none(err, s)
	}
	r.plan, r.ask = plan, c.App.Asked.Ask
	if len(plan.Changes) == 1 && plan.Err() == nil {
		return r.each(ctx)
	}
	return command.Reply{Text: preview(plan), Pick: r.pick()}, nil
}

// none says what it means that there is no plan.
func (c changes) none(err error, s undo.Scope) error {
	switch {
	case !errors.Is(err, undo.ErrNothing):
		return UndoError(err)
	case s.What == undo.LastUndo:
		return errors.New("there is nothing to redo: nothing was undone, or something was changed since")
	case s.File != "":
		return errors.New("there is nothing to undo in that file: this session has not changed it")
	}
	return errors.New("there is nothing to undo in this session; what others changed in this folder, agent undo takes back")
}

// restoring is a plan, and how it is put to the person.
type restoring struct {
	plan              undo.Plan
	ask               func(context.Context, confirm.Request) (confirm.Verdict, error)
	tool, title, done string
	// after is done when the files are as planned; nil: nothing is.
	after func() (command.Reply, error)
}

// The choices about a plan for several files.
const (
	allFiles  = "all"
	eachFile  = "each"
	wholeDiff = "diff"
)

// pick asks what to do with several files.
func (r restoring) pick() *command.Pick {
	added, removed := 0, 0
	for _, ch := range r.plan.Changes {
		a, d := diff.Count(ch.Text, ch.After)
		added, removed = added+a, removed+d
	}
	all := r.title + " " + count(len(r.plan.Changes), "file")
	if n := len(r.plan.Refused); n > 0 {
		all += fmt.Sprintf(", leave %d", n)
	}
	return &command.Pick{
		Title: r.title + "?",
		Items: []command.Choice{
			{ID: eachFile, Title: "Show each file, and ask"},
			{ID: wholeDiff, Title: "Show the whole diff first"},
			{ID: allFiles, Title: all, Detail: signed(added, removed)},
		},
		Choose: r.choose,
	}
}

func (r restoring) choose(ctx context.Context, id string) (command.Reply, error) {
	switch id {
	case wholeDiff:
		return command.Reply{Page: diffPage(r.title, r.plan.Diff()), Pick: r.pick()}, nil
	case eachFile:
		return r.each(ctx)
	}
	return r.do(ctx, r.plan)
}

// each shows file by file, and the answers are the verdicts: in every mode. What
// is declined stays as it is.
func (r restoring) each(ctx context.Context) (command.Reply, error) {
	yes := map[string]bool{}
	for i, ch := range r.plan.Changes {
		v, err := r.ask(ctx, confirm.Request{
			Tool: r.tool, Change: &ch, Force: true, Batch: confirm.Batch{Index: i, Total: len(r.plan.Changes)},
		})
		if err != nil {
			return command.Reply{}, err
		}
		yes[ch.Path] = v.Decision == confirm.Approve && (v.Text == nil || *v.Text == ch.After)
	}
	return r.do(ctx, r.plan.Only(func(ch workspace.Change) bool { return yes[ch.Path] }))
}

func (r restoring) do(ctx context.Context, plan undo.Plan) (command.Reply, error) {
	if len(plan.Changes) == 0 {
		return command.Reply{Text: "nothing was " + r.done}, nil
	}
	if err := plan.Do(ctx); err != nil {
		return command.Reply{}, err
	}
	reply := command.Reply{}
	if r.after != nil {
		var err error
		if reply, err = r.after(); err != nil {
			return reply, err
		}
	}
	reply.Text = strings.TrimSpace(r.done + ": " + strings.Join(Names(plan), ", ") + "\n" + reply.Text)
	return reply, nil
}

// Names are the files of a plan.
func Names(plan undo.Plan) []string {
	var names []string
	for _, c := range plan.Changes {
		names = append(names, c.Name)
	}
	return names
}

// UndoError says what it means that there is no plan for an undo.
func UndoError(err error) error {
	switch {
	case errors.Is(err, undo.ErrNothing):
		return errors.New("there is nothing to undo in this folder")
	case errors.Is(err, workspace.ErrStale):
		return fmt.Errorf("nothing was undone, as what was changed since would be lost: %w", err)
	}
	return err
}

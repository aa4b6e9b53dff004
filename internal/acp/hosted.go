package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// hosted is a session of a host.
type hosted struct {
	*app.App
	id      string
	notes   []string // for the user
	emit    func(session.Event)
	own     []command.Command // that people wrote
	known   []command.Command // of the program that work without a screen
	builtin []command.Command // see Options.Builtin
	// served has the prompts of the MCP servers.
	served commands.ServerPrompts
	offers atomic.Pointer[offers]
}

// hostedCommands are the program's commands that need neither a screen nor a terminal.
var hostedCommands = []string{"btw", "compact", "context", "init", "redo", "todo", "undo"}

// prepare opens the session that a host asks for. with has the parts that the host provides.
func (a *agent) prepare(ctx context.Context, want sessionParams, with app.Options) (*hosted, error) {
	set, err := a.opt.Setup(ctx, want.Cwd)
	if err != nil {
		return nil, err
	}
	if err := Ready(set.Config); err != nil {
		return nil, err
	}
	set.IDE.Enabled = false // the host is the editor
	o, err := app.Prepare(ctx, set, app.Choice{Dir: want.Cwd, Session: want.SessionID})
	if err != nil {
		return nil, err
	}
	o.Servers, o.Host, o.Commands = with.Servers, with.Host, with.Commands
	o.AddDirs = want.AddDirs
	s, err := a.opt.New(o)
	if err != nil {
		return nil, err
	}
	if want.SessionID != "" && s.Root.Dir() != s.Current().Info().Dir {
		return nil, errors.Join(errors.New("the session belongs to the folder "+s.Current().Info().Dir), s.Close())
	}
	if want.SessionID == "" { // the host may ask a later process for it, before any prompt
		if err := s.Current().Begin(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	own, notes := usercommands.All(set.Home, set.ProjectCommands, set.Skills, a.opt.Builtin)
	h := &hosted{
		App: s, id: s.Current().ID(), own: own, builtin: a.opt.Builtin, served: commands.ServerPrompts{App: s},
		notes: slices.Concat(o.Notes, notes, []string{s.LeftOut()}),
	}
	for _, c := range (&commands.Set{App: s}).List() {
		if slices.Contains(hostedCommands, c.Name) {
			h.known = append(h.known, c)
		}
	}
	return h, nil
}

// offered lists the commands for the host. The first one with a name keeps it.
func (s *hosted) offered() []availableCommand {
	list := []availableCommand{}
	for _, c := range slices.Concat(s.known, s.own, s.served.List()) {
		if slices.ContainsFunc(list, func(have availableCommand) bool { return have.Name == c.Name }) {
			continue
		}
		one := availableCommand{Name: c.Name, Description: sanitize.Line(c.Help)}
		if c.Args != "" {
			one.Input = &commandInput{sanitize.Line(c.Args)}
		}
		list = append(list, one)
	}
	return list
}

// begin connects the session to the host and starts its services.
func (s *hosted) begin(ctx context.Context, face app.Face) {
	s.emit = face.Emit
	s.Attach(face)
	for _, note := range s.notes {
		s.note(note)
	}
	s.Start(ctx)
}

// note shows a line to the user; an empty one is skipped.
func (s *hosted) note(line string) {
	if line != "" {
		s.emit(session.Notice{Text: line})
	}
}

// carryOut answers a prompt or runs a command, and shows the command's output.
func (s *hosted) carryOut(ctx context.Context, prompt string, show func(output string)) error {
	name, args, isCommand := command.Split(prompt)
	if !isCommand {
		return s.Run(ctx, prompt)
	}
	named := func(c command.Command) bool { return c.Name == name }
	if i := slices.IndexFunc(s.known, named); i >= 0 {
		reply, err := s.known[i].Run(ctx, args)
		return errors.Join(err, s.follow(ctx, name, reply, show))
	}
	if slices.ContainsFunc(s.builtin, named) {
		return terminalOnly(prompt)
	}
	if c, ok := s.served.Find(name); ok && !slices.ContainsFunc(s.own, named) {
		reply, err := c.Run(ctx, args)
		return errors.Join(err, s.follow(ctx, name, reply, show))
	}
	text, err := usercommands.InPlace(ctx, prompt, s.own, nil)
	if err != nil {
		return err
	}
	s.Resources.Composed(text, s.Resources.Typed(prompt))
	return s.Run(ctx, text)
}

// follow carries out the reply of a command. The host's user is asked where a terminal shows a
// list.
func (s *hosted) follow(ctx context.Context, name string, reply command.Reply, show func(output string)) error {
	if reply.Text != "" {
		show(reply.Text)
	}
	if reply.Insert != "" {
		show("Copy this text into your prompt, change it and send it:\n\n" + reply.Insert)
	}
	if reply.Pick != nil {
		chosen, err := s.pick(ctx, name, *reply.Pick)
		return errors.Join(err, s.follow(ctx, name, chosen, show))
	}
	if reply.Prompt != "" {
		return s.Run(ctx, reply.Prompt)
	}
	if reply.Session != nil || reply.Diff != "" || reply.Page != nil || reply.Edit != nil || reply.Copy != "" {
		return terminalOnly("this form of /" + name)
	}
	return nil
}

// terminalOnly returns the error of a command that a host cannot carry out.
func terminalOnly(what string) error {
	return fmt.Errorf("%s works in a terminal only: continue this session there with agent -c", what)
}

// pick asks the host's user to choose. No choice is no reply.
func (s *hosted) pick(ctx context.Context, name string, p command.Pick) (command.Reply, error) {
	q := confirm.Choice{Text: p.Title}
	for i, item := range p.Items {
		option := strings.Join(append([]string{item.Title}, item.Cells...), " · ")
		if slices.Contains(q.Options, option) { // the answer is the text
			option += fmt.Sprintf(" (%d)", i+1)
		}
		q.Options = append(q.Options, option)
	}
	v, err := s.Questions.AskPerson(ctx, confirm.Request{Tool: "/" + name, Subject: &q})
	if err != nil {
		return command.Reply{}, err
	}
	i := slices.Index(q.Options, v.Answer)
	if i < 0 || v.Decision != confirm.Approve {
		return command.Reply{Text: "Nothing was chosen."}, nil
	}
	return p.Choose(ctx, p.Items[i].ID)
}

// efforts lists the efforts to choose from, with the one in use.
func (s *hosted) efforts() []string {
	if s.Info().NoEffort {
		return nil
	}
	all := app.UsualEfforts()
	if now := s.Effort(); now != "" && !slices.Contains(all, now) {
		all = append(all, now)
	}
	return all
}

func (s *hosted) think(name string) error {
	effort, err := app.ParseEffort(name)
	if err != nil {
		return err
	}
	return s.SetEffort(effort)
}

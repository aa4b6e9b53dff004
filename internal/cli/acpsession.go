package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/acp"
	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/session"
)

// hostedSession is a session of a host.
type hostedSession struct {
	*app.App
	notes []string // for the user
	face  app.Face
	own   []command.Command // that people wrote
	known []command.Command // of the program that work without a screen
	// served has the prompts of the MCP servers.
	served commands.ServerPrompts
}

// hostedCommands are the program's commands that need neither a screen nor a terminal.
var hostedCommands = []string{"compact", "context", "init", "redo", "todo", "undo"}

func (h *hostedSession) session(ctx context.Context) *acp.Session {
	for _, c := range (&commands.Set{App: h.App}).List() {
		if slices.Contains(hostedCommands, c.Name) {
			h.known = append(h.known, c)
		}
	}
	h.served.App = h.App
	return &acp.Session{
		ID: h.Current().ID(), Dir: h.Root.Dir(),
		Attach: func(emit func(session.Event), r confirm.Reviewer, offered func()) {
			h.attach(ctx, app.Face{Emit: emit, Reviewer: r, Offered: offered})
		},
		Run: h.run, Attached: h.Images.Add, Composed: h.Resources.Composed, Items: h.Items, Describe: h.Loop.Describe,
		Title: func() string { return h.Current().Info().Title }, Commands: h.offered,
		Mode: h.Policy.Mode, SetMode: h.Policy.SetMode, Close: h.Close,
		Models: acp.Models{
			Name: func() string { return h.Info().Name }, List: h.models, Use: h.useModel,
			Effort: func() string { return cmp.Or(h.Effort(), app.DefaultEffort) }, Efforts: h.efforts, Think: h.think,
		},
	}
}

// offered lists the commands for the host. The first one with a name keeps it.
func (h *hostedSession) offered() (list []acp.Command) {
	for _, c := range slices.Concat(h.known, h.own, h.served.List()) {
		if !slices.ContainsFunc(list, func(have acp.Command) bool { return have.Name == c.Name }) {
			list = append(list, acp.Command{Name: c.Name, Args: c.Args, Help: c.Help})
		}
	}
	return list
}

func (h *hostedSession) attach(ctx context.Context, face app.Face) {
	h.face = face
	h.Attach(face)
	for _, note := range h.notes {
		h.note(note)
	}
	h.Start(ctx)
}

// note shows a line to the user; an empty one is skipped.
func (h *hostedSession) note(line string) {
	if line != "" {
		h.face.Emit(session.Notice{Text: line})
	}
}

// run answers a prompt or runs a command, and shows the command's output.
func (h *hostedSession) run(ctx context.Context, prompt string, show func(output string)) error {
	name, args, isCommand := command.Split(prompt)
	if !isCommand {
		return h.Run(ctx, prompt)
	}
	named := func(c command.Command) bool { return c.Name == name }
	if i := slices.IndexFunc(h.known, named); i >= 0 {
		reply, err := h.known[i].Run(ctx, args)
		return errors.Join(err, h.follow(ctx, name, reply, show))
	}
	if slices.ContainsFunc(builtin(), named) {
		return terminalOnly(prompt)
	}
	if c, ok := h.served.Find(name); ok && !slices.ContainsFunc(h.own, named) {
		reply, err := c.Run(ctx, args)
		return errors.Join(err, h.follow(ctx, name, reply, show))
	}
	text, err := usercommands.InPlace(ctx, prompt, h.own, nil)
	if err != nil {
		return err
	}
	h.Resources.Composed(text, h.Resources.Typed(prompt))
	return h.Run(ctx, text)
}

// follow carries out the reply of a command. The host's user is asked where a terminal shows a
// list.
func (h *hostedSession) follow(ctx context.Context, name string, reply command.Reply, show func(output string)) error {
	if reply.Text != "" {
		show(reply.Text)
	}
	if reply.Insert != "" {
		show("Copy this text into your prompt, change it and send it:\n\n" + reply.Insert)
	}
	if reply.Pick != nil {
		chosen, err := h.pick(ctx, name, *reply.Pick)
		return errors.Join(err, h.follow(ctx, name, chosen, show))
	}
	if reply.Prompt != "" {
		return h.Run(ctx, reply.Prompt)
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
func (h *hostedSession) pick(ctx context.Context, name string, p command.Pick) (command.Reply, error) {
	q := confirm.Choice{Text: p.Title}
	for i, item := range p.Items {
		option := strings.Join(append([]string{item.Title}, item.Cells...), " · ")
		if slices.Contains(q.Options, option) { // the answer is the text
			option += fmt.Sprintf(" (%d)", i+1)
		}
		q.Options = append(q.Options, option)
	}
	v, err := h.Questions.AskPerson(ctx, confirm.Request{Tool: "/" + name, Subject: &q})
	if err != nil {
		return command.Reply{}, err
	}
	i := slices.Index(q.Options, v.Answer)
	if i < 0 || v.Decision != confirm.Approve {
		return command.Reply{Text: "Nothing was chosen."}, nil
	}
	return p.Choose(ctx, p.Items[i].ID)
}

// models lists the provider's models.
func (h *hostedSession) models(ctx context.Context) ([]acp.Model, error) {
	offers, err := h.Models(ctx)
	var all []acp.Model
	for _, o := range offers {
		all = append(all, acp.Model{Name: o.Ref, Detail: o.Detail})
	}
	return all, err
}

func (h *hostedSession) useModel(ctx context.Context, name string) error {
	notes, err := h.SetModel(ctx, name)
	for _, note := range notes {
		h.note(note)
	}
	return err
}

// efforts lists the efforts to choose from, with the one in use.
func (h *hostedSession) efforts() []string {
	if h.Info().NoEffort {
		return nil
	}
	all := app.UsualEfforts()
	if now := h.Effort(); now != "" && !slices.Contains(all, now) {
		all = append(all, now)
	}
	return all
}

func (h *hostedSession) think(name string) error {
	effort, err := app.ParseEffort(name)
	if err != nil {
		return err
	}
	return h.SetEffort(effort)
}

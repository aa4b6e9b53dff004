package repl

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// command is a slash command. idle ones wait for the end of a turn.
type command struct {
	name, args, help string
	idle             bool
	run              func(m *model, args string) tea.Cmd
}

// done is the outcome of a command that ran beside the prompt.
type done struct {
	text  string
	err   error
	sess  Session // replaces the session, if not nil
	clear bool
}

// choices opens a picker.
type choices struct {
	title  string
	items  []Choice
	choose func(id string) tea.Cmd
	err    error
}

// commands returns the commands that can be served, in the order of the help.
func (m *model) commands() []command {
	a := &m.ui.opt.Actions
	all := []struct {
		command
		ok bool
	}{
		{command{"help", "", "keys and commands", false, (*model).help}, true},
		{command{"ide", "[connect|disconnect|status]", "the link to your editor", false, text1(a.IDE)}, a.IDE != nil},
		{command{"model", "[name]", "show or change the model", true, (*model).pickModel}, a.SetModel != nil},
		{command{"permissions", "[mode]", "show or change the permission mode", false, (*model).permissions}, m.ui.opt.Modes != nil},
		{command{"diff", "", "what this session changed", false, text(a.Diff)}, a.Diff != nil},
		{command{"undo", "[turn]", "take back the last change, or the last turn's", true, (*model).undo}, a.Undo != nil},
		{command{"context", "", "what the model is told", false, text(a.Context)}, a.Context != nil},
		{command{"sessions", "", "list the sessions of this folder", false, (*model).listSessions}, a.Sessions != nil},
		{command{"resume", "[id]", "go on with another session", true, (*model).resume}, a.Resume != nil},
		{command{"clear", "", "begin a new session", true, (*model).clear}, a.Clear != nil},
		{command{"cost", "", "tokens and money so far", false, (*model).cost}, true},
		{command{"config", "", "the settings in force", false, quick(a.Config)}, a.Config != nil},
		{command{"init", "", "let the model write an AGENTS.md", true, (*model).initProject}, true},
		{command{"export", "[file]", "write the conversation as Markdown", false, (*model).export}, a.Export != nil},
		{command{"quit", "", "leave", false, func(*model, string) tea.Cmd { return tea.Quit }}, true},
	}
	var out []command
	for _, c := range all {
		if c.ok {
			out = append(out, c.command)
		}
	}
	return out
}

// isCommand tells a command from a prompt that begins with a path ("/etc/hosts").
func (m *model) isCommand(text string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	return !strings.ContainsAny(name, "/.\n")
}

// command runs a line that begins with a slash.
func (m *model) command(line string) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	for _, c := range m.commands() {
		if c.name != name {
			continue
		}
		if c.idle && m.turn.running {
			m.hint = "/" + name + " has to wait until the model is done (Esc stops it)"
			return nil
		}
		m.printPrompt(line)
		return c.run(m, strings.TrimSpace(args))
	}
	m.hint = "There is no /" + sanitize.Line(name) + "; /help lists the commands."
	return nil
}

// aside runs f beside the prompt, with a context that ends with the program.
func (m *model) aside(f func(ctx context.Context) done) tea.Cmd {
	out := make(chan done, 1)
	m.spawn(func(ctx context.Context) { out <- f(ctx) })
	return func() tea.Msg { return <-out }
}

// text, text1 and quick make commands of actions that answer with text.
func text(f func(context.Context) (string, error)) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		return m.aside(func(ctx context.Context) done { return outcome(f(ctx)) })
	}
}

func text1(f func(context.Context, string) (string, error)) func(*model, string) tea.Cmd {
	return func(m *model, args string) tea.Cmd {
		return m.aside(func(ctx context.Context) done { return outcome(f(ctx, args)) })
	}
}

func quick(f func() (string, error)) func(*model, string) tea.Cmd {
	return text(func(context.Context) (string, error) { return f() })
}

func outcome(text string, err error) done { return done{text: text, err: err} }

// commandDone shows what a command came to.
func (m *model) commandDone(d done) tea.Cmd {
	if d.err != nil {
		m.problem(d.err)
		return nil
	}
	if d.sess != nil {
		m.sess = d.sess
		m.turn.total, m.turn.context = zeroUsage, 0
		m.printHistory()
	}
	if d.text != "" {
		m.plain(d.text)
	}
	return nil
}

// plain shows the text of a command.
func (m *model) plain(text string) {
	m.scr.Print("")
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		m.scr.Print(wrap(strings.ReplaceAll(sanitize.Text(l), "\t", "    "), "  ", m.look.width)...)
	}
}

func (m *model) help(string) tea.Cmd {
	var b strings.Builder
	for _, c := range m.commands() {
		fmt.Fprintf(&b, "%-44s %s\n", strings.TrimSpace("/"+c.name+" "+c.args), c.help)
	}
	b.WriteString("\nEnter sends · Alt+Enter, Ctrl+J or \\ Enter: a new line · @ names a file · ↑ ↓ history, Ctrl+R searches it\n")
	b.WriteString("Esc stops the model · Shift+Tab changes the permission mode · Ctrl+C twice or Ctrl+D quits\n")
	m.plain(b.String())
	return nil
}

func (m *model) undo(args string) tea.Cmd {
	if args != "" && args != "turn" {
		m.hint = "/undo takes back the last change, /undo turn those of the last turn"
		return nil
	}
	undo := m.ui.opt.Actions.Undo
	return m.aside(func(ctx context.Context) done { return outcome(undo(ctx, args == "turn")) })
}

func (m *model) permissions(args string) tea.Cmd {
	modes := m.ui.opt.Modes
	if args != "" {
		if err := modes.Set(args); err != nil {
			m.problem(err)
			return nil
		}
	}
	m.plain(modes.Current() + " mode\n\n" +
		"default       edits and commands ask\n" +
		"accept-edits  edits are written without asking; commands ask\n" +
		"plan          nothing is written or run\n" +
		"bypass        nothing asks\n")
	return nil
}

func (m *model) pickModel(args string) tea.Cmd {
	a := &m.ui.opt.Actions
	set := func(name string) tea.Cmd {
		return m.aside(func(context.Context) done { return outcome("Model: "+name, a.SetModel(name)) })
	}
	if args != "" || a.Models == nil {
		return set(args)
	}
	return m.choose("model", a.Models, set)
}

func (m *model) resume(args string) tea.Cmd {
	a := &m.ui.opt.Actions
	to := func(id string) tea.Cmd {
		return m.aside(func(ctx context.Context) done {
			sess, err := a.Resume(ctx, id)
			return done{sess: sess, err: err}
		})
	}
	if args != "" {
		return to(args)
	}
	return m.choose("session", func(context.Context) ([]Choice, error) { return a.Sessions() }, to)
}

// choose fetches the choices beside the prompt and opens a picker.
func (m *model) choose(title string, list func(context.Context) ([]Choice, error), then func(id string) tea.Cmd) tea.Cmd {
	out := make(chan choices, 1)
	m.spawn(func(ctx context.Context) {
		items, err := list(ctx)
		out <- choices{title: title, items: items, choose: then, err: err}
	})
	return func() tea.Msg { return <-out }
}

// open opens a picker over the choices.
func (m *model) open(c choices) {
	switch {
	case c.err != nil:
		m.problem(c.err)
		return
	case len(c.items) == 0:
		m.notice("There is no " + c.title + " to choose.")
		return
	}
	items := make([]picker.Item, len(c.items))
	for i, it := range c.items {
		items[i] = picker.Item{Title: sanitize.Line(it.Title), Detail: sanitize.Line(it.Detail)}
	}
	opt := picker.Options{Title: "Choose a " + c.title, Dark: m.look.dark, NoColor: m.look.noColor}
	m.pick = &chooser{Picker: picker.New(items, opt), choose: func(i int) tea.Cmd { return c.choose(c.items[i].ID) }}
}

func (m *model) listSessions(string) tea.Cmd {
	list := m.ui.opt.Actions.Sessions
	return m.aside(func(context.Context) done {
		items, err := list()
		var b strings.Builder
		for _, it := range items {
			fmt.Fprintf(&b, "%s  %s  %s\n", it.ID, it.Detail, it.Title)
		}
		if len(items) == 0 {
			b.WriteString("There are no sessions of this folder yet.")
		}
		return outcome(b.String(), err)
	})
}

func (m *model) clear(string) tea.Cmd {
	clear := m.ui.opt.Actions.Clear
	return m.aside(func(context.Context) done {
		sess, err := clear()
		return done{sess: sess, err: err, text: "A new session. The old one is kept; /resume goes back to it."}
	})
}

func (m *model) cost(string) tea.Cmd {
	u := m.turn.total
	s := fmt.Sprintf("%s tokens in (%s cached), %s out", count(u.Input), count(u.Cached), count(u.Output))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	if u.Estimated {
		s += " (estimated: the provider reports no usage)"
	}
	m.plain(s)
	return nil
}

func (m *model) export(args string) tea.Cmd {
	f := m.ui.opt.Actions.Export
	return m.aside(func(context.Context) done { return outcome(f(args)) })
}

func (m *model) initProject(string) tea.Cmd {
	return m.start("Read this project and write an AGENTS.md at its root: what it is, how to build and test it, " +
		"its layout and its conventions, in at most 60 lines. If there is one already, improve it.")
}

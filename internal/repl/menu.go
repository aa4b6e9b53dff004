package repl

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// menu is the slash commands.
type menu struct {
	opt   *Options
	out   *printer
	turn  *turns
	spawn spawner
	pick  *chooser // nil if none is open
	list  []command
}

// command is a slash command. idle ones wait for the end of a turn.
type command struct {
	name, args, help string
	idle             bool
	run              func(args string) tea.Cmd
}

// done is the outcome of a command that ran beside the prompt.
type done struct {
	text string
	diff bool // text is a unified diff
	err  error
	sess Session // replaces the session, if not nil
}

// newMenu returns the commands that can be served, in the order of the help.
func newMenu(opt *Options, out *printer, turn *turns, spawn spawner) *menu {
	m := &menu{opt: opt, out: out, turn: turn, spawn: spawn}
	a := &opt.Actions
	add := func(ok bool, c command) {
		if ok {
			m.list = append(m.list, c)
		}
	}
	add(true, command{"help", "", "keys and commands", false, m.help})
	add(a.IDE != nil, command{"ide", "[connect|disconnect|status]", "the link to your editor", false, ide(m)})
	add(a.SetModel != nil, command{"model", "[name]", "show or change the model", true, m.model})
	add(opt.Modes != nil, command{"permissions", "[mode]", "show or change the permission mode", false, m.permissions})
	add(a.Diff != nil, command{"diff", "", "what this session changed", false, m.diff})
	add(a.Undo != nil, command{"undo", "[turn]", "take back the last change, or the last turn's", true, m.aside(a.Undo)})
	add(a.Context != nil, command{"context", "", "what the model is told", false, m.aside(a.Context)})
	add(a.Sessions != nil, command{"sessions", "", "list the sessions of this folder", false, m.aside(m.sessions)})
	add(a.Resume != nil, command{"resume", "[id]", "go on with another session", true, m.resume})
	add(a.Clear != nil, command{"clear", "", "begin a new session", true, m.renew})
	add(true, command{"cost", "", "tokens and money so far", false, m.cost})
	add(a.Config != nil, command{"config", "", "the settings in force", false, m.aside(a.Config)})
	add(true, command{"init", "", "let the model write an AGENTS.md", true, func(string) tea.Cmd { return turn.start(initPrompt) }})
	add(a.Export != nil, command{"export", "[file]", "write the conversation as Markdown", false, m.aside(a.Export)})
	add(true, command{"quit", "", "leave", false, func(string) tea.Cmd { return tea.Quit }})
	return m
}

// palette lists the commands for completion.
func (m *menu) palette() []input.Command {
	out := make([]input.Command, len(m.list))
	for i, c := range m.list {
		out[i] = input.Command{Name: "/" + c.name, Args: c.args, Help: c.help}
	}
	return out
}

// isCommand tells a command from a prompt, which may begin with a path
// ("/etc/hosts").
func isCommand(text string) bool {
	name, slash := strings.CutPrefix(text, "/")
	name, _, _ = strings.Cut(name, " ")
	return slash && !strings.ContainsAny(name, "/.\n")
}

// run runs a line that begins with a slash; the hint says why not.
func (m *menu) run(line string) (cmd tea.Cmd, hint string) {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	for _, c := range m.list {
		switch {
		case c.name != name:
			continue
		case c.idle && m.turn.running:
			return nil, "/" + name + " has to wait until the model is done (Esc stops it)"
		}
		m.out.prompt(line)
		return c.run(strings.TrimSpace(args)), ""
	}
	return nil, "There is no /" + sanitize.Line(name) + "; /help lists the commands."
}

// aside makes a command of an action that answers with text.
func (m *menu) aside(f func(ctx context.Context, args string) (string, error)) func(string) tea.Cmd {
	return func(args string) tea.Cmd {
		return m.start(func(ctx context.Context) tea.Msg {
			text, err := f(ctx, args)
			return done{text: text, err: err}
		})
	}
}

// diff shows what the session changed.
func (m *menu) diff(args string) tea.Cmd {
	return m.start(func(ctx context.Context) tea.Msg {
		text, err := m.opt.Actions.Diff(ctx, args)
		return done{text: text, diff: strings.HasPrefix(text, "diff "), err: err}
	})
}

// start runs f beside the prompt.
func (m *menu) start(f func(ctx context.Context) tea.Msg) tea.Cmd {
	out := make(chan tea.Msg, 1)
	m.spawn(func(ctx context.Context) { out <- f(ctx) })
	return func() tea.Msg { return <-out }
}

func (m *menu) help(string) tea.Cmd {
	var b strings.Builder
	for _, c := range m.list {
		fmt.Fprintf(&b, "%-34s %s\n", strings.TrimSpace("/"+c.name+" "+c.args), c.help)
	}
	b.WriteString("\nEnter sends · Alt+Enter, Ctrl+J or \\ Enter: a new line · @ names a file · ↑ ↓ history, Ctrl+R searches it\n")
	b.WriteString("Esc stops the model · Shift+Tab changes the permission mode · Ctrl+C twice or Ctrl+D quits\n")
	m.out.plain(b.String())
	return nil
}

func (m *menu) permissions(args string) tea.Cmd {
	if args != "" {
		if err := m.opt.Modes.Set(args); err != nil {
			m.out.problem(err)
			return nil
		}
	}
	m.out.plain(m.opt.Modes.Current() + " mode\n\n" +
		"default       edits and commands ask\n" +
		"accept-edits  edits are written without asking; commands ask\n" +
		"plan          nothing is written or run\n" +
		"bypass        nothing asks (only with --permission-mode bypass)\n")
	return nil
}

func (m *menu) cost(string) tea.Cmd {
	u := m.turn.total
	s := fmt.Sprintf("%s tokens in (%s cached), %s out", theme.Count(u.Input), theme.Count(u.Cached), theme.Count(u.Output))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	if u.Estimated {
		s += " (estimated: the provider reports no usage)"
	}
	m.out.plain(s)
	return nil
}

// initPrompt is what /init asks of the model.
const initPrompt = "Read this project and write an AGENTS.md at its root: what it is, how to build and test it, " +
	"its layout and its conventions, in at most 60 lines. If there is one already, improve it."

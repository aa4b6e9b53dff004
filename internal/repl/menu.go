package repl

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// menu is the slash commands.
type menu struct {
	opt   *Options
	out   *printer.Printer
	floor *floor
	list  []command.Command
	own   map[string]func() tea.Cmd // those of the screen, by name
	pick  *chooser                  // nil if none is open
	// preview shows a theme while it is chosen; that in force, if it is empty.
	preview func(theme string)
}

// done is the outcome of a command that ran beside the prompt.
type done struct {
	job   *job
	reply command.Reply
	err   error
}

// slowAfter is when a command that holds the session is worth a line.
const slowAfter = 300 * time.Millisecond

// overdue is due when a command may be slow.
type overdue struct{ job *job }

// chooser is a picker and what its choice does.
type chooser struct {
	*picker.Picker
	pick command.Pick
	job  *job
}

// OwnCommands returns the commands of the screen itself, for their names.
func OwnCommands() []command.Command {
	return []command.Command{
		{Name: "help", Help: "commands, and the keys most used", Group: command.Program},
		{Name: "keys", Help: "all keys, with the names of what they do", Group: command.Program},
		{Name: "cost", Help: "tokens and money so far", Group: command.Model},
		{Name: "quit", Help: "leave", Group: command.Program},
	}
}

// newMenu returns the commands of the screen and those of opt.
func newMenu(opt *Options, out *printer.Printer, floor *floor) *menu {
	m := &menu{opt: opt, out: out, floor: floor}
	m.list = command.Sort(append(OwnCommands(), opt.Commands...))
	m.own = map[string]func() tea.Cmd{
		"help": m.help, "keys": m.keys, "cost": m.cost, "quit": func() tea.Cmd { return tea.Quit },
	}
	return m
}

// palette lists the commands for completion.
func (m *menu) palette() []input.Command {
	out := make([]input.Command, len(m.list))
	for i, c := range m.list {
		out[i] = input.Command{Name: "/" + c.Name, Args: c.Args, Help: c.Help}
	}
	return out
}

// run runs a command; the hint says why not.
func (m *menu) run(line, name, args string) (cmd tea.Cmd, hint string) {
	for _, c := range m.list {
		switch {
		case c.Name != name:
			continue
		case c.Idle && !m.floor.free():
			m.floor.queue.Add(line, true)
			return nil, ""
		}
		m.out.Prompt(line)
		if own := m.own[name]; own != nil {
			return own(), ""
		}
		j := &job{name: name}
		if c.Idle {
			m.floor.held = j
		}
		return m.start(j, func(ctx context.Context) (command.Reply, error) { return c.Run(ctx, args) }), ""
	}
	return nil, m.unknown(name)
}

// unknown says that there is no such command, and which one may be meant.
func (m *menu) unknown(name string) string {
	names := make([]string, len(m.list))
	for i, c := range m.list {
		names[i] = c.Name
	}
	said := "There is no /" + sanitize.Line(name)
	if near := nearest.Name(name, names); near != "" {
		return said + "; did you mean /" + near + "?"
	}
	return said + "; /help lists the commands."
}

// start runs f, a step of j, beside the prompt.
func (m *menu) start(j *job, f func(ctx context.Context) (command.Reply, error)) tea.Cmd {
	out := make(chan tea.Msg, 1)
	j.stop = m.floor.turn.spawn(func(ctx context.Context) {
		reply, err := f(ctx)
		out <- done{j, reply, err}
	})
	outcome := func() tea.Msg { return <-out }
	if m.floor.held != j {
		return outcome
	}
	return tea.Batch(outcome, tea.Tick(slowAfter, func(time.Time) tea.Msg { return overdue{j} }))
}

// open opens a picker, in the place of one that is open. The command that opened
// that one comes to nothing.
func (m *menu) open(p command.Pick, j *job) tea.Cmd {
	cmd := m.shut()
	items := make([]picker.Item, len(p.Items))
	for i, it := range p.Items {
		items[i] = picker.Item{Title: it.Title, Detail: it.Detail, Cells: it.Cells, Preview: it.Preview}
	}
	look := m.out.Look
	opt := picker.Options{Title: p.Title, NoColor: look.NoColor, Rename: m.opt.Terminal.Keys.Rename(keys.List)}
	m.pick = &chooser{Picker: picker.New(items, opt), pick: p, job: j}
	if p.Texts == nil {
		return cmd
	}
	out, pick := make(chan tea.Msg, 1), m.pick
	m.floor.turn.spawn(func(ctx context.Context) { out <- indexed{pick, p.Texts(ctx)} })
	return tea.Batch(cmd, func() tea.Msg { return <-out })
}

// indexed is what the filter of a picker is to look into.
type indexed struct {
	pick  *chooser
	texts []string
}

// tell hands it over; the picker may be gone.
func (i indexed) tell(*model) tea.Cmd {
	i.pick.Index(i.texts)
	return nil
}

// shut closes the picker, if one is open; its command comes to nothing.
func (m *menu) shut() tea.Cmd {
	if m.pick == nil {
		return nil
	}
	j := m.pick.job
	m.pick = nil
	m.preview("")
	return func() tea.Msg { return done{job: j} }
}

// key handles a key while a picker is open.
func (m *menu) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	if m.pick == nil {
		return nil, false
	}
	key = m.opt.Terminal.Keys.In(keys.List, key)
	switch m.pick.Press(key.String(), key.Text) {
	case picker.Chosen:
		if i, ok := m.pick.Selected(); ok {
			p, j := m.pick.pick, m.pick.job
			m.pick = nil
			return m.start(j, func(ctx context.Context) (command.Reply, error) { return p.Choose(ctx, p.Items[i].ID) }), true
		}
	case picker.Cancelled:
		return m.shut(), true
	case picker.Open, picker.Ignored:
		if i, ok := m.pick.Selected(); ok && m.pick.pick.Items[i].Theme != "" {
			m.preview(m.pick.pick.Items[i].Theme)
		}
	}
	return nil, true
}

func (m *menu) help() tea.Cmd {
	m.out.Text(command.Help(m.list, m.out.Look.Width-2) + "\n" + strings.Join(m.opt.Terminal.Keys.Brief(m.out.Look.Width-2), "\n") +
		"\n\n@ names a file, ! runs a command line; a line that ends in \\ goes on; /keys lists all keys.\n")
	return nil
}

func (m *menu) keys() tea.Cmd {
	lines := m.opt.Terminal.Keys.Text(m.out.Look.Width)
	page := pager.Page{Title: "All keys", Doc: pager.Text(strings.Join(lines, "\n"))}
	return func() tea.Msg { return paged{page} }
}

func (m *menu) cost() tea.Cmd {
	m.out.Text(command.Cost(m.floor.turn.total))
	return nil
}

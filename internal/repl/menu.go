package repl

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// menu runs slash commands.
type menu struct {
	opt   *Options
	out   *printer.Printer
	sched *scheduler
	list  []command.Command
	own   map[string]func() tea.Cmd // those of the screen, by name
	pick  *chooser                  // nil if none is open
	// preview shows a theme while it is selected, or the present one if theme is empty.
	preview func(theme string)
}

// doneMsg is the result of a command that ran in the background.
type doneMsg struct {
	job   *job
	reply command.Reply
	err   error
}

// slowAfter is the time after which a command that holds the session is mentioned.
const slowAfter = 300 * time.Millisecond

// slowMsg arrives when a command may be slow.
type slowMsg struct{ job *job }

// chooser is a picker and the effect of its choice.
type chooser struct {
	*picker.Picker
	pick command.Pick
	job  *job
}

// OwnCommands returns the commands of the screen itself.
func OwnCommands() []command.Command {
	return []command.Command{
		{Name: "help", Help: "show the commands and the main keys", Group: command.Program},
		{Name: "keys", Help: "show all keys and their actions", Group: command.Program},
		{Name: "cost", Help: "show the tokens and cost so far", Group: command.Model},
		{Name: "quit", Help: "exit", Group: command.Program},
	}
}

// newMenu returns a menu of the screen's own commands and those of opt.
func newMenu(opt *Options, out *printer.Printer, sched *scheduler) *menu {
	m := &menu{opt: opt, out: out, sched: sched}
	m.list = command.Sort(append(OwnCommands(), opt.Commands...))
	m.own = map[string]func() tea.Cmd{
		"help": m.help, "keys": m.keys, "cost": m.cost,
	}
	return m
}

// all returns the commands, with those that come and go.
func (m *menu) all() []command.Command { return command.All(m.list, m.opt.Served) }

// palette returns the commands for completion.
func (m *menu) palette() []input.Command {
	list := m.all()
	out := make([]input.Command, len(list))
	for i, c := range list {
		out[i] = input.Command{Name: "/" + c.Name, Args: c.Args, Help: c.Help}
	}
	return out
}

// run runs a command, or returns a hint about why it cannot.
func (m *menu) run(line, name, args string) (cmd tea.Cmd, hint string) {
	c, ok := m.find(name)
	switch {
	case !ok:
		return nil, m.unknown(name)
	case c.Idle && !m.sched.free():
		m.sched.queue.add(line, true)
		return nil, ""
	}
	m.out.Prompt(line)
	if own := m.own[name]; own != nil {
		return own(), ""
	}
	j := &job{name: name}
	switch {
	case c.Idle:
		m.sched.command = j
	case c.Slow:
		m.sched.beside = append(m.sched.beside, j)
	}
	return m.start(j, func(ctx context.Context) (command.Reply, error) { return c.Run(ctx, args) }), ""
}

// find returns the command with a name.
func (m *menu) find(name string) (c command.Command, ok bool) {
	for _, c := range m.list {
		if c.Name == name {
			return c, true
		}
	}
	if m.opt.Served == nil {
		return c, false
	}
	return m.opt.Served.Find(name)
}

// unknown reports an unknown command and suggests a similar one.
func (m *menu) unknown(name string) string {
	var names []string
	for _, c := range m.all() {
		names = append(names, c.Name)
	}
	text := "There is no /" + sanitize.Line(name)
	if near := nearest.Name(name, names); near != "" {
		return text + "; did you mean /" + near + "?"
	}
	return text + "; /help lists the commands."
}

// start runs f, a step of j, in the background.
func (m *menu) start(j *job, f func(ctx context.Context) (command.Reply, error)) tea.Cmd {
	out := make(chan tea.Msg, 1)
	j.stop = m.sched.turn.spawn(func(ctx context.Context) {
		reply, err := f(ctx)
		out <- doneMsg{j, reply, err}
	})
	outcome := func() tea.Msg { return <-out }
	if m.sched.command != j {
		return outcome
	}
	return tea.Batch(outcome, tea.Tick(slowAfter, func(time.Time) tea.Msg { return slowMsg{j} }))
}

// open opens a picker and replaces an open one, whose command ends.
func (m *menu) open(p command.Pick, j *job) tea.Cmd {
	cmd := m.shut()
	items := make([]picker.Item, len(p.Items))
	for i, it := range p.Items {
		items[i] = picker.Item{Title: it.Title, Detail: it.Detail, Cells: it.Cells, Preview: it.Preview}
	}
	look := m.out.Look
	opt := picker.Options{Title: p.Title, NoColor: look.NoColor, Keys: m.opt.Terminal.Keys}
	m.pick = &chooser{Picker: picker.New(items, opt), pick: p, job: j}
	if p.Texts == nil {
		return cmd
	}
	out, pick := make(chan tea.Msg, 1), m.pick
	m.sched.turn.spawn(func(ctx context.Context) { out <- indexMsg{pick, p.Texts(ctx)} })
	return tea.Batch(cmd, func() tea.Msg { return <-out })
}

// indexMsg is additional text for the filter of a picker.
type indexMsg struct {
	pick  *chooser
	texts []string
}

// shut closes an open picker and ends its command.
func (m *menu) shut() tea.Cmd {
	if m.pick == nil {
		return nil
	}
	j := m.pick.job
	m.pick = nil
	m.preview("")
	return func() tea.Msg { return doneMsg{job: j} }
}

// key handles a key while a picker is open.
func (m *menu) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	if m.pick == nil {
		return nil, false
	}
	switch m.pick.Press(key) {
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
	m.out.Text(command.Help(m.all(), m.out.Look.Width-2) + "\n" + strings.Join(m.opt.Terminal.Keys.Brief(m.out.Look.Width-2), "\n") +
		"\n\n@ attaches a file, ! runs a command line; a trailing \\ continues the line; /keys lists all keys.\n")
	return nil
}

func (m *menu) keys() tea.Cmd {
	var lines []string
	for place, rows := range m.opt.Terminal.Keys.All() {
		lines = append(append(append(lines, string(place)), theme.Columns(rows, "  ", m.out.Look.Width)...), "")
	}
	page := pager.Page{Title: "All keys", Doc: pager.Text(strings.Join(lines, "\n"))}
	return func() tea.Msg { return pageMsg{page} }
}

func (m *menu) cost() tea.Cmd {
	spent := m.sched.turn.spent
	spent.Total = m.sched.turn.total
	if m.opt.Today != nil {
		spent.Today, spent.Limit = m.opt.Today()
	}
	m.out.Text(command.Cost(spent, true))
	return nil
}

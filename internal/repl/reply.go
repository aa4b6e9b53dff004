package repl

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// submit handles a submitted line: a command, a prompt, or text for the running turn.
func (m *model) submit(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	name, args, ok := command.Typed(text)
	if name != "quit" {
		m.quits = false
	}
	if ok {
		cmd, hint := m.menu.run(text, name, args)
		m.hint.text = hint
		return cmd
	}
	switch {
	case m.opt.Shell == nil:
	case text == "!":
		m.hint.text = "! runs a command: !git status"
		return nil
	case text[0] == '!':
		return m.sched.shell(text, m.opt.Shell)
	}
	return m.sched.say(text)
}

// submitText handles a line whose sign did not mark it as a command line: it runs none, even if it
// begins with a !. asPrompt prevents slash commands, too.
func (m *model) submitText(text string, asPrompt bool) tea.Cmd {
	if strings.HasPrefix(text, "!") || asPrompt && text != "" {
		return m.sched.say(text)
	}
	return m.submit(text)
}

// flush submits queued text, as far as the session is free for it.
func (m *model) flush() tea.Cmd {
	var cmds []tea.Cmd
	for m.sched.free() {
		text, acts := m.sched.queue.next()
		switch {
		case text == "":
			return tea.Batch(cmds...)
		case acts:
			cmds = append(cmds, m.submit(text))
		default:
			cmds = append(cmds, m.sched.say(text))
		}
	}
	return tea.Batch(cmds...)
}

// recallQueue returns queued text to the prompt, because the turn it waited for did not end
// well.
func (m *model) recallQueue() {
	queued, acts := m.sched.queue.clear()
	m.giveBack(strings.Join(queued, "\n\n"), acts)
}

// takeBack returns the newest queued text to the prompt, and reports whether there was any.
func (m *model) takeBack() bool {
	text, acts := m.sched.queue.last()
	m.giveBack(text, acts)
	return text != ""
}

// giveBack puts text back at the prompt. It stays a prompt even if it looks like a command,
// unless acts is set and it is alone.
func (m *model) giveBack(text string, acts bool) {
	switch {
	case text == "":
	case acts && m.ed.Empty():
		m.ed.Insert(text)
	default:
		m.ed.InsertPrompt(text)
	}
}

// result is the result of background work: a step of a job, an edited text, a page.
type result interface{ apply(m *model) tea.Cmd }

// apply carries out the reply of a command.
func (d doneMsg) apply(m *model) tea.Cmd {
	if d.err != nil {
		return d.failed(m)
	}
	r := d.reply
	if r.Session != nil {
		m.sched.turn.use(r.Session)
		m.out.Forget()
		m.out.History(r.Session.Items())
	}
	if r.Theme != "" {
		m.opt.Terminal.Theme = r.Theme
		m.preview("")
		if key := m.opt.Terminal.Keys.First(keys.Reprint); key != "" {
			r.Text += " " + key + " reprints the conversation in it."
		}
	}
	switch {
	case r.Marked:
		m.out.Marked(r.Text)
	case r.Text != "":
		m.out.Text(r.Text)
	}
	if r.Diff != "" {
		m.out.Diff(r.Diff)
	}
	if r.Page != nil {
		m.view.open(*r.Page)
	}
	switch {
	case r.Pick != nil:
		return m.menu.open(*r.Pick, d.job)
	case r.Edit != nil:
		return m.menu.edit(*r.Edit, d.job)
	}
	copied := toClipboard(r.Copy)
	if r.Insert != "" {
		m.giveBack(r.Insert, false)
	}
	m.sched.end(d.job)
	if r.Prompt != "" {
		return tea.Batch(copied, m.sched.say(r.Prompt))
	}
	return tea.Batch(copied, m.flush())
}

// failed reports why a command has failed. One that had the session gives the queued text back.
func (d doneMsg) failed(m *model) tea.Cmd {
	held := m.sched.command == d.job
	m.sched.end(d.job)
	switch {
	case !errors.Is(d.err, context.Canceled):
		m.out.Problem(d.err)
	case !held:
		m.out.Notice("/" + d.job.name + " was stopped.")
	}
	if held {
		m.recallQueue()
	}
	return nil
}

// toClipboard copies text to the clipboard through the terminal.
func toClipboard(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	return tea.SetClipboard(text)
}

// edit opens a command's text in the user's editor.
func (m *menu) edit(e command.Edit, j *job) tea.Cmd {
	fail := func(err error) tea.Msg { return doneMsg{job: j, err: err} }
	if m.opt.Editor == nil {
		return func() tea.Msg { return fail(errors.New("no editor available for the text")) }
	}
	cmd, result, err := m.opt.Editor(e.Name, e.Text)
	if err != nil {
		return func() tea.Msg { return fail(err) }
	}
	return tea.Exec(jobcontrol.Exec(cmd, m.opt.Terminal.In, m.opt.Terminal.Out, m.out.Screen), func(err error) tea.Msg {
		defer crash.Guard()
		text, err2 := result() // also cleans up
		if err := errors.Join(err, err2); err != nil {
			return fail(err)
		}
		return savedMsg{j, e, text}
	})
}

// savedMsg is a command's text as saved by the user.
type savedMsg struct {
	job  *job
	edit command.Edit
	text string
}

// apply continues the command.
func (s savedMsg) apply(m *model) tea.Cmd {
	return m.menu.start(s.job, func(ctx context.Context) (command.Reply, error) { return s.edit.Then(ctx, s.text) })
}

// apply shows that the command is slow.
func (o slowMsg) apply(*model) tea.Cmd {
	o.job.slow = true
	return nil
}

// apply shows it.
func (p pageMsg) apply(m *model) tea.Cmd {
	m.view.open(p.Page)
	return nil
}

// apply continues the search, unless the page was closed.
func (s searchMsg) apply(m *model) tea.Cmd {
	if s.Pager == m.view.page && s.Search() {
		return m.view.search()
	}
	return nil
}

// apply passes it to the picker, if that is still open.
func (i indexMsg) apply(*model) tea.Cmd {
	i.pick.Index(i.texts)
	return nil
}

// apply opens the editor with the proposal as edited elsewhere.
func (c claimedMsg) apply(m *model) tea.Cmd {
	qs := m.ask
	if qs.claiming == c.panel {
		qs.claiming = nil
	}
	if c.panel != qs.panel {
		return nil // answered elsewhere meanwhile
	}
	if c.edited {
		qs.panel.Propose(c.text, qs.opt.Now())
	}
	return qs.edit()
}

package repl

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// submit takes what was at the prompt: a command, a prompt, or text for the
// running turn.
func (m *model) submit(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	if name, args, ok := command.Split(text); ok {
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
		return m.floor.shell(text, m.opt.Shell)
	}
	return m.floor.say(text)
}

// said takes text that the sign before the prompt did not call a command line: then
// it is none, whatever it begins with. asPrompt is set for text that is no command of
// any kind.
func (m *model) said(text string, asPrompt bool) tea.Cmd {
	if strings.HasPrefix(text, "!") || asPrompt && text != "" {
		return m.floor.say(text)
	}
	return m.submit(text)
}

// flush submits what was queued, as far as the session is free for it.
func (m *model) flush() tea.Cmd {
	var cmds []tea.Cmd
	for m.floor.free() {
		text, acts := m.floor.queue.Next()
		switch {
		case text == "":
			return tea.Batch(cmds...)
		case acts:
			cmds = append(cmds, m.submit(text))
		default:
			cmds = append(cmds, m.floor.say(text))
		}
	}
	return tea.Batch(cmds...)
}

// recallQueue gives what was queued back to the prompt: what it waited for did
// not end well.
func (m *model) recallQueue() {
	queued, acts := m.floor.queue.Clear()
	m.giveBack(strings.Join(queued, "\n\n"), acts)
}

// giveBack puts text at the prompt again. Unless it was a command, it is a prompt
// whatever it begins with; so is a command before something else.
func (m *model) giveBack(text string, acts bool) {
	switch {
	case text == "":
	case acts && m.ed.Empty():
		m.ed.Insert(text)
	default:
		m.ed.InsertPrompt(text)
	}
}

// news is what comes of work beside the prompt: a step of a job is done or takes its
// time, the user has edited its text, a page is laid out.
type news interface{ tell(m *model) tea.Cmd }

// tell carries out what a step of a command came to.
func (d done) tell(m *model) tea.Cmd {
	r := d.reply
	if d.err != nil {
		r = command.Reply{}
		if !errors.Is(d.err, context.Canceled) {
			m.out.Problem(d.err)
		}
	}
	if r.Session != nil {
		m.floor.turn.use(r.Session)
		m.out.Forget()
		m.out.History(r.Session.Items())
	}
	if r.Theme != "" {
		m.opt.Terminal.Theme = r.Theme
		m.preview("")
		if key := m.opt.Terminal.Keys.First(keys.Reprint); key != "" {
			r.Text += " " + key + " prints the conversation in it."
		}
	}
	if r.Text != "" {
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
	copied := clip(r.Copy)
	if r.Insert != "" {
		m.giveBack(r.Insert, false)
	}
	m.floor.end(d.job)
	if d.err != nil {
		m.recallQueue()
		return nil
	}
	if r.Prompt != "" {
		return tea.Batch(copied, m.floor.say(r.Prompt))
	}
	return tea.Batch(copied, m.flush())
}

// clip hands text to the terminal, for the clipboard.
func clip(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	return tea.SetClipboard(text)
}

// edit opens a command's text in the user's editor.
func (m *menu) edit(e command.Edit, j *job) tea.Cmd {
	fail := func(err error) tea.Msg { return done{job: j, err: err} }
	if m.opt.Editor == nil {
		return func() tea.Msg { return fail(errors.New("there is no editor to open the text in")) }
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
		return saved{j, e, text}
	})
}

// saved is what the user made of a command's text.
type saved struct {
	job  *job
	edit command.Edit
	text string
}

// tell goes on with the command.
func (s saved) tell(m *model) tea.Cmd {
	return m.menu.start(s.job, func(ctx context.Context) (command.Reply, error) { return s.edit.Then(ctx, s.text) })
}

// tell notes that the command takes its time.
func (o overdue) tell(*model) tea.Cmd {
	o.job.slow = true
	return nil
}

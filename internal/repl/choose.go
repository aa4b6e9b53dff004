package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// chooser is a picker and what its choice does.
type chooser struct {
	*picker.Picker
	choose func(i int) tea.Cmd
}

// choices opens a picker.
type choices struct {
	what   string
	items  []Choice
	choose func(id string) tea.Cmd
}

// key handles a key while a picker is open.
func (m *menu) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	if m.pick == nil {
		return nil, false
	}
	switch m.pick.Press(key.String(), key.Text) {
	case picker.Chosen:
		i, ok := m.pick.Selected()
		choose := m.pick.choose
		m.pick = nil
		if ok {
			return choose(i), true
		}
	case picker.Cancelled:
		m.pick = nil
	case picker.Open, picker.Ignored:
		if key.String() == "ctrl+c" {
			m.pick = nil
		}
	}
	return nil, true
}

// choose fetches choices beside the prompt and opens a picker over them.
func (m *menu) choose(what string, list func(context.Context) ([]Choice, error), then func(id string) tea.Cmd) tea.Cmd {
	return m.start(func(ctx context.Context) tea.Msg {
		items, err := list(ctx)
		if err == nil && len(items) == 0 {
			err = errors.New("There is no " + what + " to choose.")
		}
		if err != nil {
			return done{err: err}
		}
		return choices{what: what, items: items, choose: then}
	})
}

// open opens a picker.
func (m *menu) open(c choices) {
	items := make([]picker.Item, len(c.items))
	for i, it := range c.items {
		items[i] = picker.Item{Title: sanitize.Line(it.Title), Detail: sanitize.Line(it.Detail)}
	}
	look := m.out.look
	opt := picker.Options{Title: "Choose " + article(c.what), Dark: look.Dark, NoColor: look.NoColor}
	m.pick = &chooser{Picker: picker.New(items, opt), choose: func(i int) tea.Cmd { return c.choose(c.items[i].ID) }}
}

func article(what string) string {
	if strings.ContainsRune("aeiou", rune(what[0])) {
		return "an " + what
	}
	return "a " + what
}

// model changes the model, by name or by choice.
func (m *menu) model(args string) tea.Cmd {
	a := &m.opt.Actions
	set := func(name string) tea.Cmd {
		return m.start(func(context.Context) tea.Msg { return done{text: "Model: " + name, err: a.SetModel(name)} })
	}
	if args != "" || a.Models == nil {
		return set(args)
	}
	return m.choose("model", a.Models, set)
}

// ide is the link to an editor: "connect" alone chooses among several.
func ide(m *menu) func(args string) tea.Cmd {
	a := &m.opt.Actions
	do := m.aside(a.IDE)
	return func(args string) tea.Cmd {
		if args != "connect" || a.Editors == nil {
			return do(args)
		}
		return m.start(func(ctx context.Context) tea.Msg {
			items, err := a.Editors(ctx)
			if err != nil || len(items) < 2 {
				text, err := a.IDE(ctx, args)
				return done{text: text, err: err}
			}
			return choices{what: "editor", items: items, choose: func(id string) tea.Cmd { return do("connect " + id) }}
		})
	}
}

// resume goes on with another session, by id or by choice.
func (m *menu) resume(args string) tea.Cmd {
	a := &m.opt.Actions
	to := func(id string) tea.Cmd {
		return m.start(func(ctx context.Context) tea.Msg {
			sess, err := a.Resume(ctx, id)
			return done{sess: sess, err: err}
		})
	}
	if args != "" {
		return to(args)
	}
	return m.choose("session", func(context.Context) ([]Choice, error) { return a.Sessions() }, to)
}

// renew begins a new session.
func (m *menu) renew(string) tea.Cmd {
	begin := m.opt.Actions.Clear
	return m.start(func(context.Context) tea.Msg {
		sess, err := begin()
		return done{sess: sess, err: err, text: "A new session. The old one is kept; /resume goes back to it."}
	})
}

// sessions lists the sessions.
func (m *menu) sessions(context.Context, string) (string, error) {
	items, err := m.opt.Actions.Sessions()
	if err != nil {
		return "", err
	}
	if len(items) == 0 {
		return "There are no sessions of this folder yet.", nil
	}
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "%s  %s  %s\n", it.ID, it.Detail, it.Title)
	}
	return b.String(), nil
}

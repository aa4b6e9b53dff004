package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

var zeroUsage llm.Usage

// Run takes the terminal and serves the user until they leave or ctx ends. The
// terminal is as it was when Run returns, whatever happened.
func (u *UI) Run(ctx context.Context, sess Session) (err error) {
	scr, err := screen.Open(screen.Options{In: u.opt.In, Out: u.opt.Out, Env: u.opt.Env})
	if err != nil {
		return fmt.Errorf("the terminal cannot be used: %w", err)
	}
	defer func() { err = errors.Join(err, scr.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()

	m := u.newModel(scr, sess)
	m.spawn = func(f func(context.Context)) context.CancelFunc {
		ctx, cancel := context.WithCancel(ctx)
		work.Go(func() { f(ctx) })
		return cancel
	}
	prog := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(u.opt.In), tea.WithOutput(u.opt.Out),
		tea.WithEnvironment(u.opt.Env), tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler())
	f := feed{
		box: u.box, now: u.opt.Now, opt: markdown.Options{Width: m.look.width, Dark: m.look.dark, NoColor: m.look.noColor},
		send: func(up update) { prog.Send(up) },
	}
	work.Go(func() { f.run(ctx) })
	work.Go(func() { watchSize(ctx, scr, prog.Send) })
	m.greet()
	m.printHistory()
	if _, err = prog.Run(); errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	m.leave()
	return err
}

func (u *UI) newModel(scr *screen.Screen, sess Session) *model {
	width, height := scr.Size()
	lk := look{width: width, height: height, dark: u.opt.Theme != "light", noColor: scr.NoColor() || u.opt.Theme == "none"}
	lk.st = newStyles(lk.dark, lk.noColor)
	m := &model{ui: u, scr: scr, sess: sess, look: lk}
	var cmds []input.Command
	for _, c := range m.commands() {
		cmds = append(cmds, input.Command{Name: "/" + c.name, Args: c.args, Help: c.help})
	}
	m.ed = input.New(input.Options{Commands: cmds, Files: u.opt.Files, History: u.opt.History, Dark: lk.dark, NoColor: lk.noColor})
	return m
}

// newNote returns the small editor for a comment.
func (m *model) newNote() *input.Editor {
	return input.New(input.Options{Dark: m.look.dark, NoColor: m.look.noColor})
}

// greet says what this is and where it works.
func (m *model) greet() {
	o, st := &m.ui.opt, m.look.st
	line := paint(st.accent, "agent "+o.Version) + paint(st.dim, " · "+sanitize.Line(o.Dir)+" · /help")
	m.scr.Print(short(line, m.look.width))
	for _, n := range o.Notes {
		m.notice(n)
	}
}

// historyBytes bounds how much of a resumed conversation is drawn again.
const historyBytes = 8 << 10

// printHistory draws the end of a resumed conversation.
func (m *model) printHistory() {
	msgs := m.sess.Messages()
	from, size := len(msgs), 0
	for from > 0 && size < historyBytes {
		from--
		size += len(msgs[from].Text())
	}
	if from > 0 {
		m.notice(fmt.Sprintf("… %d earlier messages", from))
	}
	opt := markdown.Options{Width: m.look.width, Dark: m.look.dark, NoColor: m.look.noColor}
	for _, msg := range msgs[from:] {
		switch msg.Role {
		case llm.User:
			m.printPrompt(msg.Text())
		case llm.Assistant:
			if text := msg.Text(); strings.TrimSpace(text) != "" {
				m.scr.Print("")
				m.scr.Print(markdown.Render(text, opt)...)
			}
			for _, c := range msg.Calls {
				m.scr.Print(short(paint(m.look.st.dim, "● "+sanitize.Line(c.Name+" "+c.Args)), m.look.width))
			}
		case llm.System, llm.ToolReply: // the results were told when they came
		}
	}
}

// leave takes the live region away, so that the shell's prompt follows the
// conversation.
func (m *model) leave() {
	if m.ask != nil {
		m.fullScreen(false)
	}
	m.scr.SetTail(nil, nil)
	m.scr.Flush()
}

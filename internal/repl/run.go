package repl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Run takes the terminal and serves the user until they leave or ctx ends. It always restores
// the terminal.
func (u *UI) Run(ctx context.Context, sess Session) (err error) {
	reserveProcessor(runtime.GOMAXPROCS)
	term := &u.opt.Terminal
	around := term.Window
	around.Dir, around.Env = u.opt.Start.Dir, term.Env
	desk := desktop.New(around)
	sigs := jobcontrol.Catch()
	defer sigs.Release()
	scr, err := screen.Open(screen.Options{In: term.In, Out: term.Out, Env: term.Env, Window: desk})
	if err != nil {
		return fmt.Errorf("cannot use the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, scr.Close()) }()
	defer crash.Hold(func() { _ = scr.Close() })() // a panic matters more than this error
	ctx, end := context.WithCancelCause(ctx)
	cancel := func() { end(session.ErrEnded) }
	var work crash.Group
	defer work.Wait()
	defer cancel()

	background := func(f func(context.Context)) context.CancelFunc {
		ctx, cancel := context.WithCancel(ctx)
		work.Go(func() { f(ctx) })
		return cancel
	}
	m := u.newModel(window{scr, desk, sigs, u.opt.Now}, sess, background)
	typed := keyboard.New(term.In, cancel)
	m.strokes.silent = typed.Silent
	prog := tea.NewProgram(onScreen{m}, tea.WithContext(ctx), tea.WithInput(typed), tea.WithFilter(typed.Filter),
		tea.WithOutput(term.Out), tea.WithEnvironment(term.Env), tea.WithColorProfile(scr.Profile()),
		tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler())
	background(func(ctx context.Context) {
		stream.Run(ctx, u.inbox, stream.Options{Look: m.look, Now: u.opt.Now, Send: func(up stream.Update) { prog.Send(up) }})
	})
	background(func(ctx context.Context) { sigs.Watch(ctx, scr, prog.Send) })
	m.out.Greet(u.opt.Start.Version, u.opt.Start.Dir, u.opt.Start.Notes)
	m.out.Title = sess.Describe
	m.out.History(sess.Items())
	if _, err = prog.Run(); errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	leave(scr)
	return err
}

// processors is the minimum number that leaves one free for a key while the answer, its
// drawing and the garbage collector keep the others busy.
const processors = 4

// reserveProcessor keeps a processor free for the keyboard, whose goroutine waits in the kernel. With
// only two, it would wait 10 ms for the scheduler each time.
func reserveProcessor(limit func(int) int) {
	if limit(0) < processors {
		limit(processors)
	}
}

// newModel creates the interface.
func (u *UI) newModel(scr window, sess Session, spawn spawner) *model {
	look := theme.New(u.opt.Terminal.Theme, scr.Profile() < colorprofile.ANSI)
	look.Width, look.Height = scr.Size()
	named := u.opt.Terminal.Keys
	look.Keys = theme.Keys{Whole: named.First(keys.Whole), Older: named.First(keys.Previous), Send: named.First(keys.Send)}
	out := printer.New(scr.Screen, look)
	turn := &turns{
		sess: sess, spawn: spawn, inbox: u.inbox, out: out, now: u.opt.Now, still: u.opt.Terminal.Still,
		stopKey: u.opt.Terminal.Keys.Key(keys.Stop),
	}
	turn.model = func() string {
		if u.opt.Status == nil {
			return ""
		}
		return u.opt.Status().Model
	}
	if u.opt.ToBackground != nil {
		turn.background = u.opt.Terminal.Keys.Hint("to background", keys.Background)
	}
	sched := &scheduler{turn: turn, queue: u.queue}
	m := &model{
		opt: &u.opt, inbox: u.inbox, scr: scr, look: look, out: out, sched: sched,
		ask:  &questions{opt: &u.opt, scr: scr.Screen, out: out, turn: turn, layout: diffview.LayoutOf(u.opt.Terminal.Diff)},
		menu: newMenu(&u.opt, out, sched),
	}
	m.view = &viewer{keys: u.opt.Terminal.Keys, out: out, ask: m.ask, spawn: spawn}
	m.ed = input.New(input.Options{
		Commands: m.menu.palette, Files: u.opt.Files, Remark: u.opt.Remark, History: u.opt.History, NoColor: look.NoColor, Shell: u.opt.Shell != nil, Vi: u.opt.Terminal.Vi, Images: u.opt.Images,
		Keys: named, Suggest: u.opt.Start.suggestion(),
	})
	m.ask.ed = m.ed
	m.strokes = &strokes{questions: m.ask, silent: func(time.Duration) bool { return true }}
	m.menu.own["quit"] = m.quit
	m.menu.preview = func(name string) { m.preview(name) }
	m.restyle(look)
	scr.desk.Key(u.opt.Now()) // somebody has just started us
	return m
}

// leave erases the live region, so that the shell's prompt follows the conversation.
func leave(scr *screen.Screen) {
	scr.SetAlt(false)
	scr.SetTail(nil, nil)
	scr.Flush()
}

// onScreen is the model as Bubble Tea runs it. Bubble Tea's own renderer is off
// (docs/adr/0002): the screen shows what View returns, below the lines printed so far.
type onScreen struct{ *model }

// Update implements tea.Model.
func (o onScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := o.update(msg)
	return o, cmd
}

// View shows the model's View. While the size changes it does nothing: see resize.
func (o onScreen) View() tea.View {
	defer crash.Guard()
	if o.resizing {
		return tea.View{}
	}
	return o.show()
}

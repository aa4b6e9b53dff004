// Package dialog asks a person one question on a terminal, before there is a session. It
// guarantees that all of its text reaches the scrollback, and that its title stays on the screen,
// whatever the size of the terminal; that secrets stay hidden; that a terminal which only prints lines receives no escape
// sequences; and that the terminal is restored when Ask returns.
package dialog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// ErrLeft reports that the person chose not to answer.
var ErrLeft = errors.New("exited without an answer")

// ErrBack reports that the person wants to return to the previous page.
var ErrBack = errors.New("back to the page before")

// quiet is the time without a key after which a page accepts an answer: nobody reads faster,
// so an earlier key belongs to a prompt that somebody types while the program starts.
const quiet = 400 * time.Millisecond

// maxNumber is the most choices that have numbers.
const maxNumber = 9

// maxSecret is the maximum size of a secret, in bytes.
const maxSecret = 8 << 10

// Terminal is the terminal to ask on.
type Terminal struct {
	In, Out *os.File
	Env     []string
	Theme   string
	Flat    bool // only prints lines, or is read aloud
}

// Page is a question. Its texts need not be sanitized.
type Page struct {
	Title   string
	Text    []string // paragraphs; a leading blank indents one
	Choices []picker.Item
	YesNo   bool    // Choices are a yes that lasts and a no, which is highlighted first
	Fields  []Field // texts to type or paste, if there are no Choices
	Back    bool    // Esc returns ErrBack; otherwise it leaves, like Ctrl+C
}

// Field is a text to enter.
type Field struct {
	Label    string
	Value    string // initial value
	Secret   bool   // never shown
	Optional bool   // may be empty
}

// Answer is the index of a choice, or the text of each field.
type Answer struct {
	Choice int
	Values []string
}

// Yes reports whether the answer to a page with YesNo is yes.
func (a Answer) Yes() bool { return a.Choice == 0 }

// number returns the number that takes the ith choice. Yes and no have the numbers that they
// have in a session.
func (p Page) number(i int) int {
	if p.YesNo {
		return []int{confirm.NumberAlways, confirm.NumberNo}[i]
	}
	return i + 1
}

// numbered returns the choice with a number; ok is false without one.
func (p Page) numbered(number string) (i int, ok bool) {
	n, err := strconv.Atoi(number)
	for i := range p.Choices {
		if err == nil && p.number(i) == n {
			return i, true
		}
	}
	return 0, false
}

// Ask asks a question and waits for the answer, ErrLeft, ErrBack or the end of ctx. A SIGINT
// leaves, like Ctrl+C, so that the terminal is restored first.
func Ask(ctx context.Context, t Terminal, p Page) (a Answer, err error) {
	if t.Flat {
		return askFlat(ctx, t, p)
	}
	sigs := jobcontrol.Catch()
	defer sigs.Release()
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	scr, err := screen.Open(screen.Options{In: t.In, Out: t.Out, Env: t.Env, Fresh: true})
	if err != nil {
		return a, fmt.Errorf("cannot use the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, scr.Close()) }()
	defer crash.Hold(func() { _ = scr.Close() })() // a panic matters more than this error
	ctx, cancel := context.WithCancel(ctx)
	var work crash.Group
	defer work.Wait()
	defer cancel()
	look := theme.New(t.Theme, scr.Profile() < colorprofile.ANSI)
	m := &model{page: p, scr: scr, sigs: sigs, look: look, pick: picker.New(p.Choices, picker.Options{NoColor: look.NoColor})}
	if p.YesNo {
		m.pick.ToEnd()
	}
	for _, f := range p.Fields {
		m.values = append(m.values, f.Value)
	}
	m.resize(scr.Size())
	m.print()
	m.since = time.Now()
	typed := keyboard.New(t.In, cancel)
	m.silent = typed.Silent
	prog := tea.NewProgram(onScreen{m}, tea.WithContext(ctx), tea.WithInput(typed), tea.WithFilter(typed.Filter), tea.WithOutput(t.Out),
		tea.WithEnvironment(t.Env), tea.WithColorProfile(scr.Profile()), tea.WithoutRenderer(), tea.WithoutSignalHandler())
	work.Go(func() { sigs.Watch(ctx, scr, prog.Send) })
	work.Go(func() {
		select {
		case <-interrupt:
			prog.Quit()
		case <-ctx.Done():
		}
	})
	_, err = prog.Run()
	scr.SetTail(nil, nil)
	if m.answer != nil && len(p.Choices) > 0 {
		scr.Print(theme.Short("› "+sanitize.Line(p.Choices[m.answer.Choice].Title), m.look.Width), "") // record the answer in the scrollback
	}
	scr.Flush()
	switch {
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return a, ctx.Err()
	case err != nil:
		return a, err
	case m.back:
		return a, ErrBack
	case m.answer == nil:
		return a, ErrLeft
	}
	return *m.answer, nil
}

// model is the question on the screen. Bubble Tea's event loop owns it.
type model struct {
	page   Page
	scr    *screen.Screen
	sigs   *jobcontrol.Signals
	look   theme.Look
	pick   *picker.Picker
	values []string                 // of the fields
	at     int                      // the current field
	text   int                      // number of lines above the choices or fields
	answer *Answer                  // nil before the answer
	back   bool                     // Esc was pressed on a page with Back
	silent func(time.Duration) bool // see keyboard.Silent

	since   time.Time // no key since
	armed   bool      // choices accept keys
	held    string    // the number of a choice, which answers if no key follows
	pressed time.Time // time of held
}

// quietMsg arrives when a page may have been quiet for long enough.
type quietMsg struct{}

// aloneMsg arrives when a number may have been the only key for long enough.
type aloneMsg struct{}

// Init begins the wait for quiet.
func (m *model) Init() tea.Cmd { return m.arm() }

// arm accepts answers if the page has been quiet for long enough, and otherwise waits.
func (m *model) arm() tea.Cmd {
	wait := quiet - time.Since(m.since)
	m.armed = wait <= 0
	if m.armed {
		return nil
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return quietMsg{} })
}

// onScreen is the model as Bubble Tea runs it: the screen shows what View returns.
type onScreen struct{ *model }

// Update implements tea.Model.
func (o onScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := o.model.Update(msg)
	return o, cmd
}

// View shows the model's View.
func (o onScreen) View() tea.View {
	defer crash.Guard()
	v := o.model.View()
	o.scr.Show(v)
	return v
}

// Update handles a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer crash.Guard()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		width, height := m.scr.Size() // Bubble Tea's first message may have no size
		m.resize(width, height)
		m.scr.Resize(width, height)
	case jobcontrol.Stop:
		return m, m.sigs.Suspend(m.scr)
	case jobcontrol.Continued:
		if m.scr.Resume() != nil {
			return m, tea.Quit // the terminal is gone
		}
	case tea.CursorPositionMsg:
		m.scr.Measure(msg.X)
	case quietMsg:
		return m, m.arm()
	case aloneMsg:
		return m, m.alone()
	case tea.PasteMsg:
		m.typed(msg.Content)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	}
	return m, cmd
}

func (m *model) resize(width, height int) { m.look.Width, m.look.Height = width, height }

// initial are the keys of a page: the person's own are not loaded yet.
var initial keys.Map

// key handles a key: Ctrl+C and Ctrl+D leave; Esc goes back, or leaves if the page has no
// Back; Ctrl+Z suspends. Other keys wait until the page accepts an answer.
func (m *model) key(key tea.KeyPressMsg) tea.Cmd {
	switch a := initial.At(keys.Prompt, key); {
	case a == keys.Suspend:
		return m.sigs.Suspend(m.scr)
	case a == keys.Stop, a == keys.Interrupt, initial.Is(key, keys.Leave):
		m.back = m.page.Back && a == keys.Stop
		return tea.Quit
	case len(m.page.Choices) > 0:
		return m.choose(key)
	case a == keys.Send:
		return m.enter()
	case a == keys.Complete, a == keys.Next:
		m.at = (m.at + 1) % len(m.values)
	case a == keys.Mode, a == keys.Previous:
		m.at = (m.at + len(m.values) - 1) % len(m.values)
	case a == keys.DeleteLineLeft:
		m.values[m.at] = ""
	case a == keys.DeleteLeft:
		value := m.values[m.at]
		_, n := utf8.DecodeLastRuneInString(value)
		m.values[m.at] = value[:len(value)-n]
	default:
		m.typed(key.Text)
	}
	return nil
}

// enter moves to the next field, or answers after the last one.
func (m *model) enter() tea.Cmd {
	if m.at++; m.at < len(m.values) {
		return nil
	}
	m.at--
	for i, f := range m.page.Fields {
		if m.values[i] == "" && !f.Optional {
			m.at = i
			return nil
		}
	}
	m.answer = &Answer{Values: m.values}
	return tea.Quit
}

// choose handles a key among choices, once the page accepts one. A number selects its choice if
// no key follows at once; otherwise it is the beginning of a filter. Text is no filter for yes
// and no: somebody types a prompt.
func (m *model) choose(key tea.KeyPressMsg) tea.Cmd {
	text := key.Text
	if !m.armed {
		m.since = time.Now()
		return nil
	}
	if m.held != "" {
		m.pick.SetFilter(m.pick.Filter() + m.held)
		m.held = ""
	} else if _, ok := m.page.numbered(text); ok && m.pick.Filter() == "" && len(m.page.Choices) <= maxNumber {
		m.held, m.pressed = text, time.Now()
		return m.alone()
	}
	if m.page.YesNo && (text != "" || m.pick.Filter() != "") {
		m.pick.SetFilter("")
		m.pick.ToEnd()
		m.since = time.Now()
		return m.arm()
	}
	switch m.pick.Press(key) {
	case picker.Chosen:
		i, _ := m.pick.Selected()
		return m.take(i)
	case picker.Cancelled:
		return tea.Quit
	case picker.Open, picker.Ignored:
	}
	return nil
}

// alone takes the choice whose number was pressed if no other key has followed, and otherwise
// waits.
func (m *model) alone() tea.Cmd {
	i, ok := m.page.numbered(m.held)
	if !ok {
		return nil
	}
	if wait := keyboard.Burst - time.Since(m.pressed); wait > 0 || !m.silent(keyboard.Burst) {
		return tea.Tick(max(wait, keyboard.Burst/10), func(time.Time) tea.Msg { return aloneMsg{} })
	}
	return m.take(i)
}

// take answers with a choice.
func (m *model) take(i int) tea.Cmd {
	m.answer = &Answer{Choice: i}
	return tea.Quit
}

// typed adds text to a field, without the surrounding blanks of a paste: no key, address or
// name has any.
func (m *model) typed(text string) {
	if len(m.values) > 0 && len(m.values[m.at])+len(text) <= maxSecret {
		m.values[m.at] += strings.Join(strings.Fields(text), "")
	}
}

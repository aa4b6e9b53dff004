//go:build unix

package dialog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

type outcome struct {
	Answer
	err error
}

// ask shows a page on a new terminal.
func ask(ctx context.Context, t *testing.T, width, height int, p Page) (*ptytest.Terminal, <-chan outcome) {
	t.Helper()
	term := ptytest.New(t, vt.Options{Width: width, Height: height})
	return term, askOn(ctx, t, term, p)
}

func askOn(ctx context.Context, t *testing.T, term *ptytest.Terminal, p Page) <-chan outcome {
	t.Helper()
	out, err := os.OpenFile(term.TTY().Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() {
		defer out.Close()
		a, err := Ask(ctx, Terminal{In: term.TTY(), Out: out, Env: []string{"TERM=xterm-256color"}}, p)
		done <- outcome{a, err}
	}()
	return done
}

// Keys typed before the question do not answer it.
func TestTypedAheadIsNoAnswer(t *testing.T) {
	term := ptytest.New(t, vt.Options{Width: 40, Height: 12})
	term.Type("2\r")
	term.WaitFor(`2`) // echoed: waiting in the terminal
	done := askOn(t.Context(), t, term, Page{Title: "Which?", Choices: choices("one", "two")})
	term.WaitFor(`Esc exits`)
	term.Press("esc")
	if got := <-done; !errors.Is(got.err, ErrLeft) {
		t.Errorf("%+v", got)
	}
}

// reader is a person at a page whose clock the test moves.
type reader struct{ *model }

func newReader(p Page) reader {
	m := &model{page: p, pick: picker.New(p.Choices, picker.Options{}), since: time.Now(), silent: func(time.Duration) bool { return true }}
	if p.YesNo {
		m.pick.ToEnd()
	}
	return reader{m}
}

// wait lets time pass.
func (r reader) wait(d time.Duration) {
	<-time.After(d)
	r.arm()
	r.alone()
}

// types types a text, with a break after each key.
func (r reader) types(text string, rest time.Duration) {
	for _, c := range text {
		key := tea.KeyPressMsg{Code: c, Text: string(c)}
		if c == '\r' {
			key = tea.KeyPressMsg{Code: tea.KeyEnter}
		}
		r.key(key)
		r.wait(rest)
	}
}

// A prompt that somebody types while the page appears, or later, does not answer it; a number
// alone does.
func TestAPromptIsNoAnswer(t *testing.T) {
	for name, page := range map[string]Page{
		"choices":    {Title: "Which?", Choices: choices("one", "two")},
		"yes and no": {Title: "Trust?", Choices: choices("Yes, use them", "No"), YesNo: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newReader(page)
				m.types("2 bugs\r", 120*time.Millisecond)
				if m.answer != nil || m.pick.Filter() != "" {
					t.Errorf("%+v, filter %q", m.answer, m.pick.Filter())
				}
				m.wait(2 * time.Second)
				m.types("2 bugs and 3", 120*time.Millisecond)
				if m.answer != nil || !page.YesNo && m.pick.Filter() != "2 bugs and 3" {
					t.Errorf("%+v, filter %q", m.answer, m.pick.Filter())
				}
				m.wait(2 * time.Second)
				m.key(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}) // clears the filter
				m.wait(2 * time.Second)
				if m.types("2", keyboard.Burst); m.answer == nil || m.answer.Yes() != page.YesNo {
					t.Errorf("%+v", m.answer)
				}
			})
		})
	}
}

// Yes and no have the numbers that they have in a session. Enter takes the no.
func TestYesAndNo(t *testing.T) {
	page := Page{Title: "Trust?", Choices: choices("Yes, use them", "No"), YesNo: true}
	for _, tt := range []struct {
		keys          string
		answered, yes bool
	}{{"1", false, false}, {"2", true, true}, {"3", true, false}, {"4", false, false}, {"\r", true, false}, {"y", false, false}, {"use\r", false, false}} {
		synctest.Test(t, func(t *testing.T) {
			m := newReader(page)
			m.wait(2 * time.Second)
			m.types(tt.keys, keyboard.Burst)
			if (m.answer != nil) != tt.answered || tt.answered && m.answer.Yes() != tt.yes {
				t.Errorf("%q: %+v", tt.keys, m.answer)
			}
		})
	}
}

func choices(titles ...string) (items []picker.Item) {
	for _, s := range titles {
		items = append(items, picker.Item{Title: s})
	}
	return items
}

func TestChoices(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("model-%02d", i))
	}
	for name, c := range map[string]struct {
		list []string
		keys []string
		want int
		err  error
	}{
		"enter":             {[]string{"one", "two"}, []string{"enter"}, 0, nil},
		"down":              {[]string{"one", "two"}, []string{"down", "enter"}, 1, nil},
		"number":            {[]string{"one", "two"}, []string{"2"}, 1, nil},
		"no such number":    {[]string{"one", "two"}, []string{"9", "backspace", "enter"}, 0, nil},
		"filter":            {many, []string{"2", "7", "enter"}, 27, nil},
		"last":              {many, []string{"end", "enter"}, 29, nil},
		"esc":               {[]string{"one"}, []string{"esc"}, 0, ErrLeft},
		"ctrl+c":            {[]string{"one"}, []string{"ctrl+c"}, 0, ErrLeft},
		"ctrl+d":            {[]string{"one"}, []string{"ctrl+d"}, 0, ErrLeft},
		"nothing there yet": {[]string{"one"}, []string{"z", "enter", "ctrl+u", "enter"}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			term, done := ask(t.Context(), t, 40, 12, Page{Title: "Which?", Choices: choices(c.list...)})
			term.WaitFor(`Which\?`)
			term.WaitFor(`Esc exits`)
			term.Press(c.keys...)
			got := <-done
			if got.Choice != c.want || !errors.Is(got.err, c.err) {
				t.Errorf("%+v", got)
			}
			restored(t, term)
		})
	}
}

func TestAnInterruptLeaves(t *testing.T) {
	term, done := ask(t.Context(), t, 40, 12, Page{Title: "Which?", Choices: choices("one", "two")})
	term.WaitFor(`Esc exits`)
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := <-done; !errors.Is(got.err, ErrLeft) {
		t.Errorf("%+v", got)
	}
	restored(t, term)
}

func restored(t *testing.T, term *ptytest.Terminal) {
	t.Helper()
	term.Sync()
	got := term.Modes()
	got.Style = ""
	if got != (vt.Modes{}) {
		t.Errorf("modes left on: %+v", got)
	}
}

func TestASecretIsNeverShown(t *testing.T) {
	term, done := ask(t.Context(), t, 40, 10, Page{Title: "A key", Fields: []Field{{Label: "Key", Secret: true}}})
	term.WaitFor(`Key: *\n`)
	term.Press("enter") // nothing selected
	term.Type("wrong")
	term.WaitFor(`5 characters`)
	term.Press("ctrl+u")
	term.Type("sk-canary")
	term.WaitFor(`9 characters`)
	term.Press("backspace")
	term.Paste(" y-7f3d \n")
	term.WaitFor(`14 characters`)
	term.Press("enter")
	if got := <-done; got.err != nil || got.Values[0] != "sk-canary-7f3d"[:8]+"y-7f3d" {
		t.Errorf("%+v", got)
	}
	if strings.Contains(string(term.Bytes()), "canar") {
		t.Error("the secret was shown")
	}
	restored(t, term)
}

// The text appears in full at any size, and does nothing to the terminal.
func TestTheTextIsWhole(t *testing.T) {
	text := []string{"A first line that is longer than forty columns are wide, by far."}
	for i := range 40 {
		text = append(text, fmt.Sprintf("  file-%02d\x1b[2J", i))
	}
	for _, size := range [][2]int{{40, 8}, {80, 24}, {200, 50}} {
		term, done := ask(t.Context(), t, size[0], size[1], Page{Title: "Read", Text: text, Choices: choices("yes", "no")})
		term.WaitFor(`Esc exits`)
		all := strings.Join(term.History(), "\n")
		for i := range 40 {
			if n := strings.Count(all, fmt.Sprintf("file-%02d", i)); n != 1 {
				t.Errorf("%v: file %d is there %d times", size, i, n)
			}
		}
		if strings.Contains(string(term.Bytes()), "\x1b[2J") {
			t.Error("a text cleared the screen")
		}
		term.Resize(50, 14)
		term.Press("down")
		term.WaitFor(`(?m)^2 › no`)
		term.Press("enter")
		if got := <-done; got.Choice != 1 || got.err != nil {
			t.Errorf("%+v", got)
		}
	}
}

func TestTheContextEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	term, done := ask(ctx, t, 80, 24, Page{Title: "Read", Choices: choices("yes")})
	term.WaitFor(`Esc exits`)
	cancel()
	if got := <-done; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	restored(t, term)
}

// Fields appear one below the other; Enter returns to an empty one that must be filled.
func TestFields(t *testing.T) {
	page := Page{Title: "A server", Fields: []Field{{Label: "Address", Value: "http://"}, {Label: "Key", Secret: true, Optional: true}}}
	for name, c := range map[string]struct {
		keys []string
		text string
		want []string
		err  error
	}{
		"as it is":          {[]string{"enter", "enter"}, "", []string{"http://", ""}, nil},
		"typed":             {[]string{"enter", "enter"}, "a/v1", []string{"http://a/v1", ""}, nil},
		"there and back":    {[]string{"tab", "x", "up", "b", "down", "y", "enter"}, "a", []string{"http://ab", "xy"}, nil},
		"round":             {[]string{"shift+tab", "k", "tab", "enter", "enter"}, "a", []string{"http://a", "k"}, nil},
		"an empty address":  {[]string{"ctrl+u", "enter", "enter", "z", "enter", "enter"}, "", []string{"z", ""}, nil},
		"left in the first": {[]string{"esc"}, "a", nil, ErrLeft},
		"left in the last":  {[]string{"enter", "ctrl+c"}, "a", nil, ErrLeft},
	} {
		t.Run(name, func(t *testing.T) {
			term, done := ask(t.Context(), t, 40, 12, page)
			term.WaitFor(`Enter continues`)
			term.Type(c.text)
			for _, key := range c.keys {
				if len(key) == 1 {
					term.Type(key)
				} else {
					term.Press(key)
				}
			}
			got := <-done
			if d := cmp.Diff(c.want, got.Values); d != "" || !errors.Is(got.err, c.err) {
				t.Error(d, got.err)
			}
			restored(t, term)
		})
	}
}

// The end of an address wider than the terminal is visible while it is typed.
func TestALongField(t *testing.T) {
	term, done := ask(t.Context(), t, 40, 12, Page{Title: "A server", Fields: []Field{{Label: "Address"}}})
	term.WaitFor(`Enter confirms`)
	term.Paste("https://" + strings.Repeat("long.", 30) + "example/v1")
	term.WaitFor(`(?m)^Address: ….*long\.example/v1$`)
	term.Press("esc")
	<-done
}

//go:build unix

package repl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

// full selects the full load instead of a part.
var full = os.Getenv("AGENT_TEST_FULL") != ""

// flood emits output until stop is closed: lines of an answer, then those of a command, whose
// last ones the screen shows.
func (s *stage) flood(stop <-chan struct{}) (stopped <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond): // a fast program, not an endless one
				if i < 100 {
					s.emit(session.TextDelta{Text: fmt.Sprintf("line %d of the **flood** 漢字 `code`\n\n", i)})
				} else {
					s.emit(session.CallStarted{Title: "Run yes"}, session.CallOutput{Text: fmt.Sprintf("line %d\tof the output 漢字\n", i)})
				}
			}
		}
	}()
	return done
}

// resize changes the size and sends the signal, like the kernel.
func (s *stage) resize(width, height int) {
	s.t.Helper()
	s.Resize(width, height)
	s.told()
}

func (s *stage) told() {
	s.t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		s.t.Fatal(err)
	}
}

// draft is longer than any line, so that its rows show the width they were drawn for.
var draft = strings.Repeat("x", 1200)

// roomy reports whether there is room for the prompt and the start of the status line.
func roomy(width, height int) bool { return width >= 14 && height >= 6 }

// region returns the first row of the prompt, and the rows from there to the last one with
// text.
func region(m *vt.Terminal) (at int, rows []string) {
	rows = m.Screen()
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	for at = len(rows) - 1; at > 0 && !strings.HasPrefix(rows[at], "❯ x"); at-- {
	}
	return at, rows[max(0, at):]
}

// drawn reports whether the prompt is drawn for the screen's size: its rows are one column
// narrower than the screen, and the status line follows.
func drawn(m *vt.Terminal) bool {
	width, _ := m.Size()
	_, rows := region(m)
	if len(rows) < 2 || !strings.HasPrefix(rows[len(rows)-1], "def") {
		return false
	}
	for i, row := range rows[:len(rows)-1] {
		if n := utf8.RuneCountInString(row); n > width-1 || i == 0 && n != width-1 || strings.Trim(row, "❯ x") != "" {
			return false
		}
	}
	return true
}

// once reports whether it is drawn and nothing of an earlier frame remains.
func once(m *vt.Terminal) bool {
	at, _ := region(m)
	for _, row := range m.Screen()[:max(0, at)] {
		if strings.Contains(row, "xx") || strings.HasPrefix(row, "default") {
			return false
		}
	}
	return drawn(m)
}

// sizes visits all widths and heights up to 500×200, or some of them.
func sizes(at func(width, height int)) {
	step := 5
	if full {
		step = 1
	}
	for w := 1; w <= 500; w += step {
		at(w, 1+(w*37)%200)
	}
	for h := 1; h <= 200; h += step {
		at(1+(h*61)%500, h)
	}
}

// Every size from one cell to 500×200 gets a frame of its own during an answer; at the end
// Ctrl+L leaves nothing else on the screen.
func TestEverySize(t *testing.T) {
	t.Parallel()
	s := newStage(t, 80, 24, nil)
	s.say("go")
	s.Type(draft)
	stop := make(chan struct{})
	stopped := s.flood(stop)
	n, start := 0, time.Now()
	sizes(func(w, h int) {
		n++
		before := len(s.Bytes())
		s.resize(w, h)
		if roomy(w, h) {
			s.WaitUntil(fmt.Sprintf("a frame of %d×%d", w, h), drawn)
		} else {
			s.WaitUntil("a frame", func(m *vt.Terminal) bool { return m.Stats().Bytes > before })
		}
	})
	t.Logf("%d sizes in %v", n, time.Since(start))
	close(stop)
	<-stopped
	s.resize(90, 30)
	s.WaitUntil("the last frame", drawn)
	s.Press("ctrl+l")
	s.WaitUntil("the conversation alone", once)
}

// Ctrl+L prints at the present width, even before a signal reports it.
func TestReprintLooksAtTheSize(t *testing.T) {
	t.Parallel()
	s := newStage(t, 80, 24, nil)
	s.Type(draft)
	s.Resize(50, 24)
	s.Press("ctrl+l")
	s.WaitUntil("a frame of the new width", drawn)
}

// Ten thousand resizes during an answer: after every hundred the frame has the final size.
func TestTenThousandResizes(t *testing.T) {
	t.Parallel()
	s := newStage(t, 80, 24, nil)
	s.say("go")
	s.Type(draft)
	stop := make(chan struct{})
	stopped := s.flood(stop)
	start := time.Now()
	for i := range 10_000 {
		w, h := 20+i*37%180, 6+i*13%60
		if i%100 < 99 {
			s.Storm(w, h)
			s.told()
			continue
		}
		s.resize(w, h)
		s.WaitUntil(fmt.Sprintf("a frame of %d×%d", w, h), drawn)
	}
	t.Logf("10,000 resizes in %v", time.Since(start))
	close(stop)
	<-stopped
}

// A paste of 10 MB is folded, and the prompt stays usable.
func TestTenMegabytesArePasted(t *testing.T) {
	t.Parallel()
	s := newStage(t, 80, 24, nil)
	start := time.Now()
	s.Paste(strings.Repeat("0123456789 the quick brown fox jumps over it\n", 10<<20/45))
	s.WaitFor(`pasted 233,016 lines`)
	s.Type(" and more")
	s.WaitFor(`and more`)
	t.Logf("10 MB pasted in %v", time.Since(start))
}

// However an answer is split, its lines are in the scrollback once and in order, as if
// rendered at once, and the lines above are unchanged.
func TestStreamedMarkdown(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"# Title\n\n", "some words that go on and on until they have to be wrapped ", "`code` ", "**bold** ", "\n", "\n\n",
		"- item\n", "  - nested\n", "    1. deeper\n", "1. one\n2. two\n", "```go\nfunc f() {\n\treturn // here\n}\n```\n",
		"| a | b |\n|---|--:|\n| cell | 12 |\n", "> quoted\n", "漢字かな ", "👩\u200d💻 ", "~~~\nopen\n", "---\n", "\x1b[2Jevil ",
	}
	texts := 30
	if full {
		texts = 1000
	}
	s := newStage(t, 60, 20, nil)
	for seed := range texts {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		var text strings.Builder
		for range 1 + random.IntN(40) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		mark := fmt.Sprintf("❯ text %d", seed)
		s.say(strings.TrimPrefix(mark, "❯ "))
		for rest := text.String(); rest != ""; {
			at := min(len(rest), 1+random.IntN(60))
			s.emit(session.TextDelta{Text: rest[:at]})
			rest = rest[at:]
			if random.IntN(4) == 0 {
				s.WaitUntil("the program to go on", func(*vt.Terminal) bool { return true })
			}
		}
		s.emit(session.TurnEnded{Stop: session.StopDone})
		s.end <- struct{}{}
		want := []string{mark, ""}
		for _, l := range markdown.Render(text.String(), markdown.Options{Width: 60, Wrapped: theme.Wrapped}) {
			want = append(want, plain(l))
		}
		s.ends(fmt.Sprintf("text %d, %q", seed, text.String()), want)
	}
}

// ends waits until everything from the first row of want on is want, a blank line, the prompt and
// the status line. That row is there once.
func (s *stage) ends(what string, want []string) {
	s.t.Helper()
	want = append(want, "", "❯", "default mode · openai/model · main · VS Code · main.go:5-10")
	var got []string
	defer func() {
		if s.t.Failed() {
			s.t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
		}
	}()
	s.WaitUntil(what, func(m *vt.Terminal) bool {
		all := m.History()
		from := slices.Index(all, want[0])
		got = all[max(from, 0):]
		return slices.Equal(got, want) && from == len(all)-1-slices.Index(reversed(all), want[0])
	})
}

func reversed(rows []string) []string {
	rows = slices.Clone(rows)
	slices.Reverse(rows)
	return rows
}

// plain returns a line as a terminal shows it.
func plain(line string) string {
	term := vt.New(vt.Options{Width: 200, Height: 2})
	fmt.Fprint(term, line)
	return term.Screen()[0]
}

package screen

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// fakeTTY writes straight into an emulated terminal.
type fakeTTY struct {
	*vt.Terminal
	isRaw    bool
	restored int
	writes   int
	log      *strings.Builder // all of it, or nil
	fail     error
	hurry    bool // no time passes between frames
	time     time.Time
	late     int // the width before a change that is not known yet; 0 for none
}

func (f *fakeTTY) clock() time.Time {
	if !f.hurry {
		f.time = f.time.Add(time.Second)
	}
	return f.time
}

func (f *fakeTTY) raw(on bool) error {
	if f.isRaw = on; !on {
		f.restored++
	}
	return nil
}

func (f *fakeTTY) size() (width, height int, err error) {
	width, height = f.Size()
	if f.late != 0 {
		width = f.late
	}
	return width, height, nil
}

func (f *fakeTTY) Write(b []byte) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	f.writes++
	if f.log != nil {
		f.log.Write(b)
	}
	return f.Terminal.Write(b)
}

func openFake(t interface{ Fatal(...any) }, opt vt.Options, env ...string) (*Screen, *fakeTTY) {
	term := &fakeTTY{Terminal: vt.New(opt)}
	s, err := open(term, Options{Env: append([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}, env...)}, term.clock)
	if err != nil {
		t.Fatal(err)
	}
	return s, term
}

func numbered(prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s %d", prefix, i)
	}
	return lines
}

func TestOpenAsksInOneWriteAndCloseGivesBack(t *testing.T) {
	var answers strings.Builder
	s, term := openFake(t, vt.Options{Reply: func(b []byte) { answers.Write(b) }})
	want := vt.Modes{BracketedPaste: true, ModifyKeys: 2, KittyKeys: 5}
	if diff := cmp.Diff(want, term.Modes()); diff != "" || !term.isRaw || term.writes != 1 {
		t.Errorf("after Open: raw %v, %d writes, modes (-want +got):\n%s", term.isRaw, term.writes, diff)
	}
	if got, want := answers.String(), "\x1b[?2026;2$y\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?1;1R\x1b[?1;3R"; got != want {
		t.Errorf("asked for %q, want %q", got, want)
	}
	s.SetTail([]string{"\x1b[31mred", "below"}, nil)
	s.Flush()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(vt.Modes{}, term.Modes()); diff != "" || term.restored != 1 {
		t.Errorf("after Close: restored %d times, modes:\n%s", term.restored, diff)
	}
	if x, y := term.Cursor(); x != 0 || y != 2 {
		t.Errorf("cursor at %d,%d after Close, want it below the live region", x, y)
	}
	writes := term.writes
	s.Print("late")
	s.Flush()
	if term.writes != writes {
		t.Error("something was written after Close")
	}
}

func TestOpenFailsWithoutLeavingRawMode(t *testing.T) {
	term := &fakeTTY{Terminal: vt.New(vt.Options{}), fail: errors.New("gone")}
	if _, err := open(term, Options{}, time.Now); !errors.Is(err, term.fail) || term.restored != 1 {
		t.Errorf("got %v, restored %d times", err, term.restored)
	}
}

func TestFinishedLinesAndTail(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 20, Height: 6})
	s.SetTail([]string{"> prompt", "status"}, &Cursor{X: 2, Y: 0})
	s.Flush()
	for i := range 2000 {
		s.Print(fmt.Sprintf("line %d", i))
		s.SetTail([]string{fmt.Sprintf("> prompt %d", i), "status"}, &Cursor{X: 2, Y: 0})
		if i%7 == 0 {
			s.Flush()
		}
	}
	s.Flush()
	want := append(numbered("line", 2000), "> prompt 1999", "status")
	if diff := cmp.Diff(want, term.History()); diff != "" {
		t.Error(diff)
	}
	if x, y := term.Cursor(); x != 2 || y != 4 {
		t.Errorf("cursor at %d,%d, want 2,4", x, y)
	}
}

func TestFrameIsOneWriteOfChanges(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 40, Height: 10})
	step := func(name string, maxBytes int, do func()) {
		t.Helper()
		writes, bytes := term.writes, term.Stats().Bytes
		do()
		s.Flush()
		got := term.Stats().Bytes - bytes
		if term.writes-writes > 1 || got > maxBytes {
			t.Errorf("%s: %d writes, %d bytes; at most 1 and %d wanted", name, term.writes-writes, got, maxBytes)
		}
	}
	tail := func(first string) func() {
		return func() { s.SetTail([]string{first, "> prompt", "status"}, &Cursor{X: 3, Y: 1}) }
	}
	step("first", 200, tail("\x1b[1mThe answer is"))
	step("nothing new", 0, tail("\x1b[1mThe answer is"))
	step("grown by a word", 50, tail("\x1b[1mThe answer is forty-two"))
	if got := term.Cell(15, 0); got.Text != "o" || got.Style != "1" {
		t.Errorf("the new word looks like %+v", got)
	}
	step("cursor only", 6, func() {
		s.SetTail([]string{"\x1b[1mThe answer is forty-two", "> prompt", "status"}, &Cursor{X: 4, Y: 1})
	})
	step("line finished", 110, func() {
		s.Print("\x1b[1mThe answer is forty-two")
		tail("And")()
	})
	if want := "The answer is forty-two\nAnd\n> prompt\nstatus"; term.String() != want {
		t.Errorf("screen %q, want %q", term.String(), want)
	}
}

func TestFramesAreAnnounced(t *testing.T) {
	big := numbered("a line of some length", 6)
	for _, env := range []string{"TERM=xterm", "TERM=linux"} {
		s, term := openFake(t, vt.Options{}, env)
		s.SetTail(big, nil)
		s.Flush()
		if got, want := term.Stats().Frames == 1, env == "TERM=xterm"; got != want {
			t.Errorf("%s: announced %v, want %v", env, got, want)
		}
		s.SetSync(false)
		s.SetTail(numbered("another line of some length", 6), nil)
		s.Flush()
		if term.Stats().Frames > 1 || term.Modes().Sync {
			t.Errorf("%s: announced although the terminal cannot", env)
		}
	}
}

func TestTailIsCappedAndCut(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 10, Height: 4})
	s.SetTail([]string{"1", "2", "3", "4 is much too wide", "5"}, &Cursor{X: 0, Y: 3})
	s.Flush()
	if want := "3\n4 is much\n5"; term.String() != want {
		t.Errorf("screen %q, want %q", term.String(), want)
	}
	if x, y := term.Cursor(); x != 0 || y != 1 || term.Modes().CursorHidden {
		t.Errorf("cursor at %d,%d", x, y)
	}
	s.SetTail([]string{"1", "2", "3", "4"}, &Cursor{X: 0, Y: 0})
	s.Flush()
	if !term.Modes().CursorHidden {
		t.Error("the cursor is shown, though its row is not")
	}
}

func TestLinesCannotTouchTheTerminal(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 60, Height: 10})
	before := term.Modes()
	evil := []string{
		"a\x1b[2Jb", "a\x1b]0;title\ab", "a\x1b[?1049hb", "a\rb", "a\bb", "a\x1b[>4;0mb", "a\u009b2Jb",
		"a\x9b2Jb", "a\x1b[31", "a\x1bcb", "a\x1bP1$r\x1b\\b", "a\x00\x07b", "a\xffb", "a\x1b[3;7$zb", "a\x1b[?4mb",
	}
	s.Print(evil...)
	s.SetTail(evil, nil)
	s.Flush()
	want := []string{
		"ab", "ab", "ab", "ab", "ab", "ab", "a2Jb", "a\uFFFDb", "a", "ab", "ab", "ab", "a\uFFFDb", "ab", "ab",
	}
	if diff := cmp.Diff(want, term.History()[:len(want)]); diff != "" {
		t.Error(diff)
	}
	before.CursorHidden = true
	if diff := cmp.Diff(before, term.Modes()); diff != "" {
		t.Error(diff)
	}
	if st := term.Stats(); st.Unknown != nil || st.Title != "" {
		t.Errorf("reached the terminal: %q, title %q", st.Unknown, st.Title)
	}
}

func TestLongLinesAreWrappedInTheirStyle(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 8, Height: 6})
	s.Print("\x1b[31mabcdefgh\x1b[1mijklmnop\x1b[0mqr", "two\nlines", "a\tb")
	s.Flush()
	want := []string{"abcdefgh", "ijklmnop", "qr", "two", "lines", "a", "b"}
	if diff := cmp.Diff(want, term.History()); diff != "" {
		t.Error(diff)
	}
	s, term = openFake(t, vt.Options{Width: 8, Height: 9})
	s.Print("\x1b[31mabcdefgh\x1b[1mijklmnop\x1b[0mqr")
	s.Flush()
	if a, b, c := term.Cell(7, 0).Style, term.Cell(0, 1).Style, term.Cell(0, 2).Style; a != "31" || b != "31;1" || c != "" {
		t.Errorf("styles %q, %q, %q", a, b, c)
	}
}

func TestColors(t *testing.T) {
	const line = "\x1b[1m\x1b[38;2;255;0;0mx\x1b[39m\x1b[4my"
	tests := []struct {
		env  string
		x, y string
	}{
		{"COLORTERM=truecolor", "1;38;2;255;0;0", "1;4"},
		{"COLORTERM=", "1;38;5;196", "1;4"},
		{"NO_COLOR=1", "1", "1;4"},
		{"NO_COLOR=yes", "1", "1;4"},
	}
	for _, tt := range tests {
		s, term := openFake(t, vt.Options{}, tt.env)
		s.SetTail([]string{line}, nil)
		s.Flush()
		if x, y := term.Cell(0, 0).Style, term.Cell(1, 0).Style; x != tt.x || y != tt.y {
			t.Errorf("%s: styles %q, %q, want %q, %q", tt.env, x, y, tt.x, tt.y)
		}
		if want := strings.HasPrefix(tt.env, "NO"); (s.Profile() < colorprofile.ANSI) != want {
			t.Errorf("%s: profile %v", tt.env, s.Profile())
		}
	}
}

func TestAlternateScreen(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 20, Height: 5})
	s.Print("finished")
	s.SetTail([]string{"> x"}, &Cursor{X: 3})
	s.Flush()
	s.SetAlt(true)
	s.Print("while away")
	s.SetTail(numbered("diff", 5), nil)
	s.Flush()
	if m := term.Modes(); !m.AltScreen || m.KittyKeys != 5 || term.String() != strings.Join(numbered("diff", 5), "\n") {
		t.Errorf("alternate screen: %+v\n%s", m, term.String())
	}
	s.SetTail(append(numbered("diff", 3), "end"), nil)
	s.Flush()
	term.Resize(10, 4)
	s.Resize(10, 4)
	s.Flush()
	if want := "diff 0\ndiff 1\ndiff 2\nend"; term.String() != want {
		t.Errorf("resized: %q, want %q", term.String(), want)
	}
	s.SetAlt(false)
	s.SetTail([]string{"> x"}, &Cursor{X: 3})
	s.Flush()
	want := []string{"finished", "while away", "> x"}
	if diff := cmp.Diff(want, term.History()); diff != "" || term.Modes().AltScreen {
		t.Errorf("back:\n%s", diff)
	}
	s.SetAlt(true)
	s.Flush()
	if err := s.Close(); err != nil || term.Modes() != (vt.Modes{}) {
		t.Errorf("closed in the alternate screen: %v, %+v", err, term.Modes())
	}
}

func TestSuspendAndResume(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 20, Height: 5})
	s.Print("one")
	s.SetTail([]string{"> x", "status"}, &Cursor{X: 3})
	s.Flush()
	if err := s.Suspend(); err != nil || term.isRaw || term.Modes() != (vt.Modes{}) || term.String() != "one" {
		t.Fatalf("suspended: %v, %+v, %q", err, term.Modes(), term.String())
	}
	s.Print("two")
	s.Flush()
	if _, err := term.Terminal.Write([]byte("editor was here\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(); err != nil || !term.isRaw || !term.Modes().BracketedPaste {
		t.Fatalf("resumed: %v, %+v", err, term.Modes())
	}
	s.Flush()
	want := []string{"one", "editor was here", "two", "> x", "status"}
	if diff := cmp.Diff(want, term.History()); diff != "" {
		t.Error(diff)
	}
}

func TestClearKeepsTheScrollback(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 20, Height: 5})
	s.Print("one", "two")
	s.SetTail([]string{"> x"}, nil)
	s.Flush()
	s.Clear()
	s.Flush()
	if diff := cmp.Diff([]string{"one", "two"}, term.Scrollback()); diff != "" || term.String() != "> x" {
		t.Errorf("screen %q, scrollback:\n%s", term.String(), diff)
	}
}

func TestAWriteThatFailsEndsDrawing(t *testing.T) {
	s, term := openFake(t, vt.Options{})
	s.SetTail([]string{"x"}, nil)
	term.fail = errors.New("gone")
	s.Flush()
	s.Flush()
	if !errors.Is(s.Err(), term.fail) {
		t.Errorf("got %v", s.Err())
	}
}

// The terminal may disagree about the width of a character: all rows keep their places, and
// each looks as it would alone.
func TestWidthsThatTerminalsDisagreeAbout(t *testing.T) {
	tests := []struct {
		opt   vt.Options
		piece string
	}{
		{vt.Options{Width: 10, Height: 8, NarrowEmoji: true}, "⚠️"},
		{vt.Options{Width: 10, Height: 8, WideLines: true}, "─"},
	}
	for _, tt := range tests {
		s, term := openFake(t, tt.opt)
		var p preparer
		for i := range 40 {
			first := strings.Repeat(tt.piece, i%7) + strings.Repeat("xy", i%3)
			s.SetTail([]string{first, "second", "third"}, &Cursor{X: i % 6, Y: 1})
			s.Flush()
			alone := vt.New(tt.opt)
			fmt.Fprint(alone, "\x1b[?7l", p.row(first, 10).text)
			if diff := cmp.Diff([]string{alone.Screen()[0], "second", "third"}, term.Screen()[:3]); diff != "" {
				t.Fatalf("%+v, step %d:\n%s", tt.opt, i, diff)
			}
		}
		s.Print(strings.Repeat(tt.piece, 9))
		s.Flush()
		if got := term.History(); got[len(got)-1] != "third" || got[len(got)-2] != "second" {
			t.Errorf("%+v: %q", tt.opt, got)
		}
	}
}

// A terminal that cuts rows loses text when it gets narrower and wider again, although its
// size is the same as before.
func TestCutRowsAreDrawnAgain(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 20, Height: 8, Rewrap: vt.RewrapNone}, "XTERM_VERSION=390")
	s.SetTail([]string{"a rather long row", "> prompt"}, &Cursor{X: 3, Y: 1})
	s.Flush()
	term.Resize(5, 8)
	term.Resize(20, 8)
	if term.String() != "a rat\n> pro" {
		t.Fatalf("the terminal did not cut: %q", term.String())
	}
	s.Resize(20, 8)
	s.Flush()
	if want := "a rather long row\n> prompt"; term.String() != want {
		t.Errorf("screen %q, want %q", term.String(), want)
	}
}

// script uses a screen at random; model is the expected terminal.
type script struct {
	*rapid.T
	s    *Screen
	term *fakeTTY
	done []string
	tail []string
}

var alphabet = []rune("ab ─│xyz漢字éß👍🏽\u0301\u200dทำหिक\u094d\ufe0f🇩")

func (sc *script) line(label string, width int) string {
	n := rapid.IntRange(0, width).Draw(sc.T, label+" length")
	var b strings.Builder
	for range n {
		r := rapid.SampledFrom(alphabet).Draw(sc.T, label)
		b.WriteRune(r)
		if r == 'x' {
			b.WriteString("\x1b[1;32m")
		}
		if r == 'y' {
			b.WriteString("\x1b[0m")
		}
	}
	return b.String()
}

// check compares the terminal with the model: every finished row once and in order, then the
// live region, and nothing else.
func (sc *script) check() {
	want := append(append([]string{}, sc.done...), sc.tail...)
	got := sc.term.History()
	for len(want) > 0 && want[len(want)-1] == "" {
		want = want[:len(want)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		sc.Fatalf("terminal (-want +got):\n%s", diff)
	}
	if u := sc.term.Stats().Unknown; u != nil {
		sc.Fatalf("unknown sequences: %q", u)
	}
	if rows := sc.term.Stats().Touched; rows != nil {
		sc.Fatalf("finished rows were changed: %q", rows)
	}
	if sc.term.Modes().NoWrap || sc.term.Modes().Sync || sc.term.Modes().Style != "" {
		sc.Fatalf("left behind: %+v", sc.term.Modes())
	}
}

// rendered returns the visible text of rows, using the row maker (tested elsewhere).
func rendered(rows []row, height int, opt vt.Options) []string {
	term := vt.New(vt.Options{Width: 600, Height: max(1, height), NarrowEmoji: opt.NarrowEmoji})
	for i, r := range rows {
		fmt.Fprintf(term, "\x1b[%d;1H%s", i+1, r.text)
	}
	return term.Screen()[:len(rows)]
}

// columnOf returns the column that a terminal has after the text before at.
func columnOf(rows []row, at *Cursor, opt vt.Options) int {
	x := min(at.X, opt.Width-1)
	if len(rows) == 0 {
		return x
	}
	text := rows[min(at.Y, len(rows)-1)].text
	n, w := cells.Fit(text, x)
	term := vt.New(opt)
	fmt.Fprint(term, text[:n])
	col, _ := term.Cursor()
	return col + x - w
}

func TestRandomFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width, height := rapid.IntRange(2, 40).Draw(rt, "width"), rapid.IntRange(1, 12).Draw(rt, "height")
		opt := vt.Options{Width: width, Height: height, NarrowEmoji: rapid.Bool().Draw(rt, "narrow")}
		s, term := openFake(rt, opt)
		sc := &script{T: rt, s: s, term: term}
		var p preparer
		p.profile = s.Profile()
		for range rapid.IntRange(1, 12).Draw(rt, "frames") {
			var lines []string
			for range rapid.IntRange(0, 4).Draw(rt, "prints") {
				lines = append(lines, sc.line("print", 50))
			}
			var tail []string
			for range rapid.IntRange(0, 8).Draw(rt, "rows") {
				tail = append(tail, sc.line("tail", 50))
			}
			if rapid.Bool().Draw(rt, "promote") && len(sc.tail) > 0 {
				lines = append([]string{sc.tail[0]}, lines...)
			}
			var cursor *Cursor
			if rapid.Bool().Draw(rt, "cursor") {
				cursor = &Cursor{X: rapid.IntRange(0, 60).Draw(rt, "x"), Y: rapid.IntRange(0, 9).Draw(rt, "y")}
			}
			s.Print(lines...)
			s.SetTail(tail, cursor)
			s.Flush()
			rows := p.finished(lines, width)
			sc.done = append(sc.done, rendered(rows, len(rows), opt)...)
			shown, at := fit(p.tail(tail, width), cursor, height, false)
			sc.tail = rendered(shown, len(shown), opt)
			sc.check()
			if x, _ := term.Cursor(); at != nil && x != columnOf(shown, at, opt) || term.Modes().CursorHidden != (at == nil) {
				rt.Fatalf("cursor at column %d, hidden %v; want %+v", x, term.Modes().CursorHidden, at)
			}
		}
	})
}

// In a storm of resizes, no finished line is lost or repeated, and the live region appears
// once, provided that its rows fit the screen. If the storm is faster than the frames, rows
// of the live region may remain, but still no line is lost.
func TestRandomResizes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opt := vt.Options{
			Width: rapid.IntRange(20, 60).Draw(rt, "width"), Height: rapid.IntRange(16, 30).Draw(rt, "height"),
			Rewrap: rapid.SampledFrom([]vt.Rewrap{vt.RewrapAll, vt.RewrapOthers, vt.RewrapNone}).Draw(rt, "rewrap"),
		}
		env := map[vt.Rewrap]string{vt.RewrapAll: "A=", vt.RewrapOthers: "TERM_PROGRAM=vscode", vt.RewrapNone: "XTERM_VERSION=390"}
		s, term := openFake(rt, opt, env[opt.Rewrap])
		term.hurry = rapid.Bool().Draw(rt, "hurry")
		n := 0
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			for range rapid.IntRange(0, 3).Draw(rt, "prints") {
				s.Print(fmt.Sprintf("line-%d", n))
				n++
			}
			w, _ := s.Size()
			long := strings.Repeat("=", w)
			tail := []string{long, "> " + long[:rapid.IntRange(0, w-2).Draw(rt, "prompt")], long[:w/2]}
			cursor := &Cursor{X: min(w-1, len(tail[1])), Y: 1}
			if rapid.Bool().Draw(rt, "hidden") {
				cursor = nil
			}
			s.SetTail(tail, cursor)
			s.Flush()
			for range rapid.IntRange(0, 3).Draw(rt, "storm") {
				term.Resize(rapid.IntRange(14, 60).Draw(rt, "w"), rapid.IntRange(16, 30).Draw(rt, "h"))
			}
			w, h := s.Size()
			if rapid.Bool().Draw(rt, "told") {
				s.Resize(w, h)
			}
		}
		w, h := s.Size()
		s.Resize(w, h)
		s.SetTail([]string{"> prompt", "status"}, &Cursor{X: 3})
		s.Flush()
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("line-%d", i)
		}
		want := append(slices.Clone(lines), "> prompt", "status")
		got := slices.DeleteFunc(term.History(), func(l string) bool { return l == "" })
		if term.hurry { // a line may follow the rest of a row
			want = lines
			got = append([]string{}, regexp.MustCompile(`line-\d+`).FindAllString(strings.Join(got, ""), -1)...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%v: (-want +got):\n%s", opt, diff)
		}
		if rows := term.Stats().Touched; rows != nil {
			rt.Fatalf("%v: finished rows were changed: %q", opt, rows)
		}
	})
}

// TestFinishedLinesAreWholeWhenTheSizeComesLate: a row of the live region, or its beginning, was
// drawn before the program knew that the terminal is narrower and cuts it. Once finished, it is
// there to its end. (tmux tells the size up to a quarter of a second later.)
func TestFinishedLinesAreWholeWhenTheSizeComesLate(t *testing.T) {
	const line = "A line of sixty columns, which does not fit on the terminal."
	for _, drawn := range []string{line, line[:40], line[:6], ""} {
		s, term := openFake(t, vt.Options{Width: 60, Height: 20})
		s.SetTail([]string{"> "}, nil)
		s.Flush()
		term.late = 60
		term.Resize(33, 20)
		s.SetTail([]string{drawn, "> "}, nil)
		s.Flush()
		if !strings.Contains(term.String(), drawn[:min(len(drawn), 32)]) || len(drawn) > 33 && strings.Contains(term.String(), drawn) {
			t.Fatalf("it was not cut:\n%s", term.String())
		}
		s.Print(line)
		s.SetTail([]string{"> "}, nil)
		s.Flush()
		term.late = 0
		s.Resize(33, 20)
		s.Flush()
		if all := strings.Join(term.History(), ""); strings.Count(all, line) != 1 {
			t.Errorf("after %q was drawn: %q", drawn, term.History())
		}
	}
}

// A finished line printed while the terminal is narrow for a moment, which the owner does not know
// yet, becomes one row again.
func TestFinishedLinesJoinAgain(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 40, Height: 20})
	s.SetTail([]string{"> "}, nil)
	s.Flush()
	term.Resize(1, 1)
	s.Print("a line of the conversation")
	s.Flush()
	if !strings.Contains(strings.Join(term.History(), ""), "conversation") {
		t.Fatalf("the line was not printed: %q", term.History())
	}
	term.Resize(40, 20)
	s.Resize(40, 20)
	s.Flush()
	if all := term.History(); !slices.Contains(all, "a line of the conversation") {
		t.Errorf("the line stays broken: %q", all)
	}
}

func TestAnySizeIsSurvived(t *testing.T) {
	s, term := openFake(t, vt.Options{})
	for w := 1; w <= 500; w += 7 {
		for _, h := range []int{1, 2, 3, 50, 200} {
			term.Resize(w, h)
			s.Resize(w, h)
			s.Print("printed 漢字 " + strings.Repeat("x", w))
			s.SetTail([]string{strings.Repeat("=", 80), "> 漢字👩‍💻", "status"}, &Cursor{X: 5, Y: 1})
			s.Flush()
		}
	}
	if u := term.Stats().Unknown; u != nil || s.Err() != nil {
		t.Errorf("unknown sequences %q, error %v", u, s.Err())
	}
}

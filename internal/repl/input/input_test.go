package input

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
)

// press presses keys separated by blanks; 'text' in quotes is typed, with _ for a blank.
func press(e *Editor, keys string) Action {
	var action Action
	for k := range strings.FieldsSeq(keys) {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range strings.ReplaceAll(strings.TrimSuffix(text, "'"), "_", " ") {
				action = e.Handle(keystest.Key(string(r)))
			}
			continue
		}
		action = e.Handle(keystest.Key(k))
	}
	return action
}

// state returns the text with a bar for the cursor.
func state(e *Editor) string {
	t := &e.text
	return edit.Plain(t.Gs[:t.At]) + "|" + edit.Plain(t.Gs[t.At:])
}

func TestKeys(t *testing.T) {
	tests := []struct {
		name, keys, want string
		action           Action
	}{
		{"typing", "'hello'", "hello|", Handled},
		{"enter submits", "'hi' enter", "hi|", Submit},
		{"an empty prompt is submitted too", "enter", "|", Submit},
		{"shift+enter", "'a' shift+enter 'b'", "a\nb|", Handled},
		{"ctrl+j", "'a' ctrl+j 'b'", "a\nb|", Handled},
		{"alt+enter", "'a' alt+enter 'b'", "a\nb|", Handled},
		{"backslash enter", "'a' \\ enter 'b'", "a\nb|", Handled},
		{"moving", "'abc' left left 'x' right 'y'", "axby|c", Handled},
		{"not beyond the ends", "'a' right right left left left 'x'", "x|a", Handled},
		{"line ends", "'one' ctrl+j 'two' home 'x' end 'y'", "one\nxtwoy|", Handled},
		{"text ends", "'one' ctrl+j 'two' ctrl+home 'x'", "x|one\ntwo", Handled},
		{"words", "'one_two,three' alt+b alt+b 'x'", "one x|two,three", Handled},
		{"words forward", "'one_two' home ctrl+right 'x'", "onex| two", Handled},
		{"backspace", "'abc' backspace", "ab|", Handled},
		{"backspace on nothing", "backspace", "|", Handled},
		{"delete", "'abc' home delete", "|bc", Handled},
		{"ctrl+d deletes", "'abc' home ctrl+d", "|bc", Handled},
		{"ctrl+d on nothing is the caller's", "ctrl+d", "|", Ignored},
		{"kill to the end, yank", "'abcd' left left ctrl+k home ctrl+y", "cd|ab", Handled},
		{"kill joins lines", "'a' ctrl+j 'b' ctrl+home right ctrl+k", "a|b", Handled},
		{"kill to the start", "'a' ctrl+j 'bc' ctrl+u", "a\n|", Handled},
		{"kill at the start joins lines", "'a' ctrl+j 'bc' ctrl+u ctrl+u", "a|", Handled},
		{"kill a word", "'one_two-three' ctrl+w", "one |", Handled},
		{"kill a smaller word", "'one_two-three' alt+backspace", "one two-|", Handled},
		{"kill forward", "'one_two' home alt+d", "| two", Handled},
		{"kills add up", "'one_two_three' ctrl+w ctrl+w 'x' ctrl+y", "one xtwo three|", Handled},
		{"kills apart do not", "'one_two' ctrl+w left ctrl+k ctrl+y", "one |", Handled},
		{"undo goes by words", "'one_two' ctrl+_ ctrl+y", "one|", Handled},
		{"undo all", "'one' ctrl+j 'two' ctrl+_ ctrl+_ ctrl+_ ctrl+_ ctrl+_", "|", Handled},
		{"undo a kill", "'one_two' ctrl+u ctrl+_", "one two|", Handled},
		{"redo", "'one_two' ctrl+_ ctrl+_ alt+/ alt+/", "one two|", Handled},
		{"redo ends with a change", "'one' ctrl+j 'two' ctrl+_ 'x' alt+/", "one\nx|", Handled},
		{"older cuts", "'one_two' ctrl+w left ctrl+u 'x' ctrl+y alt+y", "xtwo| ", Handled},
		{"… and round", "'one_two' ctrl+w left ctrl+u 'x' ctrl+y alt+y alt+y", "xone| ", Handled},
		{"older cuts only after a yank", "'one_two' ctrl+w left ctrl+u ctrl+y 'x' alt+y", "onex| ", Handled},
		{"unknown keys are the caller's", "'a' f5", "a|", Ignored},
		{"esc is the caller's", "'a' esc", "a|", Ignored},
		{"shift+tab is the caller's", "'a' shift+tab", "a|", Ignored},
		{"up without history", "'a' up", "a|", Handled},
		{"down at the end is the caller's", "'a' down", "a|", Ignored},
		{"up and down keep the column", "'abcd' ctrl+j 'x' ctrl+j 'abcd' up up 'y'", "abcdy|\nx\nabcd", Handled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := New(Options{})
			action := press(e, tt.keys)
			if got := state(e); got != tt.want || action != tt.action {
				t.Errorf("%q, action %d; want %q, %d", got, action, tt.want, tt.action)
			}
		})
	}
}

func TestUndoGoesByWords(t *testing.T) {
	e := New(Options{})
	press(e, "'one_two' ctrl+_")
	if got := state(e); got != "one|" {
		t.Errorf("got %q", got)
	}
}

func TestAltGrTypesAndCtrlDoesNot(t *testing.T) {
	e := New(Options{})
	e.Handle(tea.KeyPressMsg{Code: '@', Text: "@", Mod: tea.ModCtrl | tea.ModAlt})
	e.Handle(tea.KeyPressMsg{Code: 'x', Text: "x", Mod: tea.ModCtrl})
	e.Handle(tea.KeyPressMsg{Code: tea.KeyExtended, Text: "tab"}) // a word from an input method
	e.Handle(tea.KeyPressMsg{Code: 'z', Text: "\x1b[2J"})
	if got := e.Text(); got != "@tab" {
		t.Errorf("got %q", got)
	}
}

func TestClustersAreOneStep(t *testing.T) {
	for _, cluster := range []string{"é", "e\u0301", "👩‍💻", "🇩🇪", "⚠️", "한"} {
		e := New(Options{})
		for _, r := range "a" + cluster { // from a terminal without grapheme clusters
			e.Handle(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		press(e, "left 'x'")
		if got, want := state(e), "ax|"+cluster; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		press(e, "right backspace")
		if got := e.Text(); got != "ax" {
			t.Errorf("%q left over of %q", got, cluster)
		}
	}
}

func TestWhatIsShown(t *testing.T) {
	e := New(Options{NoColor: true})
	e.Paste("a\x1b[2Jb\u202ec\td\u200de\x00\u009b")
	lines, x, y := e.View(60, 5)
	if want := `a[2Jb\u{202e}c    d\u{200d}e`; lines[0] != want || x != cells.Width(want) || y != 0 {
		t.Errorf("%q, cursor %d,%d", lines[0], x, y)
	}
	if got, want := e.Text(), "a[2Jb\u202ec\td\u200de"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestPastes(t *testing.T) {
	long := strings.Repeat("a line of it\r\n", 2000)
	e := New(Options{})
	press(e, "'see_'")
	e.Paste(long)
	press(e, "'_and_'")
	e.Paste(strings.Repeat("漢", 2001))
	e.Paste("short\rone")
	lines, _, _ := e.View(100, 10)
	want := []string{
		"see \x1b[90m[pasted 2,000 lines #1]\x1b[m and \x1b[90m[pasted 2,001 characters #2]\x1b[mshort", "one",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	text := "see " + strings.Repeat("a line of it\n", 2000) + " and " + strings.Repeat("漢", 2001) + "short\none"
	if e.Text() != text {
		t.Error("the text is not what was pasted")
	}
	for range "short\none" {
		press(e, "backspace")
	}
	press(e, "backspace left left left left left backspace")
	if got := e.Text(); got != "see  and " {
		t.Errorf("after deleting the placeholders: %q", got)
	}
	press(e, "ctrl+_")
	if got, want := e.Take(), "see "+strings.Repeat("a line of it\n", 2000)+" and "; got != want {
		t.Errorf("undo brought back %d bytes, want %d", len(got), len(want))
	}
	if !e.Empty() {
		t.Error("not empty after Take")
	}
	e.Paste(long)
	if lines, _, _ := e.View(100, 1); !strings.Contains(lines[0], "#1]") {
		t.Errorf("numbering goes on: %q", lines[0])
	}
}

func TestTenMegabytesAreShownSmall(t *testing.T) {
	e := New(Options{})
	text := strings.Repeat("0123456789 the quick brown fox 漢字\n", 10<<20/40)
	e.Paste(text)
	press(e, "'x' left left right right backspace")
	lines, _, _ := e.View(80, 10)
	if len(lines) != 1 || len(lines[0]) > 100 || e.Take() != text {
		t.Errorf("%d lines of view", len(lines))
	}
}

func TestInsertPrependsText(t *testing.T) {
	e := New(Options{})
	e.Insert("queued")
	if got := state(e); got != "queued|" {
		t.Errorf("on an empty prompt: %q", got)
	}
	e.Reset()
	press(e, "'abc' left")
	e.Insert("queued\nlines")
	if got := state(e); got != "queued\nlines\nab|c" {
		t.Errorf("got %q", got)
	}
}

func TestInsertWord(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"", "", "@a.txt @b.txt |"},
		{"see", "", "see @a.txt @b.txt |"},
		{"see ", "", "see @a.txt @b.txt |"},
		{"see now", "left left left left", "see @a.txt @b.txt| now"},
		{"now", "left left left", "@a.txt @b.txt |now"},
	} {
		e := New(Options{})
		e.Paste(c.text)
		press(e, c.keys)
		e.InsertWord("@a.txt")
		e.InsertWord("@b.txt")
		if got := state(e); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// Typed text is put back as typed, and a very long text folded.
func TestInsertShowsTypedText(t *testing.T) {
	e := New(Options{})
	typed := strings.TrimSpace(strings.Repeat("queued\n\n", 20))
	e.Insert(typed)
	if lines, _, _ := e.View(80, 100); len(lines) != 39 || e.Text() != typed {
		t.Errorf("%d lines: %q", len(lines), lines[0])
	}
	e.Reset()
	long := strings.Repeat("long ", 1000)
	e.Insert(long)
	if lines, _, _ := e.View(80, 100); len(lines) != 1 || e.Take() != long {
		t.Errorf("%d lines of a long text", len(lines))
	}
}

func TestView(t *testing.T) {
	tests := []struct {
		name, text string
		width, max int
		want       []string
		x, y       int
	}{
		{"empty", "", 20, 5, []string{""}, 0, 0},
		{"one row", "hello", 20, 5, []string{"hello"}, 5, 0},
		{"breaks behind blanks", "hello big world", 11, 5, []string{"hello big ", "world"}, 5, 1},
		{"breaks long words", "abcdefghij", 6, 5, []string{"abcde", "fghij"}, 5, 1},
		{"wide characters", "漢字漢字", 6, 5, []string{"漢字", "漢字"}, 4, 1},
		{"empty rows", "a\n\nb\n", 6, 5, []string{"a", "", "b", ""}, 0, 3},
		{"only around the cursor", "1\n2\n3\n4\n5", 6, 3, []string{"3", "4", "5"}, 1, 2},
		{"narrower than a character", "漢a", 1, 5, []string{"", "a"}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := New(Options{})
			e.Paste(tt.text)
			lines, x, y := e.View(tt.width, tt.max)
			if diff := cmp.Diff(tt.want, lines); diff != "" || x != tt.x || y != tt.y {
				t.Errorf("cursor %d,%d, want %d,%d; lines:\n%s", x, y, tt.x, tt.y, diff)
			}
		})
	}
}

func TestTheViewFollowsTheCursor(t *testing.T) {
	e := New(Options{})
	e.Paste("1\n2\n3\n4\n5\n6")
	e.View(20, 3)
	press(e, "up up up")
	if lines, _, y := e.View(20, 3); y != 0 || lines[0] != "3" {
		t.Errorf("up: %q, row %d", lines, y)
	}
	press(e, "up")
	if lines, _, y := e.View(20, 3); y != 0 || lines[0] != "2" {
		t.Errorf("above: %q, row %d", lines, y)
	}
	press(e, "down down")
	if lines, _, y := e.View(20, 3); y != 2 || lines[0] != "2" {
		t.Errorf("down: %q, row %d", lines, y)
	}
}

func TestColors(t *testing.T) {
	for want, noColor := range map[string]bool{"\x1b[1;94m": false, "\x1b[1m": true} {
		e := New(Options{Commands: fixed([]Command{{Name: "/help"}}), NoColor: noColor})
		press(e, "/")
		if lines, _, _ := e.View(20, 5); !strings.HasPrefix(lines[1], want) {
			t.Errorf("%q, want %q", lines[1], want)
		}
	}
}

// Whatever is typed, at whatever width: the text matches a simple model, no row is too wide,
// and the cursor is at the end of the text before it.
func TestRandomEditing(t *testing.T) {
	keys := []string{
		"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+y", "alt+y", "ctrl+_", "alt+/",
		"alt+b", "alt+f", "alt+d", "alt+backspace", "shift+enter", "a", " ", "漢", "\u0301", "👩", "\u200d", "💻", "\\", "enter", "@", "/", "tab", "esc", "ctrl+r", "ctrl+s",
	}
	rapid.Check(t, func(t *rapid.T) {
		e := New(Options{
			Commands: fixed([]Command{{Name: "/help"}, {Name: "/model", Args: "NAME"}}),
			Files:    lookup([]string{"a.go", "b/", "b/a.go", "c d/e.go"}),
		})
		for range rapid.IntRange(1, 60).Draw(t, "keys") {
			if k := rapid.SampledFrom(keys).Draw(t, "key"); e.Handle(keystest.Key(k)) == Submit {
				e.Take()
			}
			if rapid.IntRange(0, 20).Draw(t, "paste") == 0 {
				e.Paste(rapid.SampledFrom([]string{"x", "two\nlines", strings.Repeat("l\n", 20)}).Draw(t, "pasted"))
			}
			width, maxLines := rapid.IntRange(1, 30).Draw(t, "width"), rapid.IntRange(1, 6).Draw(t, "max")
			lines, x, y := e.View(width, maxLines)
			if y < 0 || y >= len(lines) || x < 0 || x >= width || len(lines) > 2*maxLines {
				t.Fatalf("cursor at %d,%d of %d lines, width %d", x, y, len(lines), width)
			}
			for _, l := range lines {
				if cells.Width(l) > width {
					t.Fatalf("%q is wider than %d", l, width)
				}
			}
			check(t, e)
		}
	})
}

// check checks the invariants of a text.
func check(t *rapid.T, e *Editor) {
	b := &e.text.Buffer
	if b.At < 0 || b.At > len(b.Gs) {
		t.Fatalf("cursor %d of %d", b.At, len(b.Gs))
	}
	for _, g := range b.Gs {
		if g.Text == "" || g.Width != cells.Width(g.Show) && !g.Folded {
			t.Fatalf("glyph %+v", g)
		}
	}
	if !strings.ContainsFunc(e.Text(), func(r rune) bool { return r == '[' }) && !hasFolded(b.Gs) {
		if whole := edit.Glyphs(e.Text()); len(whole) != len(b.Gs) {
			t.Fatalf("%d glyphs for %q, typed at once %d", len(b.Gs), e.Text(), len(whole))
		}
	}
}

func hasFolded(gs []edit.Glyph) bool {
	for _, g := range gs {
		if g.Folded {
			return true
		}
	}
	return false
}

func BenchmarkKey(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := New(Options{})
			e.Paste(strings.Repeat("ab cd ", n/6))
			for b.Loop() {
				e.Handle(keystest.Key("x"))
				e.View(120, 10)
				e.Handle(keystest.Key("backspace"))
				e.View(120, 10)
			}
		})
	}
}

// The sign marks a command line.
func TestSign(t *testing.T) {
	e := New(Options{Shell: true})
	for keys, want := range map[string]string{"'!ls'": "$ ", "'a_!'": "❯ ", "'_!ls'": "❯ ", "'/help'": "❯ "} {
		e.Reset()
		if press(e, keys); e.Sign() != want {
			t.Errorf("%s: %q, want %q", keys, e.Sign(), want)
		}
	}
}

// Text from an external editor replaces the present text; undo brings it back.
func TestReplace(t *testing.T) {
	e := New(Options{})
	e.Paste(strings.Repeat("line\n", 20))
	e.Replace("so: " + e.Source() + "\x1b[2J")
	if got, want := e.Text(), "so: "+strings.Repeat("line\n", 20)+"[2J"; got != want {
		t.Errorf("%q", got)
	}
	press(e, "ctrl+_")
	if e.Source() != "[pasted 20 lines #1]" {
		t.Errorf("undone to %q", e.Source())
	}
}

// This ends only if the cost of a key is at most linear in the text.
func TestALongLineIsTyped(t *testing.T) {
	e := New(Options{})
	text := strings.Repeat("ten letters", 1000)
	for _, r := range text {
		e.Handle(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if e.Text() != text {
		t.Errorf("%d characters of %d", len(e.Text()), len(text))
	}
}

// album attaches paths that end in .png.
type album struct{}

func (album) Attach(path string) (string, bool) {
	return "[image 1: " + path + " 1×1]", strings.HasSuffix(path, ".png")
}

// A pasted path becomes a placeholder at once, a typed one when it is submitted; the history
// keeps the typed text.
func TestImages(t *testing.T) {
	e := New(Options{Images: album{}, NoColor: true})
	press(e, "'see_'")
	e.Paste("/a.png")
	press(e, "'_and_@b.png,_/c.png'")
	lines, _, _ := e.View(80, 5)
	if want := "see [image 1: /a.png 1×1] and @b.png, /c.png"; ansi.Strip(lines[0]) != want {
		t.Errorf("%q", lines[0])
	}
	press(e, "backspace backspace backspace backspace backspace backspace '@d.png'")
	if got, want := e.Take(), "see [image 1: /a.png 1×1] and @b.png, [image 1: @d.png 1×1]"; got != want {
		t.Errorf("%q", got)
	}
	press(e, "up")
	if got, want := e.Text(), "see [image 1: /a.png 1×1] and @b.png, @d.png"; got != want {
		t.Errorf("recalled %q", got)
	}
}

// In a command, a path is an argument, not an image.
func TestArgumentsAreNotImages(t *testing.T) {
	e := New(Options{Images: album{}, Shell: true, Commands: fixed(commands)})
	for text, want := range map[string]string{
		"!convert /a.png": "!convert /a.png /b.png", "/model /a.png": "/model /a.png /b.png", "/a.png": "[image 1: /a.png 1×1] [image 1: /b.png 1×1]",
	} {
		e.Reset()
		for _, r := range text + " " {
			e.Handle(keystest.Key(string(r)))
		}
		e.Paste("/b.png")
		if got := e.Take(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// Undo is bounded, and redo reverts it.
func TestUndoIsBounded(t *testing.T) {
	var e Text
	for range maxUndo + 50 {
		e.Edit(Other, func() { e.Insert(Newline) })
	}
	for range maxUndo + 100 {
		e.Undo()
	}
	if got := len(e.Gs); got != 50 {
		t.Errorf("%d left, want 50", got)
	}
	for range maxUndo + 100 {
		e.Redo()
	}
	if got := len(e.Gs); got != maxUndo+50 {
		t.Errorf("%d after redo, want %d", got, maxUndo+50)
	}
}

func TestTheRingIsBounded(t *testing.T) {
	var e Text
	for i := range maxCuts + 5 {
		e.Type(strings.Repeat("x", i+1))
		e.Key(keys.DeleteLineLeft)
	}
	e.Key(keys.Yank)
	for range maxCuts - 1 {
		e.Key(keys.YankOlder)
	}
	if got := len(e.Gs); got != 6 {
		t.Errorf("the oldest cut has %d characters, want 6", got)
	}
}

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\td":      "a\nb\nc\td",
		"\x1b[31mx\x00\x7f": "[31mx",
		"a\xffb":            "a\uFFFDb",
		"as it is, 漢":       "as it is, 漢",
	} {
		if got := Tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Rows contain every glyph once, in order, and none is too wide.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gs := Glyphs(rapid.StringOf(rapid.SampledFrom([]rune("ab \n漢\te\u0301👩"))).Draw(t, "text"))
		width := rapid.IntRange(1, 12).Draw(t, "width")
		at := 0
		for _, r := range Rows(gs, width) {
			if r.Start != at || r.End < r.Start {
				t.Fatalf("row %v, want one from %d", r, at)
			}
			for at = r.Start; at < r.End; at++ {
				if gs[at].IsNewline() {
					t.Fatalf("a newline within row %v", r)
				}
			}
			if at < len(gs) && gs[at].IsNewline() {
				at++
			}
			line := Draw(gs, r, width, Styles{})
			if w := cells.Width(line); w > max(1, width-1) {
				t.Fatalf("%q is %d wide, of %d", line, w, width)
			}
			if x := Column(gs, r, r.End, width); x >= width {
				t.Fatalf("the cursor is in column %d of %d", x, width)
			}
			if back := Nearest(gs, r, Column(gs, r, r.Start, width)); r.End > r.Start && gs[r.Start].Width > 0 && back != r.Start {
				t.Fatalf("column 0 of row %v is %d", r, back)
			}
		}
		if at != len(gs) {
			t.Fatalf("%d of %d glyphs are in rows", at, len(gs))
		}
	})
}

// The cursor stays in the text, and undoing and redoing everything restores the text.
func TestUndoAndRedo(t *testing.T) {
	actions := []keys.Action{
		keys.Left, keys.LineStart, keys.LineEnd, keys.DeleteLeft, keys.DeleteLineRight, keys.DeleteLineLeft, keys.DeleteBlankLeft, keys.Yank,
		keys.YankOlder, keys.DeleteWordRight, keys.WordLeft,
	}
	rapid.Check(t, func(t *rapid.T) {
		var e Text
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "typed") {
				e.Type(rapid.SampledFrom([]string{"a", " ", "漢", "\u0301", "🇩", "🇪"}).Draw(t, "text"))
			} else {
				e.Key(rapid.SampledFrom(actions).Draw(t, "action"))
			}
			if e.At < 0 || e.At > len(e.Gs) {
				t.Fatalf("cursor %d of %d", e.At, len(e.Gs))
			}
		}
		want := Plain(e.Gs)
		steps := 0
		for len(e.past) > 0 {
			e.Undo()
			steps++
		}
		if len(e.Gs) != 0 {
			t.Fatalf("all undone, but %q is left", Plain(e.Gs))
		}
		for range steps {
			e.Redo()
		}
		if d := cmp.Diff(want, Plain(e.Gs)); d != "" {
			t.Fatal(d)
		}
	})
}

// A text saved by an external editor keeps its placeholders.
func TestSource(t *testing.T) {
	long := strings.Repeat("line\n", 20)
	var e Text
	e.Type("see ")
	e.Put(long)
	e.Put(" and ")
	e.Put(long + "x")
	source := Source(e.Gs)
	if want := "see [pasted 20 lines #1] and [pasted 21 lines #2]"; source != want {
		t.Fatalf("%q, want %q", source, want)
	}
	b := Parse("[pasted 21 lines #2] first, [pasted 20 lines #1], [pasted 9 lines #9]", e.Gs)
	if want := long + "x first, " + long + ", [pasted 9 lines #9]"; Plain(b.Gs) != want || b.At != len(b.Gs) {
		t.Errorf("read back as %.80q", Plain(b.Gs))
	}
}

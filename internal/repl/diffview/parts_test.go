package diffview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

func TestRevealed(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want []string
	}{
		{"plain", nil},
		{"a\u202eb", []string{`\u{202e}`}},
		{`\u{202e}`, nil},
		{"\\u{202e}\u202e\x1b", []string{`\u{202e}`, `\u{1b}`}},
		{"\xff世\u200b", []string{`\xff`, `\u{200b}`}},
		{"\ufffd", nil},
	} {
		text := sanitize.Text(tt.raw)
		var got []string
		for _, s := range revealed(tt.raw, text) {
			got = append(got, text[s.Start:s.End])
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%q: %s", tt.raw, d)
		}
	}
}

func TestTellingBlanks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		changed    []diff.Span
		op         diff.Op
		want       []diff.Span
	}{
		{"none", "a b", nil, diff.Insert, nil},
		{"at the end", "a \t", nil, diff.Insert, []diff.Span{{Start: 1, End: 3}}},
		{"at the end of a removed line", "a ", nil, diff.Delete, nil},
		{"nothing else", " \t", nil, diff.Insert, []diff.Span{{Start: 0, End: 2}}},
		{"changed", "\ta", []diff.Span{{Start: 0, End: 1}}, diff.Delete, []diff.Span{{Start: 0, End: 1}}},
		{"changed with a word", " a", []diff.Span{{Start: 0, End: 2}}, diff.Insert, nil},
		{"both", "a  ", []diff.Span{{Start: 1, End: 2}}, diff.Insert, []diff.Span{{Start: 1, End: 3}}},
		{"changed before the end", "a b ", []diff.Span{{Start: 1, End: 2}}, diff.Insert, []diff.Span{{Start: 1, End: 2}, {Start: 3, End: 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tellingBlanks(tt.text, tt.changed, tt.op)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	for _, tt := range []struct {
		spans []string
		show  []diff.Span
		want  string
	}{
		{[]string{"a", "\tb"}, nil, "a   b"},
		{[]string{"\t", "\t"}, []diff.Span{{Start: 1, End: 2}}, "    →   "},
		{[]string{"a b", " c "}, []diff.Span{{Start: 1, End: 2}, {Start: 5, End: 6}}, "a·b c·"},
		{[]string{"世\t", "x"}, nil, "世  x"},
	} {
		var spans []paint.Span
		for _, s := range tt.spans {
			spans = append(spans, paint.Span{Text: s})
		}
		if got := paint.Line(true, append(expand(spans, tt.show), paint.Span{Text: "|"})...); got != tt.want+"|" {
			t.Errorf("%q: %q, want %q", tt.spans, got, tt.want)
		}
	}
}

// Emphasis keeps the text and covers the given ranges.
func TestEmphasize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab c世")), 1, 30, -1).Draw(t, "text")
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		a := rapid.IntRange(0, len(text)).Draw(t, "a")
		b := rapid.IntRange(a, len(text)).Draw(t, "b")
		mark := paint.Style{Attr: paint.Reverse}
		spans := emphasize([]paint.Span{{Text: text[:cut]}, {Text: text[cut:]}}, []diff.Span{{Start: a, End: b}}, mark)
		at := 0
		for _, s := range spans {
			if text[at:at+len(s.Text)] != s.Text {
				t.Fatalf("%q at %d is not in %q", s.Text, at, text)
			}
			if inside := at >= a && at < b; s.Text != "" && inside != (s.Style == mark) {
				t.Fatalf("%q at %d: style %v, marked %d–%d", s.Text, at, s.Style, a, b)
			}
			at += len(s.Text)
		}
		if at != len(text) {
			t.Fatalf("%d bytes of %d", at, len(text))
		}
	})
}

// The computed height is the drawn height, in color, too.
func TestHeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"word", " ", "\t", "世", "e\u0301", "❤\ufe0f", "\u202e", "\x00", "if", "\"", "/*"})
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		r := row{op: diff.Insert, b: 1, text: text, cr: rapid.Bool().Draw(t, "cr")}
		o := Options{Width: rapid.IntRange(4, 80).Draw(t, "width")}
		p := newPainter("a.go", o, sliceSource(nil), sliceSource([]string{text}))
		p.showCR = true
		p.fit(o, []row{r})
		want := p.height(&r)
		if got := p.paint([]row{r}, 0, 0, want); len(got) != want {
			t.Fatalf("%d lines, reckoned %d", len(got), want)
		}
		if got, chopped := want, len(paint.Chop(p.plain(&r), p.room)); got != chopped {
			t.Fatalf("reckoned %d lines, cut in %d", got, chopped)
		}
	})
}

// The colors of a line do not depend on the path to it.
func TestTrackerJumps(t *testing.T) {
	file := []string{}
	for i := range 5000 {
		switch i % 97 {
		case 10:
			file = append(file, "/* a comment\r\n")
		case 20:
			file = append(file, "its end */ return\r\n")
		default:
			file = append(file, fmt.Sprintf("return %d\r\n", i))
		}
	}
	first := newPainter("a.go", Options{}, sliceSource(file), sliceSource(file))
	inOrder := make([][]paint.Span, len(file)+1)
	for n := 1; n <= len(file); n++ {
		inOrder[n] = first.new.line(n, strings.TrimRight(file[n-1], "\r\n"))
	}
	p := newPainter("a.go", Options{}, sliceSource(file), sliceSource(file))
	for _, n := range []int{4000, 4001, 3990, 1, 18, 15, 2000, 3100, 5000, 112, 113} {
		if d := cmp.Diff(inOrder[n], p.new.line(n, strings.TrimRight(file[n-1], "\r\n"))); d != "" {
			t.Errorf("line %d: %s", n, d)
		}
	}
}

func TestParseUnified(t *testing.T) {
	const text = "--- a/x\n+++ b/x\n@@ -2 +2,2 @@ func\n-old\n+new\n+++ plus\n@@ -10,2 +11 @@\n same\n-gone\n\\ No newline at end of file\n"
	want := []diff.Hunk{
		{AStart: 1, ACount: 1, BStart: 1, BCount: 2, Lines: []diff.Line{
			{Op: diff.Delete, Text: "old\n", A: 2}, {Op: diff.Insert, Text: "new\n", B: 2}, {Op: diff.Insert, Text: "++ plus\n", B: 3},
		}},
		{AStart: 9, ACount: 2, BStart: 10, BCount: 1, Lines: []diff.Line{
			{Text: "same\n", A: 10, B: 11}, {Op: diff.Delete, Text: "gone", A: 11},
		}},
	}
	if d := cmp.Diff(want, parseUnified(text)); d != "" {
		t.Error(d)
	}
	created := parseUnified("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n")
	if len(created) != 1 || created[0].AStart != 0 || created[0].Lines[0].B != 1 {
		t.Errorf("created: %+v", created)
	}
}

// Unified diffs are parsed back into the same hunks.
func TestUnifiedRoundTrip(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "+x", "-y", " z", "\\", "@@ -1 +1 @@", "c\r"}), 0, 20).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "final newline") {
			s += "\n"
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := diff.Lines(a, b).Hunks(3)
		if d := cmp.Diff(want, parseUnified(diff.Unified("f", "f", a, b)), cmpopts.IgnoreFields(diff.Hunk{}, "First", "Last")); d != "" {
			t.Fatal(d)
		}
	})
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2 * time.Minute: "2m", 90 * time.Second: "1m30s", time.Hour: "1h", 500 * time.Millisecond: "500ms", 30 * time.Second: "30s", 10 * time.Hour: "10h",
	} {
		if got := duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := foldText(4971); got != "⋯ 4,971 unchanged lines" {
		t.Errorf("many lines: %q", got)
	}
	if got := More(4971, ""); got != "… 4,971 more lines" {
		t.Errorf("many hidden lines: %q", got)
	}
	if got := foldText(1); got != "⋯ 1 unchanged line" {
		t.Error(got)
	}
}

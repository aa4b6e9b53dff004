package paint_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

var (
	bold = paint.Style{Attr: paint.Bold}
	red  = paint.Style{FG: paint.Index(1)}
	over = paint.Style{BG: paint.Index(22)}
	line = paint.Style{Attr: paint.Underline}
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spans []paint.Span
		want  string
	}{
		{"plain", []paint.Span{{Text: "a"}, {Text: "b"}}, "ab"},
		{"one style", []paint.Span{{Text: "a", Style: bold}, {Text: "b", Style: bold}}, "\x1b[1mab\x1b[m"},
		{"change", []paint.Span{{Text: "a", Style: bold}, {Text: "b", Style: red}}, "\x1b[1ma\x1b[0;31mb\x1b[m"},
		{"back to plain", []paint.Span{{Text: "a", Style: bold}, {Text: "b"}}, "\x1b[1ma\x1b[mb"},
		{"blank between equals", []paint.Span{{Text: "a", Style: red}, {Text: " "}, {Text: "b", Style: red}}, "\x1b[31ma b\x1b[m"},
		{"blank that shows", []paint.Span{{Text: "a", Style: line}, {Text: " "}, {Text: "b", Style: line}}, "\x1b[4ma\x1b[m \x1b[4mb\x1b[m"},
		{"blanks at the end", []paint.Span{{Text: "a  ", Style: over}, {Text: " "}}, "\x1b[48;5;22ma\x1b[m"},
		{"empty", []paint.Span{{Text: "", Style: red}}, ""},
		{"all", []paint.Span{{Text: "a", Style: paint.Style{FG: paint.Index(9), BG: paint.Index(12), Attr: 63}}}, "\x1b[1;2;3;4;9;7;91;104ma\x1b[m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, paint.Line(false, tt.spans...)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(ansi.Strip(tt.want), paint.Line(true, tt.spans...)); d != "" {
				t.Error("plain:", d)
			}
		})
	}
}

func TestOver(t *testing.T) {
	got := paint.Style{BG: paint.Index(1), Attr: paint.Bold}.Over(paint.Style{FG: paint.Index(2), BG: paint.Index(3), Attr: paint.Italic})
	want := paint.Style{FG: paint.Index(2), BG: paint.Index(1), Attr: paint.Bold | paint.Italic}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func text() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "word", " ", "  ", "世", "界、", "é", "e\u0301", "❤\ufe0f", "-", "long-long-word"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
	})
}

func spans() *rapid.Generator[[]paint.Span] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) paint.Span {
		style := rapid.SampledFrom([]paint.Style{{}, bold, red, over, line}).Draw(t, "style")
		return paint.Span{Text: text().Draw(t, "text"), Style: style}
	}), 0, 6)
}

func join(spans []paint.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

func TestChopKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, width := spans().Draw(t, "spans"), rapid.IntRange(0, 12).Draw(t, "width")
		var got string
		rows := paint.Chop(in, width)
		for _, row := range rows {
			got += join(row)
			if w := cells.Width(join(row)); w > max(width, 2) {
				t.Fatalf("%d columns in %d", w, width)
			}
		}
		if got != join(in) || len(rows) == 0 {
			t.Fatalf("%q became %q", join(in), got)
		}
	})
}

func TestTruncate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, width := spans().Draw(t, "spans"), rapid.IntRange(0, 12).Draw(t, "width")
		got := join(paint.Truncate(in, width))
		if w := cells.Width(got); w > width {
			t.Fatalf("%d columns in %d: %q", w, width, got)
		}
		if cut := got != join(in); cut && width > 0 && !strings.HasSuffix(got, "…") {
			t.Fatalf("%q was cut to %q", join(in), got)
		}
	})
}

func TestFlowKeepsTheWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, width := spans().Draw(t, "spans"), rapid.IntRange(4, 30).Draw(t, "width")
		ind := paint.Indent{First: []paint.Span{{Text: "* ", Style: red}}, Rest: []paint.Span{{Text: "  "}}}
		f := paint.NewFlow(width, rapid.Bool().Draw(t, "plain"), ind)
		for _, s := range in {
			f.Text(s.Text, s.Style)
		}
		var got string
		lines := f.Lines()
		for i, l := range lines {
			l = ansi.Strip(l)
			if w := cells.Width(l); w > width {
				t.Fatalf("%d columns in %d: %q", w, width, l)
			}
			if i == 0 {
				l = strings.TrimPrefix(l, "*")
			}
			got += l
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(got) != squeeze(join(in)) {
			t.Fatalf("%q became %q", join(in), lines)
		}
	})
}

func TestFlow(t *testing.T) {
	f := paint.NewFlow(10, true, paint.Indent{})
	f.Text("one two three  four", paint.Style{})
	f.Break()
	f.Code("a  b c", paint.Style{})
	f.Text(" 世界、世界の文", paint.Style{})
	want := []string{"one two", "three four", "a  b c 世", "界、世界の", "文"}
	if d := cmp.Diff(want, f.Lines()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{""}, paint.NewFlow(10, true, paint.Indent{}).Lines()); d != "" {
		t.Error("nothing:", d)
	}
}

func TestExpandTabs(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "\ta": "    a", "ab\tc": "ab  c", "世\tc\t": "世  c   "} {
		if got := paint.ExpandTabs(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	got := paint.Parse("a\x1b[1;31mb\x1b[22mc\n\x1b[0;38;5;200md\x1b[48;5;7me\x1b[mf\x1b]8;;https://x\x1b\\g\x1b]0;t\ah\x1b[2Ki\x1b[93;4mj\x1b[24;39mk\x1b[38;2;1;2;3ml\x1b[")
	want := [][]paint.Span{
		{{Text: "a"}, {Text: "b", Style: paint.Style{FG: paint.Index(1), Attr: paint.Bold}}, {Text: "c", Style: red}},
		{
			{Text: "d", Style: paint.Style{FG: paint.Index(200)}},
			{Text: "e", Style: paint.Style{FG: paint.Index(200), BG: paint.Index(7)}},
			{Text: "f"},
			{Text: "g"},
			{Text: "h"},
			{Text: "i"},
			{Text: "j", Style: paint.Style{FG: paint.Index(11), Attr: paint.Underline}},
			{Text: "k"},
			{Text: "l"},
			{Text: "["},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Parse reads what Line writes.
func TestParseReadsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := spans().Draw(t, "spans")
		l := paint.Line(false, in...)
		if again := paint.Line(false, paint.Parse(l)[0]...); again != l {
			t.Fatalf("%q became %q", l, again)
		}
	})
}

// A character split over two spans, as a diff may split it, has the width of the whole.
func TestChopJoinsCharacters(t *testing.T) {
	in := []paint.Span{{Text: "·"}, {Text: "❤", Style: red}, {Text: "\ufe0fx e"}, {Text: "\u0301 :="}}
	var got []string
	for _, row := range paint.Chop(in, 6) {
		got = append(got, paint.Line(true, row...))
	}
	if d := cmp.Diff([]string{"·❤️x e\u0301", " :="}, got); d != "" {
		t.Error(d)
	}
	if in[1].Text != "❤" {
		t.Error("the spans that were given are changed")
	}
}

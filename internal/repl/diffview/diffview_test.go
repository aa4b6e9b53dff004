package diffview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// nasty draws a text whose lines are hard to display faithfully.
func nasty(label string) *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"x := 1", "word ", " ", "  ", "\t", "世界", "é", "e\u0301", "❤\ufe0f", "👨\u200d👩", "\u202e", "\u200b", "\x1b[2K", "\x1b]0;t\a", "\r",
		"\\u{200b}", "\x00", strings.Repeat("long ", 40), "/* ", "*/", "`", "\"", "//", "\u3164",
	})
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
	})
	return rapid.Custom(func(t *rapid.T) string {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, label), eol)
		if rapid.Bool().Draw(t, "final newline") {
			text += eol
		}
		return text
	})
}

func change(t *rapid.T) diffview.Change {
	c := diffview.Change{Name: rapid.SampledFrom([]string{"a.go", "b.py", "c.txt"}).Draw(t, "name"), Exists: true}
	c.Before, c.After = nasty("before").Draw(t, "before"), nasty("after").Draw(t, "after")
	return c
}

// unblank removes white space and its visible forms, to compare texts that show blanks
// differently.
func unblank(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t·→␍", r) {
			return -1
		}
		return r
	}, s)
}

// shownLines reads the lines with a sign back from the screen.
func shownLines(lines []string, gutter int, sign byte) string {
	var b strings.Builder
	for _, l := range lines {
		if len(l) > gutter && l[gutter-2] == sign {
			b.WriteString(l[gutter:])
		}
	}
	return unblank(b.String())
}

// The screen shows the text that would be written, or the header warns of invisible
// characters.
func TestAddedLinesAreShownTruly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := change(t)
		v := diffview.New(c, diffview.Options{Width: rapid.IntRange(60, 120).Draw(t, "width"), NoColor: true})
		const gutter = 8 // two numbers of two digits
		d := diff.Lines(c.Before, c.After)
		var want, gone strings.Builder
		hides := false
		for _, e := range d.Edits {
			for _, l := range d.B[e.BStart:e.BEnd] {
				want.WriteString(unblank(sanitize.Text(bare(l))))
				hides = hides || sanitize.Hidden(l) != nil
			}
			for _, l := range d.A[e.AStart:e.AEnd] {
				gone.WriteString(unblank(sanitize.Text(bare(l))))
			}
		}
		lines := v.Lines(0, v.Len())
		if d := cmp.Diff(want.String(), shownLines(lines, gutter, '+')); d != "" {
			t.Fatalf("added text: %s\n%s", d, strings.Join(lines, "\n"))
		}
		if d := cmp.Diff(gone.String(), shownLines(lines, gutter, '-')); d != "" {
			t.Fatalf("removed text: %s\n%s", d, strings.Join(lines, "\n"))
		}
		if warned := warns(v.Header()); warned != hides {
			t.Fatalf("warned %v, hides %v:\n%s", warned, hides, strings.Join(v.Header(), "\n"))
		}
	})
}

// warns reports whether a header mentions invisible characters.
func warns(header []string) bool {
	return strings.Contains(unblank(ansi.Strip(strings.Join(header, ""))), "madevisible")
}

// bare returns a line without its line ending.
func bare(l string) string {
	l, ended := strings.CutSuffix(l, "\n")
	if ended {
		l = strings.TrimSuffix(l, "\r")
	}
	return l
}

func checkLines(t *rapid.T, lines []string, o diffview.Options) {
	for _, l := range lines {
		plain := ansi.Strip(l)
		if w := cells.Width(l); w > max(o.Width, 8) {
			t.Fatalf("%d columns in %d: %q", w, o.Width, l)
		}
		if sanitize.Line(plain) != plain || o.NoColor && plain != l {
			t.Fatalf("more than text and colors: %q", l)
		}
		if strings.Contains(strings.ReplaceAll(l, "\x1b[", ""), "\x1b") {
			t.Fatalf("a sequence that is no color: %q", l)
		}
	}
}

func options(t *rapid.T) diffview.Options {
	return diffview.Options{
		Width:   rapid.IntRange(8, 200).Draw(t, "width"),
		NoColor: rapid.Bool().Draw(t, "no color"), Context: rapid.IntRange(0, 5).Draw(t, "context"),
		Layout: rapid.SampledFrom([]diffview.Layout{diffview.Auto, diffview.Unified, diffview.Split}).Draw(t, "layout"),
	}
}

// However the body is scrolled, its content is the same.
func TestWindowsAreTheBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, o := change(t), options(t)
		v := diffview.New(c, o)
		v.Expand(rapid.Bool().Draw(t, "all"))
		whole := v.Lines(0, v.Len())
		if len(whole) != v.Len() {
			t.Fatalf("%d lines of %d", len(whole), v.Len())
		}
		checkLines(t, whole, o)
		checkLines(t, v.Header(), o)
		checkLines(t, v.Summary(), o)
		plain := diffview.New(c, diffview.Options{Width: o.Width, NoColor: true, Context: o.Context, Layout: o.Layout})
		plain.Expand(v.Expanded())
		for i, l := range plain.Lines(0, plain.Len()) {
			if l != ansi.Strip(whole[i]) {
				t.Fatalf("line %d: %q without colors, %q with", i, l, whole[i])
			}
		}
		for at := 0; at < v.Len(); {
			n := rapid.IntRange(3, 60).Draw(t, "height")
			got := v.Lines(at, n)
			if !slices.Equal(got, whole[at:min(at+n, len(whole))]) {
				t.Fatalf("lines %d+%d: %q, want %q", at, n, got, whole[at:min(at+n, len(whole))])
			}
			at += n
		}
	})
}

func TestLinesOutOfRange(t *testing.T) {
	v := diffview.New(diffview.Change{Name: "a", After: "x\n"}, diffview.Options{Width: 40, NoColor: true})
	if got := v.Lines(5, 3); len(got) != 0 {
		t.Errorf("after the end: %q", got)
	}
	if got := v.Lines(-2, 1); len(got) != 1 {
		t.Errorf("before the start: %q", got)
	}
	if got := v.Lines(0, 0); len(got) != 0 {
		t.Errorf("no height: %q", got)
	}
}

func TestResize(t *testing.T) {
	c := changes()["edit"]
	v := diffview.New(c, diffview.Options{Width: 100, NoColor: true})
	v.Lines(0, 5)
	v.Resize(40)
	want := diffview.New(c, diffview.Options{Width: 40, NoColor: true})
	if d := cmp.Diff(want.Lines(0, want.Len()), v.Lines(0, v.Len())); d != "" {
		t.Error(d)
	}
	command := diffview.Command{Line: strings.Repeat("word ", 30), Dir: "/tmp"}
	cv := diffview.NewCommand(command, diffview.Options{Width: 100, NoColor: true})
	cv.Resize(20)
	if d := cmp.Diff(diffview.NewCommand(command, diffview.Options{Width: 20, NoColor: true}).Lines(0, 99), cv.Lines(0, 99)); d != "" {
		t.Error(d)
	}
}

// The command on the screen is the command that runs.
func TestCommandIsShownWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := nasty("command").Draw(t, "command")
		o := options(t)
		v := diffview.NewCommand(diffview.Command{Line: line, Dir: "/tmp/\x1bdir"}, o)
		lines := v.Lines(0, v.Len())
		checkLines(t, lines, o)
		checkLines(t, v.Header(), o)
		var got strings.Builder
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\n")
		mark := 2
		if len(parts) > 3 {
			mark = len(fmt.Sprint(len(parts))) + 1
		}
		for _, l := range lines {
			l = ansi.Strip(l)
			got.WriteString(l[min(mark, len(l)):])
		}
		if d := cmp.Diff(unblank(sanitize.Text(strings.Join(parts, ""))), unblank(got.String())); d != "" {
			t.Fatal(d)
		}
		if warned := warns(v.Header()); warned != (sanitize.Hidden(line) != nil) {
			t.Fatalf("warned %v of %q", warned, line)
		}
	})
}

// The summary of a unified diff equals that of its change.
func TestSummarizeAgreesWithTheView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := change(t)
		o := diffview.Options{Width: 80, NoColor: true}
		v := diffview.New(c, o)
		title, got := diffview.Summarize(c.Name, diff.Unified(c.Name, c.Name, c.Before, c.After), o)
		added, removed := v.Counts()
		if want := fmt.Sprintf("edit %s +%d −%d", c.Name, added, removed); title[0] != want {
			t.Fatalf("title %q, want %q", title[0], want)
		}
		if v.Len() > 12 || strings.Contains(strings.Join(v.Summary(), ""), "⋯") {
			return // a unified diff has no lines after the last hunk's context
		}
		if d := cmp.Diff(unblank(strings.Join(v.Summary()[1:], "\n")), unblank(strings.Join(got, "\n"))); d != "" {
			t.Fatal(d)
		}
	})
}

func TestSummarizeTitles(t *testing.T) {
	o := diffview.Options{Width: 80, NoColor: true}
	for want, unified := range map[string]string{
		"create a +1 −0": diff.Unified("", "a", "", "x\n"),
		"delete a +0 −1": diff.Unified("a", "", "x\n", ""),
		"edit a +0 −0":   "no diff at all\n@@ nonsense\n@@ -x +y @@\n",
	} {
		if title, _ := diffview.Summarize("a", unified, o); title[0] != want {
			t.Errorf("%q: %q, want %q", unified, title[0], want)
		}
	}
}

func BenchmarkOpen5MB(b *testing.B) {
	old := strings.Repeat("\tif err := run(ctx, name); err != nil { // comment\n", 100_000)
	c := diffview.Change{Name: "a.go", Before: old, After: strings.Replace(old, "name", "names", 300), Exists: true}
	for b.Loop() {
		v := diffview.New(c, diffview.Options{Width: 120})
		v.Lines(0, 30)
	}
}

func BenchmarkCreate5MB(b *testing.B) {
	c := diffview.Change{Name: "a.go", After: strings.Repeat("\tif err := run(ctx, name); err != nil { // comment\n", 100_000)}
	for b.Loop() {
		v := diffview.New(c, diffview.Options{Width: 120})
		v.Lines(v.Len()/2, 30)
	}
}

// A line of 5 MB is painted once, not at each key.
func BenchmarkLongLine(b *testing.B) {
	old := strings.Repeat(`{"name":"value","n":12345},`, 190_000)
	c := diffview.Change{Name: "a.json", Before: old + "\n", After: old[:len(old)/2] + "other" + old[len(old)/2:] + "\n", Exists: true}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			diffview.New(c, diffview.Options{Width: 120}).Lines(0, 30)
		}
	})
	b.Run("key", func(b *testing.B) {
		v := diffview.New(c, diffview.Options{Width: 120})
		v.Lines(0, 30)
		for i := 1; b.Loop(); i++ {
			v.Lines(i%v.Len(), 30)
		}
	})
}

// A line of many terminal lines is painted once. A later window costs its own lines only, and
// shows the same as the whole.
func TestLongLineIsPaintedOnce(t *testing.T) {
	long := strings.Repeat(`{"name":"value","n":12345},`, 4000)
	for _, o := range []diffview.Options{{Width: 120}, {Width: 150, Layout: diffview.Split}, {Width: 80, Tint: true}} {
		c := diffview.Change{Name: "a.json", Before: long + "\n", After: long[:len(long)/2] + "ทำother" + long[len(long)/2:] + "\nmore\n", Exists: true}
		v := diffview.New(c, o)
		whole := v.Lines(0, v.Len())
		for i := range 500 {
			at := i * 7919 % v.Len()
			if d := cmp.Diff(whole[at:min(len(whole), at+3)], v.Lines(at, 3)); d != "" {
				t.Fatalf("%+v: lines from %d: %s", o, at, d)
			}
		}
		i := 0
		if n := testing.AllocsPerRun(20, func() { i++; v.Lines(i, 30) }); n > 30*60 {
			t.Errorf("%+v: %v allocations for 30 lines of %d", o, n, v.Len())
		}
		v.Hunks().Toggle(0)
		if after := v.Lines(0, v.Len()); cmp.Equal(whole, after) {
			t.Errorf("%+v: a hunk left out looks the same", o)
		}
	}
}

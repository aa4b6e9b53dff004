package pager_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

func look(width, height int) theme.Look {
	l := theme.New(theme.Auto, true)
	l.Width, l.Height = width, height
	return l
}

// numbered is a Doc of n lines that counts calls.
type numbered struct{ n, rows, texts int }

func (d *numbered) Len() int          { return d.n }
func (d *numbered) Text(i int) string { d.texts++; return fmt.Sprintf("line %d", i+1) }
func (d *numbered) Rows(i int, _ theme.Look) []string {
	d.rows++
	return []string{fmt.Sprintf("line %d", i+1)}
}

// press presses keys and runs each search to its end.
func press(p *pager.Pager, keys ...string) pager.Outcome {
	o := pager.Handled
	for _, k := range keys {
		if o = p.Press(keystest.Key(k)); o == pager.Searching {
			for p.Search() {
			}
		}
	}
	return o
}

// first returns the first row of the text.
func first(p *pager.Pager) string { return ansi.Strip(p.View()[1]) }

func footer(p *pager.Pager) string {
	view := p.View()
	return ansi.Strip(view[len(view)-1])
}

func TestKeysMove(t *testing.T) {
	for _, tc := range []struct{ keys, want string }{
		{"", "line 1"},
		{"down", "line 2"},
		{"j", "line 2"},
		{"enter", "line 2"},
		{"down up", "line 1"},
		{"down k", "line 1"},
		{"up", "line 1"},
		{"pgdown", "line 8"},
		{"space", "line 8"},
		{"f", "line 8"},
		{"ctrl+f", "line 8"},
		{"pgdown pgup", "line 1"},
		{"pgdown b", "line 1"},
		{"pgdown ctrl+b", "line 1"},
		{"ctrl+d", "line 4"},
		{"d", "line 4"},
		{"ctrl+d ctrl+u", "line 1"},
		{"d u", "line 1"},
		{"end", "line 93"},
		{"G", "line 93"},
		{"end down", "line 93"},
		{"end pgdown", "line 93"},
		{"end home", "line 1"},
		{"end g", "line 1"},
		{"z", "line 1"},
		{"]", "line 1"},
		{"[", "line 1"},
	} {
		t.Run(tc.keys, func(t *testing.T) {
			p := pager.New(pager.Page{Doc: &numbered{n: 100}}, look(40, 10))
			if o := press(p, strings.Fields(tc.keys)...); o != pager.Handled {
				t.Errorf("outcome %v", o)
			}
			if got := first(p); got != tc.want {
				t.Errorf("at %q, want %q", got, tc.want)
			}
		})
	}
	for _, key := range []string{"q", "esc", "ctrl+o", "ctrl+c"} {
		p := pager.New(pager.Page{Doc: &numbered{n: 100}}, look(40, 10))
		if press(p, key) != pager.Left {
			t.Errorf("%s does not leave", key)
		}
	}
}

func TestOpensAtLine(t *testing.T) {
	for at, want := range map[int]string{0: "line 1", 50: "line 51", 99: "line 93", -1: "line 93", 1000: "line 93"} {
		p := pager.New(pager.Page{Doc: &numbered{n: 100}, At: at}, look(40, 10))
		if got := first(p); got != want {
			t.Errorf("opened at %d it shows %q, want %q", at, got, want)
		}
	}
}

func TestFrameCostDependsOnVisibleRows(t *testing.T) {
	d := &numbered{n: 1_000_000}
	p := pager.New(pager.Page{Doc: d}, look(80, 24))
	most := 0
	for _, keys := range []string{"", "pgdown", "end", "pgup", "home", "ctrl+d", "G", "k"} {
		d.rows, d.texts = 0, 0
		press(p, strings.Fields(keys)...)
		p.View()
		most = max(most, d.rows+d.texts)
	}
	if most > 100 {
		t.Errorf("a key and its frame looked at %d lines of %d", most, d.n)
	}
	if got := footer(p); !strings.Contains(got, "of 1000000") {
		t.Errorf("footer %q", got)
	}
}

func TestSearch(t *testing.T) {
	const text = "one\nTwo two\nthree\nfour\nfive\nsix\nseven\neight\ntwo again\nten\neleven\ntwelve\n"
	open := func() *pager.Pager { return pager.New(pager.Page{Doc: pager.Text(text)}, look(40, 5)) }
	for _, tc := range []struct{ keys, first, footer string }{
		{"/ t w o enter", "one", "lines 1–3 of 12"},
		{"/ t w o enter n", "eight", "lines 8–10"},
		{"/ t w o enter n n", "one", "wrapped around"},
		{"/ t w o enter N", "eight", "wrapped around"},
		{"/ t w o enter n N", "one", "lines 1–3"},
		{"/ T w o enter n", "one", "wrapped around"},
		{"/ x y z enter", "one", "not found: xyz"},
		{"/ t x backspace w e enter", "ten", "lines 10–12"},
		{"/ t ctrl+u t e n enter", "two again", "lines 9–11"},
		{"/ t esc n", "one", "no search yet"},
		{"/ t backspace backspace j", "Two two", "lines 2–4"},
		{"n", "one", "no search yet"},
		{"/ t h r e e enter / enter", "one", "wrapped around"},
	} {
		t.Run(tc.keys, func(t *testing.T) {
			p := open()
			press(p, strings.Fields(tc.keys)...)
			if got := strings.NewReplacer("[", "", "]", "").Replace(first(p)); got != tc.first {
				t.Errorf("at %q, want %q", got, tc.first)
			}
			if got := footer(p); !strings.Contains(got, tc.footer) {
				t.Errorf("footer %q, want %q", got, tc.footer)
			}
		})
	}
	p := open()
	press(p, "/", "t", "W", "backspace", "w", "o", "enter")
	if got := p.View()[2]; got != "[Two] [two]" {
		t.Errorf("the words are shown as %q", got)
	}
	p = open()
	press(p, "/")
	p.Paste("seven\r\nmore")
	press(p, "enter")
	if got := footer(p); !strings.Contains(got, "lines 6–8") {
		t.Errorf("after a pasted search: %q", got)
	}
}

// A search of a long text runs in slices, and a key stops it.
func TestSearchGivesWay(t *testing.T) {
	d := &numbered{n: 1_000_000}
	p := pager.New(pager.Page{Doc: d}, look(80, 24))
	press(p, "/", "x")
	if p.Press(keystest.Key("enter")) != pager.Searching {
		t.Fatal("enter begins no search")
	}
	if !p.Search() {
		t.Fatal("a million lines were searched at once")
	}
	if d.texts == 0 || d.texts > 100_000 {
		t.Errorf("%d lines in a slice", d.texts)
	}
	if got := footer(p); !strings.Contains(got, "looking for x") {
		t.Errorf("footer %q", got)
	}
	if p.Press(keystest.Key("esc")) != pager.Handled || p.Search() {
		t.Error("Esc does not end the search alone")
	}
	if p.Press(keystest.Key("esc")) != pager.Left {
		t.Error("the next Esc does not leave")
	}
}

func TestSearchSeesWrappedRows(t *testing.T) {
	text := strings.Repeat("x", 95) + "needle" + strings.Repeat("y", 100) + "\nlast"
	p := pager.New(pager.Page{Doc: pager.Text(text)}, look(10, 4))
	press(p, "/", "y", "enter")
	if got := first(p); !strings.Contains(got, "y") && !strings.Contains(p.View()[2], "y") {
		t.Errorf("the words are not on the screen: %q", p.View())
	}
	press(p, "g", "/", "n", "e", "e", "d", "l", "e", "enter") // split by the end of a row
	if got := footer(p); strings.Contains(got, "not found") {
		t.Error("words that the end of a row parts are not found")
	}
}

func TestResizeKeepsThePlace(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "%03d %s\n", i, strings.Repeat("abcdefghi ", 19))
	}
	p := pager.New(pager.Page{Doc: pager.Text(text.String()), At: 100}, look(100, 12))
	press(p, "down") // the second row of line 100
	was := first(p)
	for _, w := range []int{40, 1, 500, 77, 100} {
		p.Restyle(look(w, 9))
		if got := footer(p); w >= 40 && !strings.HasPrefix(got, "lines 101–") {
			t.Errorf("at width %d: %s", w, got)
		}
	}
	p.Restyle(look(100, 12))
	if got := first(p); got != was {
		t.Errorf("back at the first size it shows %q, want %q", got, was)
	}
}

func TestSections(t *testing.T) {
	doc := pager.Join(
		pager.Text("a1\na2\na3"), pager.Text(""), pager.Block("the block", func(theme.Look) []string { return []string{"b1", "b2"} }),
		pager.Text("c1\nc2\nc3\nc4\nc5\nc6"),
	)
	p := pager.New(pager.Page{Doc: doc}, look(60, 5))
	var got []string
	for _, k := range []string{"]", "]", "]", "]", "[", "down", "[", "[", "["} {
		press(p, k)
		got = append(got, first(p))
	}
	want := []string{"", "b1", "c1", "c1", "b1", "b2", "b1", "", "a1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	press(p, "/", "b", "l", "o", "c", "k", "enter")
	if got := strings.Join(p.View(), "\n"); !strings.Contains(got, "b1") {
		t.Error("a block is not found by its text")
	}
}

func TestRemark(t *testing.T) {
	for width, want := range map[int]string{60: "The title · a question waits", 26: "a question waits", 10: "a questio…"} {
		p := pager.New(pager.Page{Title: "The title", Doc: pager.Text("x")}, look(width, 5))
		p.Remark = "a question waits"
		if got := p.View()[0]; got != want {
			t.Errorf("at %d columns the title is %q, want %q", width, got, want)
		}
	}
}

func TestHostileText(t *testing.T) {
	text := "\x1b[2J\x1b]0;title\x07red \x1b[31mtext\n50%\r100%\r\nx\u202ey\x9b\xff\n" + strings.Repeat("é漢", 50_000)
	p := pager.New(pager.Page{Title: "t\x1b[2J\nitle", Doc: pager.Text(text)}, look(30, 8))
	for range 5 {
		for _, row := range p.View() {
			if strings.ContainsAny(row, "\x1b\x07\r\u202e") || strings.Contains(row, "\x9b") {
				t.Errorf("%q reaches the terminal", row)
			}
			if cells.Width(row) > 30 {
				t.Errorf("%q is too wide", row)
			}
		}
		press(p, "pgdown")
	}
	press(p, "home")
	if d := cmp.Diff([]string{"red text", "100%", `x\u{202e}y\x9b\xff`}, p.View()[1:4]); d != "" {
		t.Error(d)
	}
}

// Without color, brackets around many matches do not make a row wider than the screen.
func TestManyMatchesOfARow(t *testing.T) {
	p := pager.New(pager.Page{Doc: pager.Text(strings.Repeat("a", 10))}, look(10, 5))
	for _, key := range []string{"/", "a", "enter"} {
		press(p, key)
	}
	if row := p.View()[1]; row != "[a]aaaaaaaaa" {
		t.Errorf("%q", row)
	}
}

// Whatever the keys and sizes, the rows fit and fill the screen.
func TestAnyKeysAnySize(t *testing.T) {
	keys := []string{"up", "down", "pgup", "pgdown", "home", "end", "ctrl+u", "ctrl+d", "[", "]", "/", "a", "n", "N", "enter", "esc", "backspace", "x"}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\t漢é\x1b\r")), 0, 300, -1).Draw(t, "a")
		doc := pager.Join(pager.Text(a), diffview.Doc(a))
		l := look(rapid.IntRange(1, 90).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h"))
		p := pager.New(pager.Page{Doc: doc}, l)
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			if rapid.IntRange(0, 5).Draw(t, "what") == 0 {
				l = look(rapid.IntRange(1, 90).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h"))
				p.Restyle(l)
			} else {
				press(p, rapid.SampledFrom(keys).Draw(t, "key"))
			}
			view := p.View()
			if len(view) != max(3, l.Height) {
				t.Fatalf("%d rows on a screen of %d", len(view), l.Height)
			}
			for _, row := range view {
				if w := cells.Width(row); w > max(l.Width, 2)+2 { // a wide character, brackets around a word
					t.Fatalf("%q is %d wide, the screen %d", row, w, l.Width)
				}
			}
		}
	})
}

func TestGolden(t *testing.T) {
	text := "$ go test ./...\nok  \texample.com/a\t0.01s\n" + strings.Repeat("a line of output that is rather long, so that it has to be wrapped on narrow terminals\n", 3) + "FAIL"
	for _, width := range []int{40, 80, 120, 200} {
		l := theme.New(theme.Auto, false)
		l.Width, l.Height = width, 12
		p := pager.New(pager.Page{Title: "Run go test ./...", Doc: pager.Text(text)}, l)
		golden.Lines(t, fmt.Sprintf("text-%d", width), p.View())
		press(p, "/", "l", "o", "n", "g")
		golden.Lines(t, fmt.Sprintf("typing-%d", width), p.View())
		press(p, "enter")
		golden.Lines(t, fmt.Sprintf("found-%d", width), p.View())
	}
}

// The lines of a block count, although it is laid out as a unit.
func TestLinesOfBlocks(t *testing.T) {
	lines := func(n int) string { return strings.TrimSuffix(strings.Repeat("x\n", n), "\n") }
	rows := func(text, rows int) pager.Doc {
		return pager.Block(lines(text), func(theme.Look) []string { return slices.Repeat([]string{"x"}, rows) })
	}
	for _, c := range []struct {
		doc  pager.Doc
		keys string
		want string
	}{
		{pager.Join(rows(3, 3), pager.Text("a\nb")), "", "lines 1–5 of 5"},
		{pager.Join(pager.Text("a\nb"), rows(20, 20)), "G", "lines 13–22 of 22"},
		{pager.Join(pager.Text("a\nb"), rows(20, 20)), "g", "lines 1–10 of 22"},
		{pager.Join(rows(20, 20), pager.Text("a"), rows(1, 20)), "G", "line 22 of 22"},
		{pager.Join(rows(20, 10), pager.Text("a"), rows(20, 10)), "G", "lines 22–41 of 41"},
		{pager.Join(), "", "line 0 of 0"},
		{pager.Join(), "G", "line 0 of 0"},
		{pager.Join(rows(1, 0)), "", "line 1 of 1"},
		{pager.Join(pager.Text("a"), rows(3, 0)), "G", "lines 1–4 of 4"},
	} {
		p := pager.New(pager.Page{Doc: c.doc}, look(60, 12))
		press(p, strings.Fields(c.keys)...)
		if got, _, _ := strings.Cut(footer(p), " · "); got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}

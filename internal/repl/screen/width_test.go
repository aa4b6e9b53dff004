package screen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/dev/xterm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// writing makes texts of many scripts at random.
type writing struct{ *rand.Rand }

// scripts are the scripts of the random texts: those whose characters terminals count in
// different ways, and others.
var scripts = []string{
	"Arabic", "Armenian", "Balinese", "Bengali", "Bopomofo", "Braille", "Buginese", "Cherokee", "Cyrillic", "Devanagari",
	"Ethiopic", "Georgian", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Javanese",
	"Kannada", "Katakana", "Khmer", "Lao", "Latin", "Limbu", "Malayalam", "Mongolian", "Myanmar", "New_Tai_Lue",
	"Nko", "Ol_Chiki", "Oriya", "Sinhala", "Sundanese", "Syriac", "Tai_Tham", "Tamil", "Telugu", "Thaana",
	"Thai", "Tibetan", "Tifinagh", "Yi", "Common", "Inherited",
}

var sequences = []string{
	"👩‍👩‍👧‍👦", "👍🏽", "🧑🏿‍💻", "🇩🇪", "🇩", "❤️", "❤", "⌚️", "⌚︎", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👁️‍🗨️", "🫱🏻‍🫲🏿",
	"e\u0301", "a\u0300\u0301\u0302\u0303", "\u200d", "\ufe0f", "\u200b", "\u202e", "\x1b[2J", "\x00", "\r", "\t", "\t\t", "ทำ", "หิ", "हि", "क्ष", "ொ",
	"\u1112\u1161\u11ab", "\u1100\u1100\u1161", "\u1161", "한\u11ab", "\u0600a", "─│┌", "…·±×", "ﷺ", "𒈙", "\U00020000", "\uffff", "\ue000", "\u0378", "\xff",
}

func (w writing) piece(script *unicode.RangeTable) string {
	switch w.IntN(10) {
	case 0:
		return sequences[w.IntN(len(sequences))]
	case 1, 2:
		return string(rune(' ' + w.IntN(95)))
	case 3:
		return strings.Repeat(sequences[w.IntN(len(sequences))], 1+w.IntN(60))
	}
	n := 0
	for r := range runes(script) {
		if n++; w.IntN(n) == 0 && n > 200 {
			return string(r)
		}
	}
	k := w.IntN(n)
	for r := range runes(script) {
		if k--; k < 0 {
			return string(r)
		}
	}
	return ""
}

// runes yields the characters of a script, at most a thousand of each range.
func runes(t *unicode.RangeTable) func(func(rune) bool) {
	return func(yield func(rune) bool) {
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi) && c < rune(r.Lo)+1000; c += rune(r.Stride) {
				if !yield(c) {
					return
				}
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi) && c < rune(r.Lo)+1000; c += rune(r.Stride) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (w writing) text(pieces int) string {
	script := unicode.Scripts[scripts[w.IntN(len(scripts))]]
	var b strings.Builder
	for range 1 + w.IntN(pieces) {
		b.WriteString(w.piece(script))
	}
	return strings.NewReplacer("\n", " ", "@", " ").Replace(b.String())
}

// mark ends each text: it is on the screen only if all of the text is.
const mark = "@"

// request asks for something with the text in it.
func (w writing) request(text string) confirm.Request {
	file := workspace.File{Name: "a.txt", Exists: true, Text: "one\n" + w.text(20) + "\n"}
	switch w.IntN(5) {
	case 0:
		return confirm.Request{Tool: "execute_command", Subject: &confirm.Command{Line: "echo '" + text + "'; touch " + mark, Dir: "/w"}}
	case 1:
		return confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{File: file, After: "one\n" + text + mark + "\n"})}
	case 2:
		return confirm.Request{Tool: "write_file", Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: strings.ReplaceAll(text, "/", "") + mark}, After: "one\n"})}
	case 3:
		return confirm.Request{Tool: "read_file", Subject: &confirm.Read{Path: "/" + text + mark}}
	}
	return confirm.Request{Tool: "t", Subject: &confirm.Call{Server: "s", Tool: "t", Args: `{"a": "` + text + mark + `"}`}}
}

// model is a terminal with its way of counting cells. It shows the output of a Screen.
type model struct {
	name    string
	unicode string // of xterm.js; the VT without one
	opt     vt.Options
}

var models = []model{
	{name: "clusters"},
	{name: "code points", opt: vt.Options{NarrowEmoji: true}},
	{name: "xterm.js 6", unicode: xterm.Unicode6},
	{name: "xterm.js 11", unicode: xterm.Unicode11},
	{name: "xterm.js 15", unicode: xterm.Graphemes},
}

// shown is the output of a Screen, and the rows that a terminal must show then.
type shown struct {
	what          string
	width, height int
	bytes         string
	rows          []string // as they were given
	draft         bool     // the cursor is at the mark
}

// on returns the screens of a terminal after each text.
func (m model) on(t *testing.T, all []shown) []xterm.Output {
	var in []xterm.Input
	var out []xterm.Output
	for _, s := range all {
		if m.unicode != "" {
			in = append(in, xterm.Input{Unicode: m.unicode, Width: s.width, Height: s.height, Text: s.bytes})
			continue
		}
		opt := m.opt
		opt.Width, opt.Height = s.width, s.height
		term := vt.New(opt)
		fmt.Fprint(term, s.bytes)
		out = append(out, xterm.Output{Rows: term.Screen(), AtCursor: term.Cell(term.Cursor()).Text})
	}
	if in != nil {
		out = xterm.Screens(t, in)
	}
	return out
}

// letters returns s without the characters that a terminal may leave out or draw elsewhere: blanks,
// marks, vowels that join the letter before, final consonants of Hangul.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == 'ำ' || r == 'ຳ' || unicode.In(r, unicode.M, unicode.Cf) || r >= 0x1160 && r < 0x1200 || r >= 0xd7b0 && r < 0xd800 {
			return -1
		}
		return r
	}, s)
}

// shot draws frames and returns the output.
func shot(t *testing.T, what string, width, height int, draft bool, frames ...func(*Screen) []string) shown {
	s, term := openFake(t, vt.Options{Width: width, Height: height})
	var log strings.Builder
	term.log = &log
	out := shown{what: what, width: width, height: height, draft: draft}
	for _, draw := range frames {
		out.rows = draw(s)
		s.Flush()
	}
	out.bytes = log.String()
	return out
}

// question draws a question about text.
func (w writing) question(t *testing.T, text string, width int) shown {
	const height = 400
	look := theme.New(theme.Auto, w.IntN(2) == 0)
	look.Width, look.Height = width, height
	p := panel.New(w.request(text), look, []diffview.Layout{diffview.Auto, diffview.Unified, diffview.Split}[w.IntN(3)], time.Time{})
	return shot(t, fmt.Sprintf("a question about %q", text), width, height, false, func(s *Screen) []string {
		rows := p.View(height)
		s.SetAlt(true)
		s.SetTail(rows, nil)
		return rows
	})
}

// answer shows a table and a list with texts in them.
func (w writing) answer(t *testing.T, width int) shown {
	const height = 400
	cell := func() string { return strings.NewReplacer("|", " ", "`", " ", "\\", " ").Replace(w.text(8)) }
	text := "| " + cell() + " | b |\n|---|---:|\n| " + cell() + " | " + cell() + " |\n| c | " + cell() + " |\n\n- " + cell() + "\n  - " + cell() + " " + mark + "\n"
	opt := markdown.Options{Width: width, NoColor: w.IntN(2) == 0}
	return shot(t, fmt.Sprintf("an answer %q", text), width, height, false, func(s *Screen) []string {
		rows := markdown.Render(text, opt)
		s.SetAlt(true)
		s.SetTail(rows, nil)
		return rows
	})
}

// draft types a text, moves the cursor to the mark in it and back to the end and again.
func (w writing) draft(t *testing.T, text string, width int) shown {
	const height = 400
	var b edit.Buffer
	b.Insert(edit.Glyphs(text + " ")...)
	at := b.At
	b.Insert(edit.Glyphs(mark + w.text(10))...)
	frame := func(at int) func(*Screen) []string {
		return func(s *Screen) []string {
			var rows []string
			rs := edit.Rows(b.Gs, width-2)
			for _, r := range rs {
				rows = append(rows, "❯ "+edit.Draw(b.Gs, r, width-2, edit.Styles{Folded: func(s string) string { return s }}))
			}
			y := edit.RowOf(rs, at)
			s.SetAlt(true)
			s.SetTail(rows, &Cursor{X: 2 + edit.Column(b.Gs, rs[y], at, width-2), Y: y})
			return rows
		}
	}
	return shot(t, fmt.Sprintf("a draft of %q", edit.Plain(b.Gs)), width, height, true, frame(at), frame(len(b.Gs)), frame(at))
}

// TestAllOfATextIsOnTheScreen: whatever the script and the width, and however the terminal
// counts cells, no row of a question or an answer is cut, and the cursor of a draft is on its character.
func TestAllOfATextIsOnTheScreen(t *testing.T) {
	seed := stress.Seed(t)
	w := writing{rand.New(rand.NewPCG(seed, 0))}
	var all []shown
	for range stress.Size(80, 5000) {
		width := 20 + w.IntN(181)
		text := w.text(40)
		all = append(all, w.question(t, text, width), w.draft(t, text, width), w.answer(t, width))
	}
	check(t, models, all)
}

// TestAllOfAnAmbiguousTextIsOnTheScreen is the same where characters of ambiguous width are wide.
func TestAllOfAnAmbiguousTextIsOnTheScreen(t *testing.T) {
	cells.WideAmbiguous(true)
	defer cells.WideAmbiguous(false)
	seed := stress.Seed(t)
	w := writing{rand.New(rand.NewPCG(seed, 0))}
	var all []shown
	for range stress.Size(80, 5000) {
		width := 20 + w.IntN(181)
		text := strings.Repeat(string(rune(0x410+w.IntN(64))), w.IntN(100)) + w.text(20)
		all = append(all, w.question(t, text, width), w.draft(t, text, width), w.answer(t, width))
	}
	check(t, []model{{name: "East Asian", opt: vt.Options{WideLines: true}}}, all)
}

// check compares what each terminal shows with the rows that it must show.
func check(t *testing.T, models []model, all []shown) {
	t.Helper()
	for _, m := range models {
		failed := 0
		for i, got := range m.on(t, all) {
			s := all[i]
			if text := letters(strings.Join(got.Rows, "")); !s.draft && !strings.Contains(text, mark) || s.draft && !strings.HasPrefix(got.AtCursor, mark) {
				t.Errorf("%s, %d columns: %s: the end is lost, or the cursor on %q:\n%s", m.name, s.width, s.what, got.AtCursor, strings.TrimSpace(strings.Join(got.Rows, "\n")))
				failed++
			}
			for y, row := range s.rows {
				if want := letters(ansi.Strip(row)); letters(got.Rows[y]) != want {
					t.Errorf("%s, %d columns: %s: row %d is %q, want %q", m.name, s.width, s.what, y, got.Rows[y], want)
					failed++
				}
			}
			if failed > 3 {
				break
			}
		}
	}
	if !slices.ContainsFunc(all, func(s shown) bool { return len(s.rows) > 20 }) {
		t.Error("no text was long")
	}
}

// The columns of a finished table are aligned on every terminal.
func TestColumnsAreAligned(t *testing.T) {
	text := "| ภาษา | b | c |\n|---|---|---|\n| ทำทำ | 🇩🇪 | x |\n| e | 👍🏽 | ❤️ |\n| हिहि | d | 漢字 |\n"
	for _, opt := range []vt.Options{{Width: 60, Height: 20}, {Width: 60, Height: 20, NarrowEmoji: true}} {
		s, term := openFake(t, opt)
		s.Print(markdown.Render(text, markdown.Options{Width: 60})...)
		s.Flush()
		var bars []int
		for x := range 60 {
			if strings.TrimSpace(term.Cell(x, 1).Text) == "┼" {
				bars = append(bars, x)
			}
		}
		if len(bars) != 2 {
			t.Fatalf("no table:\n%s", term.String())
		}
		for y := range 5 {
			for _, x := range bars {
				if cell := term.Cell(x, y).Text; cell != "│" && cell != "┼" {
					t.Errorf("%+v: row %d has %q in column %d:\n%s", opt, y, cell, x, term.String())
				}
			}
		}
	}
}

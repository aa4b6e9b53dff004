package picker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

var items = []picker.Item{
	{Title: "/help", Detail: "what can be done"},
	{Title: "/ide", Detail: "the editor"},
	{Title: "/model", Detail: "choose another model"},
	{Title: "/permissions"},
	{Title: "/größe\x1b[31m", Detail: "a name with\na newline"},
}

func plain() *picker.Picker {
	return picker.New(items, picker.Options{Title: "Commands", NoColor: true})
}

func TestView(t *testing.T) {
	p := plain()
	want := []string{
		"Commands ▏ 5 of 5 · type to filter · ↑ ↓ Enter · Esc", "› /help  what can be done", "  /ide  the editor", "  /model  choose another model",
		"  /permissions", `  /größe\u{1b}[31m  a name with\na newline`,
	}
	if d := cmp.Diff(want, p.View(80, 10)); d != "" {
		t.Error(d)
	}
	p.Press(keystest.Key("down"))
	p.Press(keystest.Key("down"))
	if d := cmp.Diff([]string{"Commands ▏ 5 o…", "  /ide  the ed…", "› /model  choo…"}, p.View(15, 3)); d != "" {
		t.Error("scrolled and cut:", d)
	}
	if got := p.View(80, 1); len(got) != 1 || !strings.HasPrefix(got[0], "› /model") {
		t.Errorf("one line: %q", got)
	}
}

func TestColors(t *testing.T) {
	p := picker.New(items, picker.Options{})
	p.SetFilter("md")
	want := []string{"\x1b[1;94m› /\x1b[0;1;4;94mm\x1b[0;1;94mo\x1b[0;1;4;94md\x1b[0;1;94mel\x1b[0;90m  choose another model\x1b[m"}
	if d := cmp.Diff(want, p.View(80, 5)); d != "" {
		t.Error(strings.ReplaceAll(d, "\x1b", "␛"))
	}
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []string
		want  int // the item under the cursor, -1 for none
		last  picker.Outcome
	}{
		{"first", nil, 0, picker.Open},
		{"down and choose", []string{"down", "enter"}, 1, picker.Chosen},
		{"up goes round", []string{"up"}, 4, picker.Open},
		{"down goes round", []string{"end", "ctrl+n"}, 0, picker.Open},
		{"page stops", []string{"pgdown", "pgdown"}, 4, picker.Open},
		{"page back", []string{"end", "pgup"}, 0, picker.Open},
		{"home", []string{"down", "home"}, 0, picker.Open},
		{"filter", []string{"p", "e", "r"}, 3, picker.Open},
		{"filter finds details", []string{"another"}, 2, picker.Open},
		{"filter beyond ASCII", []string{"grö"}, 4, picker.Open},
		{"no match", []string{"zzz", "enter", "down"}, -1, picker.Open},
		{"backspace", []string{"ö", "zz", "backspace", "backspace", "backspace"}, 0, picker.Open},
		{"backspace on nothing", []string{"backspace"}, 0, picker.Open},
		{"clear", []string{"zzz", "ctrl+u"}, 0, picker.Open},
		{"escape", []string{"esc"}, 0, picker.Cancelled},
		{"another key", []string{"f5"}, 0, picker.Ignored},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, last := plain(), picker.Open
			for _, s := range tt.steps {
				last = p.Press(keystest.Key(s))
			}
			got, ok := p.Selected()
			if !ok {
				got = -1
			}
			if got != tt.want || last != tt.last {
				t.Errorf("selected %d, outcome %v; want %d, %v (filter %q)", got, last, tt.want, tt.last, p.Filter())
			}
		})
	}
}

func TestNothingMatches(t *testing.T) {
	p := plain()
	p.SetFilter("zzz")
	if d := cmp.Diff([]string{"Commands zzz▏ 0 of 5 · type to filter ·…", "  nothing matches"}, p.View(40, 5)); d != "" || p.Len() != 0 {
		t.Error(d, p.Len())
	}
	if got := picker.New(nil, picker.Options{}).View(40, 5); len(got) != 1 {
		t.Errorf("no items: %q", got)
	}
}

func TestCursorIsAlwaysOnTheScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plain()
		if rapid.Bool().Draw(t, "columns") {
			p = picker.New(columns, picker.Options{Title: "Choose", NoColor: true})
		}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"up", "down", "pgup", "pgdown", "home", "end", "backspace", "e", "m"}).Draw(t, "key")
			p.Press(keystest.Key(key))
			width, height := rapid.IntRange(3, 100).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
			lines := p.View(width, height)
			if len(lines) > height {
				t.Fatalf("%d lines in %d", len(lines), height)
			}
			marked := 0
			for _, l := range lines {
				if cells.Width(l) > width {
					t.Fatalf("%q is wider than %d", l, width)
				}
				if strings.HasPrefix(l, "›") {
					marked++
				}
			}
			if want := min(p.Len(), 1); marked != want {
				t.Fatalf("%d cursors in %q", marked, lines)
			}
		}
	})
}

var columns = []picker.Item{
	{Title: "Fix the login", Cells: []string{"2 min", "main", "12"}, Preview: func() string { return "one\ntwo\x1b[2J\nthree" }},
	{Title: "A rather long title that has to be cut somewhere", Cells: []string{"yesterday", "größe", "3"}},
	{Title: "Short", Cells: []string{"", "a/branch/with/a/long/name/indeed"}},
}

func TestColumns(t *testing.T) {
	p := picker.New(columns, picker.Options{NoColor: true})
	for width, want := range map[int][]string{
		80: {
			"› Fix the login                          2 min      main                      12",
			"  A rather long title that has to be c…  yesterday  größe                     3 ",
			"  Short                                             a/branch/with/a/long/na…    ",
		},
		40: {
			"› Fix the login                2 min      ",
			"  A rather long title that h…  yesterday  ",
			"  Short                                 ",
		},
		20: {"› Fix the login", "  A rather long tit…", "  Short"},
	} {
		got := p.View(width, 5)
		for i := range got {
			got[i], want[i] = strings.TrimRight(got[i], " "), strings.TrimRight(want[i], " ")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d columns:\n%s", width, d)
		}
	}
	p.SetFilter("größe")
	if i, ok := p.Selected(); !ok || i != 1 {
		t.Errorf("by a cell: %d, %v", i, ok)
	}
}

func TestPreview(t *testing.T) {
	calls := 0
	all := []picker.Item{
		{Title: "one", Preview: func() string { calls++; return "a\nb\tc\n\x1b[2Jd" }},
		{Title: "two", Preview: func() string { return strings.Repeat("line\n", 50) + "last" }},
		{Title: "three"},
	}
	p := picker.New(all, picker.Options{NoColor: true})
	want := []string{"› one", "  two", "  three", "  │ a", "  │ b    c", `  │ \u{1b}[2Jd`}
	for range 2 {
		if d := cmp.Diff(want, p.View(40, 12)); d != "" {
			t.Error(d)
		}
	}
	if calls != 1 {
		t.Errorf("asked %d times", calls)
	}
	if got := p.View(40, 6); len(got) != 3 {
		t.Errorf("there is no room for a preview: %q", got)
	}
	p.Press(keystest.Key("down"))
	if got := p.View(40, 12); len(got) != 7 || got[6] != "  │ last" {
		t.Errorf("%q", got)
	}
	p.Press(keystest.Key("down"))
	if got := p.View(40, 12); len(got) != 3 {
		t.Errorf("%q", got)
	}
	if got := p.View(5, 12); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

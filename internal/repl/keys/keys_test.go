package keys

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
)

func mustParse(t *testing.T, text string) Map {
	t.Helper()
	m, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Names are unique, keys have canonical names, and in every place a key does one thing.
func TestTable(t *testing.T) {
	names := map[Action]bool{}
	for _, b := range table {
		if names[b.Action] || b.Help == "" || len(b.Keys) == 0 || !slices.Contains(places, b.Place) {
			t.Errorf("%+v", b)
		}
		names[b.Action] = true
		for _, k := range b.Keys {
			if name, err := parseKey(k); err != nil || name != k || nameOf(keystest.Key(k)) != k {
				t.Errorf("%s: %q is %q (%v), pressed %q", b.Action, k, name, err, nameOf(keystest.Key(k)))
			}
		}
	}
	for _, p := range places {
		seen := map[string]Action{}
		for _, b := range rows(p) {
			for _, k := range b.Keys {
				if seen[k] != "" && !b.own {
					t.Errorf("%s: %s is of %s and of %s", p, k, seen[k], b.Action)
				}
				if !b.own {
					seen[k] = b.Action
				}
			}
		}
	}
}

func TestKeysAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"ctrl+g": "ctrl+g", "Ctrl+G": "ctrl+g", "control+alt+x": "ctrl+alt+x", "alt+ctrl+x": "ctrl+alt+x", "Return": "enter",
		"shift+g": "G", "G": "G", "?": "?", "shift+tab": "shift+tab", "Escape": "esc", "PageUp": "pgup", "F2": "f2",
		"ctrl++": "ctrl++", "+": "+", "option+left": "alt+left", "ä": "ä", "ctrl+shift+k": "ctrl+shift+k", "ctrl+_": "ctrl+_",
	} {
		if got, err := parseKey(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"ctl+g": "did you mean ctrl+g?", "entre": "did you mean enter?", "ctrl+pgupp": "did you mean ctrl+pgup?",
		"": "is not a key", "gg": "is not a key", "ctrl+": "is not a key", "hyper+ö+x": "is not a key", "\x1b": "is not a key", "ctrl+i": "cannot distinguish ctrl+i from tab",
		"Ctrl+M": "cannot distinguish ctrl+m from enter",
	} {
		if got, err := parseKey(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestAnyTextIsAKeyOrAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		name, err := parseKey(text)
		if err == nil && nameOf(keystest.Key(name)) != name {
			t.Fatalf("%q is %q, pressed %q", text, name, nameOf(keystest.Key(name)))
		}
	})
}

func TestMistakesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"histroy: ctrl+s":               "line 1: histroy: unknown action; did you mean history?",
		"\nzzzzzzzzzzzzzzzzzzzz: f1":    "line 2: zzzzzzzzzzzzzzzzzzzz: unknown action; /keys lists them",
		"stop: ctl+g":                   `line 1: stop: "ctl+g" is not a key; did you mean ctrl+g?`,
		"history: ctrl+y":               "ctrl+y is the key of history and of yank (at the prompt): change one of them",
		"history: ctrl+c":               "ctrl+c is the key of interrupt and of history",
		"approve: n":                    "n is too easy to type",
		"approve: space":                "Space is too easy to type",
		"approve: enter":                "Enter is too easy to type",
		"approve-session: x":            "x is too easy to type",
		"approve: []":                   "needs a key",
		"approve: ctrl+z":               "ctrl+z is the key of suspend and of approve",
		"interrupt: f1":                 "of this action cannot be changed",
		"history: h":                    "h is for typing text",
		"mode: enter":                   "Enter is for typing text",
		"history: [f1, {a: b}]":         "expected a key or a list of keys",
		"history:":                      "expected a key or a list of keys",
		"- f1":                          "expected one action per line",
		"history: f1\nhistory: f2":      "twice",
		"history: f1\nyank: [f2, F1]":   "f1 is the key of history and of yank",
		"history: [":                    "did not find",
		"\"\\e[31mred\": f1":            "line 1: ",
		"pager-close: k\nlist-close: k": "k is for typing text",
	} {
		if m, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %+v, %v, want %q", text, m, err, want)
		}
	}
}

func TestChangedKeys(t *testing.T) {
	m := mustParse(t, `
# mine
history: [ctrl+s, f3]
yank: ctrl+r
leave: ctrl+q
approve: [y, alt+y]
expand: "="
full: []
pager-down: [j]
mode: alt+m
`)
	for _, c := range []struct {
		place Place
		press string
		got   Action
	}{
		{Prompt, "ctrl+s", History},
		{Prompt, "f3", History},
		{Prompt, "ctrl+r", Yank},
		{Prompt, "ctrl+y", ""},
		{Prompt, "ctrl+d", Delete}, // still deletes
		{Prompt, "ctrl+q", ""},     // not a key of the prompt
		{Prompt, "x", ""},
		{Prompt, "up", Previous},
		{Search, "ctrl+r", SearchOlder},
		{Search, "ctrl+s", SearchScope},
		{Search, "f3", History},
		{Search, "ctrl+y", ""},
		{Question, "y", Approve},
		{Question, "alt+y", Approve},
		{Question, "=", Expand},
		{Question, "x", ""},
		{Question, "v", ""},
		{Question, "n", Reject},
		{Question, "alt+m", Mode},
		{Question, "shift+tab", ""},
		{Pager, "j", PagerDown},
		{Pager, "down", ""},
		{Pager, "enter", ""},
		{Pager, "alt+m", Mode},
		{List, "down", ListDown},
	} {
		if got := m.At(c.place, keystest.Key(c.press)); got != c.got {
			t.Errorf("%s: %s is %q, want %q", c.place, c.press, got, c.got)
		}
	}
	for _, c := range []struct {
		key    string
		action Action
		is     bool
	}{
		{"ctrl+q", Leave, true}, {"ctrl+d", Leave, false}, {"alt+m", Mode, true}, {"shift+tab", Mode, false}, {"ctrl+c", Interrupt, true}, {"esc", Stop, true},
	} {
		if m.Is(keystest.Key(c.key), c.action) != c.is {
			t.Errorf("%s does %s: %v", c.key, c.action, !c.is)
		}
	}
	for place, rows := range m.All() {
		for _, r := range rows {
			switch {
			case strings.HasSuffix(r[1], "(history)") && r[0] != "Ctrl+S, F3", strings.HasSuffix(r[1], "(full)") && r[0] != "none":
				t.Errorf("%s: %s", place, r)
			}
		}
	}
}

// Without changes, the keys have their effects of the table.
func TestNoMapChangesNothing(t *testing.T) {
	same := mustParse(t, "history: ctrl+r")
	for _, m := range []Map{{}, same} {
		for _, b := range table {
			for _, k := range b.Keys {
				if got := m.At(b.Place, keystest.Key(k)); !b.own && got != b.Action {
					t.Errorf("%s: %s is %s", b.Place, k, got)
				}
				if !m.Is(keystest.Key(k), b.Action) {
					t.Errorf("%s does not do %s", k, b.Action)
				}
			}
		}
	}
	space := tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	if got := nameOf(space); got != "space" {
		t.Error(got)
	}
}

func TestHintsNameTheKeysInForce(t *testing.T) {
	m := mustParse(t, "answer-3: []\napprove: alt+y\nfull: []\nhunk-next: [f2]\ncancel: [f3, esc]\nleave-out: f4")
	for _, c := range []struct{ got, want string }{
		{m.Hint("yes", Answer1, Approve), "1 Alt+Y yes"},
		{m.Hint("no", Answer3, Reject), "n no"},
		{m.Hint("full", Full), "no key full"},
		{m.Hint("hunks", HunkNext, HunkPrevious), "F2 [ hunks"},
		{m.Hint("leave out a hunk", LeaveOut), "F4 leave out a hunk"},
		{m.Hint("back", Cancel), "F3 back"},
		{m.Hint("", FullClose), "q"},
		{Map{}.Hint("leave it out", LeaveOut), "space leave it out"},
		{Map{}.Hint("next file", FileNext), "Tab next file"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if m, err := Load(file); err != nil || !m.Is(keystest.Key("ctrl+d"), Leave) {
		t.Errorf("without a file: %v", err)
	}
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"# nothing\n", ""},
		{"leave: ctrl+q\n", ""},
		{"leaf: ctrl+q\n", file + ": line 1: leaf: unknown action; did you mean leave?"},
		{strings.Repeat("#", maxFile+1), file + " is larger than 64 KiB"},
	} {
		scratch.Write(t, file, c.text)
		if _, err := Load(file); fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%.20q: %v", c.text, err)
		}
	}
	scratch.Write(t, file, "leaf: ctrl+q\nleave: ctrl+q\n")
	if m, err := Load(file); err == nil || !m.Is(keystest.Key("ctrl+q"), Leave) {
		t.Errorf("the lines that are right are not used: %v", err)
	}
	scratch.Write(t, file, "leave: ctrl+q\nhistory: ctrl+y\nmode: alt+m\n")
	if m, err := Load(file); err == nil || !strings.Contains(err.Error(), "line 2: history: ctrl+y is the key of history and of yank") ||
		!m.Is(keystest.Key("ctrl+q"), Leave) || !m.Is(keystest.Key("alt+m"), Mode) || !m.Is(keystest.Key("ctrl+r"), "history") || m.Is(keystest.Key("ctrl+y"), "history") {
		t.Errorf("a conflict takes the other lines with it: %v", err)
	}
	// The key of a line that is not used is again that of its action, which another line
	// has taken meanwhile.
	scratch.Write(t, file, "history: ctrl+c\nleave: ctrl+r\nmode: alt+m\n")
	if m, err := Load(file); err == nil || strings.Count(err.Error(), "is the key of") != 2 ||
		!m.Is(keystest.Key("ctrl+d"), Leave) || !m.Is(keystest.Key("ctrl+r"), "history") || !m.Is(keystest.Key("alt+m"), Mode) {
		t.Errorf("two conflicts: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestBriefFitsAnyWidth(t *testing.T) {
	for width := range 200 {
		lines := Map{}.Brief(width)
		text := strings.Join(lines, "\n")
		for _, l := range lines {
			if cells.Width(l) > width {
				t.Fatalf("%d columns: %q", width, l)
			}
		}
		for _, want := range []string{"Shift+Tab", "Esc ", "?"} {
			if width >= cell && want != "?" && !strings.Contains(text, want) {
				t.Fatalf("%d columns: no %s in\n%s", width, want, text)
			}
		}
	}
	if n := len(Map{}.Brief(120)); n > 6 {
		t.Errorf("%d lines", n)
	}
}

// The tables in the documentation match this one.
func TestDocumentation(t *testing.T) {
	golden.Section(t, "../../../docs/keys.md", "<!-- keys: made of the table in internal/repl/keys -->", "<!-- end of keys -->", "\n"+markdown())
}

// markdown returns the full list of default keys for the documentation.
func markdown() string {
	var b strings.Builder
	for _, p := range places {
		fmt.Fprintf(&b, "### %s\n\n| Key | Does | Action |\n|---|---|---|\n", p)
		for _, r := range table {
			if r.Place == p {
				fmt.Fprintf(&b, "| %s | %s | `%s` |\n", spelled(r.Keys), r.Help, r.Action)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

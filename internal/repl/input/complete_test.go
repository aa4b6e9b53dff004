package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var commands = []Command{
	{Name: "/help", Help: "what can be done"},
	{Name: "/model", Args: "[name]", Help: "choose the model"},
	{Name: "/compact", Help: "shorten the conversation"},
	{Name: "/context", Help: "what the model is told"},
}

func withLists(files ...string) *Editor {
	return New(Options{Commands: commands, Files: func() []string { return files }, NoColor: true})
}

// shown returns the open list, without styles.
func shown(e *Editor) []string {
	if !e.list.open() {
		return nil
	}
	lines, _, y := e.View(60, 8)
	var out []string
	for _, l := range lines[y+1:] {
		out = append(out, strings.TrimRight(ansi.Strip(l), " "))
	}
	return out
}

func TestPalette(t *testing.T) {
	e := withLists()
	press(e, "/")
	want := []string{
		"› /help          what can be done", "  /model [name]  choose the model",
		"  /compact       shorten the conversation", "  /context       what the model is told",
	}
	if diff := cmp.Diff(want, shown(e)); diff != "" || !e.Completing() {
		t.Error(diff)
	}
	press(e, "'con' down up")
	if diff := cmp.Diff([]string{"› /context  what the model is told"}, shown(e)); diff != "" {
		t.Error(diff)
	}
}

func TestChoosing(t *testing.T) {
	tests := []struct {
		name, keys, want string
		action           Action
	}{
		{"tab completes", "'/co' down tab", "/context |", Handled},
		{"enter runs what needs nothing more", "'/he' enter", "/help|", Submit},
		{"enter completes what does", "'/mo' enter", "/model |", Handled},
		{"enter runs what was typed out", "'/model' enter", "/model|", Submit},
		{"enter only completes what was guessed", "'/hlp' enter", "/help |", Handled},
		{"no such command", "'/zzz' enter", "/zzz|", Submit},
		{"not within the text", "'a_/he' enter", "a /he|", Submit},
		{"esc closes", "'/he' esc enter", "/he|", Submit},
		{"… until another word", "'/he' esc backspace backspace backspace '/mo' tab", "/model |", Handled},
		{"wraps around", "/ up tab", "/context |", Handled},
		{"a file", "'see_@app' enter", "see @src/app.go |", Handled},
		{"within the text", "'see_@_now' left left left left 'main' tab", "see @cmd/main.go |now", Handled},
		{"and another right behind", "'@app' tab '@main' tab", "@src/app.go @cmd/main.go |", Handled},
		{"with a blank in its name", "'@notes' tab", `@"my notes.md" |`, Handled},
		{"not in an address", "'me@app' enter", "me@app|", Submit},
		{"no such file", "'@zzz' enter", "@zzz|", Submit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := withLists("cmd/main.go", "src/app.go", "my notes.md", "src/application_test.go")
			action := press(e, tt.keys)
			if got := state(e); got != tt.want || action != tt.action {
				t.Errorf("%q, action %d; want %q, %d", got, action, tt.want, tt.action)
			}
		})
	}
}

func TestARecalledCommandOpensNoList(t *testing.T) {
	e := New(Options{Commands: commands, History: stored("/help", "@x")})
	press(e, "up up")
	if e.Completing() || e.Text() != "/help" {
		t.Errorf("list open on %q", e.Text())
	}
}

func TestFilesThatAreNotKnownYet(t *testing.T) {
	var files []string
	e := New(Options{Files: func() []string { return files }})
	press(e, "'@ma'")
	if e.Completing() {
		t.Error("a list of nothing")
	}
	files = []string{"main.go"}
	press(e, "'i'")
	if diff := cmp.Diff([]string{"› main.go"}, shown(e)); diff != "" {
		t.Error(diff)
	}
}

func TestNamesAreNoTraps(t *testing.T) {
	e := withLists("evil\x1b[2Jname", "ev\nil", "evil\u202egnp.exe", "evident")
	press(e, "'@ev'")
	if diff := cmp.Diff([]string{"› evident"}, shown(e)); diff != "" {
		t.Error(diff)
	}
}

func TestRanking(t *testing.T) {
	files := []string{
		"vendor/some/long/application/port/parser.go", "internal/app/app.go", "docs/happy.md", "app.go", "internal/repl/input/input.go",
		"internal/repl/screen/screen_test.go", "internal/repl/screen/screen.go", "README.md", "cmd/agent/main.go", "Src/FooBar.go",
	}
	tests := []struct{ query, best string }{
		{"app", "app.go"},
		{"appapp", "internal/app/app.go"},
		{"screen", "internal/repl/screen/screen.go"},
		{"screentest", "internal/repl/screen/screen_test.go"},
		{"repscr", "internal/repl/screen/screen.go"},
		{"readme", "README.md"},
		{"main", "cmd/agent/main.go"},
		{"fb", "Src/FooBar.go"},
		{"INPUT", "internal/repl/input/input.go"},
	}
	for _, tt := range tests {
		var s search
		got := s.find(files, tt.query)
		if len(got) == 0 || got[0] != tt.best {
			t.Errorf("%s: %q, want %s first", tt.query, got, tt.best)
		}
	}
}

// A query that is typed letter by letter finds what it finds when typed at once, and
// only what has its letters in order.
func TestNarrowing(t *testing.T) {
	name := rapid.StringMatching(`[a-cA-C/_.é]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfN(name, 1, 80).Draw(t, "files")
		query := rapid.StringMatching(`[a-cB_/é]{1,5}`).Draw(t, "query")
		var typed, once search
		for i := range query {
			typed.find(files, query[:i])
		}
		got := typed.find(files, query)
		if diff := cmp.Diff(once.find(files, query), got); diff != "" {
			t.Fatal(diff)
		}
		n := 0
		for _, f := range files {
			if seen(lowerASCII(query), f) >= 0 {
				n++
			}
		}
		if len(got) != min(n, maxMatches) {
			t.Fatalf("%d found, %d match", len(got), n)
		}
	})
}

func BenchmarkFiles(b *testing.B) {
	files := make([]string, 90_000)
	for i := range files {
		files[i] = fmt.Sprintf("some/path/number%d/to/a/file_%d.go", i%977, i)
	}
	for b.Loop() {
		var s search
		s.find(files, "pafi")
	}
}

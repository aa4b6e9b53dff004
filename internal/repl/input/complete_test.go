package input

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/fuzzy"
)

var commands = []Command{
	{Name: "/help", Help: "what can be done"},
	{Name: "/model", Args: "[name]", Help: "choose the model"},
	{Name: "/compact", Help: "shorten the conversation"},
	{Name: "/context", Help: "what the model is told"},
}

// TestFilesThatAreLeftOut requires the remark below the list, also without a match, and only
// while an @name is typed.
func TestFilesThatAreLeftOut(t *testing.T) {
	e := New(Options{
		Files: lookup([]string{"main.go"}), Commands: fixed(commands), NoColor: true,
		Remark: func() string { return "not all" },
	})
	for _, tt := range []struct {
		keys, want string
	}{
		{"'@ma'", "› main.go\n  not all"}, {"'x'", "  not all"}, {"'_'", ""}, {"'@ma' enter", ""}, {"'@ma' esc", ""},
	} {
		press(e, tt.keys)
		lines, _, y := e.View(60, 8)
		for i := range lines {
			lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ")
		}
		if got := strings.Join(lines[y+1:], "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.keys, got, tt.want)
		}
	}
}

// lookup returns files that contain the letters of the query.
// fixed returns a palette that does not change.
func fixed(list []Command) func() []Command { return func() []Command { return list } }

func lookup(files []string) func(string) []string {
	return func(query string) []string {
		return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !fuzzy.Has(query, f) })
	}
}

func withLists(files ...string) *Editor {
	return New(Options{Commands: fixed(commands), Files: lookup(files), NoColor: true})
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
		{"a folder, then what is in it", "'@cm' tab 'ma' tab", "@cmd/main.go |", Handled},
		{"a folder alone", "'@cm' enter 'x'", "@cmd/ x|", Handled},
		{"a folder with a blank in its name", "'@thein' tab 'no' tab", `@"the inbox/no te.md" |`, Handled},
		{"a name in quotes", "'@\"the_inbox/no_t' tab", `@"the inbox/no te.md" |`, Handled},
		{"a quote that is closed", "'@\"my_notes.md\"_app' tab", `@"my notes.md" app|`, Ignored},
		{"within quotes of one's own", "'say_\"@app' tab", `say "@app|`, Ignored},
		{"not in an address", "'me@app' enter", "me@app|", Submit},
		{"no such file", "'@zzz' enter", "@zzz|", Submit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := withLists("cmd/", "cmd/main.go", "src/app.go", "my notes.md", "src/application_test.go", "the inbox/", "the inbox/no te.md")
			action := press(e, tt.keys)
			if got := state(e); got != tt.want || action != tt.action {
				t.Errorf("%q, action %d; want %q, %d", got, action, tt.want, tt.action)
			}
		})
	}
}

func TestARecalledCommandOpensNoList(t *testing.T) {
	e := New(Options{Commands: fixed(commands), History: stored("/help", "@x")})
	press(e, "up up")
	if e.Completing() || e.Text() != "/help" {
		t.Errorf("list open on %q", e.Text())
	}
}

func TestFilesThatAreNotKnownYet(t *testing.T) {
	var files []string
	e := New(Options{Files: func(query string) []string { return lookup(files)(query) }})
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

// The list of an @name opens and changes when the files become known, and keeps its selection.
func TestFilesThatBecomeKnown(t *testing.T) {
	var known []string
	e := New(Options{Files: func(query string) []string { return lookup(known)(query) }, NoColor: true})
	press(e, "'see_@ma'")
	if got := shown(e); got != nil {
		t.Fatalf("%q", got)
	}
	known = []string{"main.go", "map.go"}
	e.NamesChanged()
	if d := cmp.Diff([]string{"› main.go", "  map.go"}, shown(e)); d != "" {
		t.Fatal(d)
	}
	press(e, "down")
	known = []string{"manual.md", "main.go", "map.go"}
	e.NamesChanged()
	if d := cmp.Diff([]string{"  manual.md", "  main.go", "› map.go"}, shown(e)); d != "" {
		t.Error(d)
	}
	press(e, "esc")
	e.NamesChanged()
	if got := shown(e); got != nil {
		t.Errorf("a closed list opened: %q", got)
	}
}

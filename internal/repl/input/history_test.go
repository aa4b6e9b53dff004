package input

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// memory is a History in memory.
type memory struct {
	entries []Entry
	fail    error
}

func (m *memory) Entries() ([]Entry, error) { return slices.Clone(m.entries), m.fail }
func (m *memory) Add(text string) error {
	m.entries = append(m.entries, Entry{Text: text, Here: true})
	return m.fail
}

// stored returns a history; entries that begin with ~ are from another project.
func stored(entries ...string) *memory {
	m := &memory{}
	for _, e := range entries {
		text, elsewhere := strings.CutPrefix(e, "~")
		m.entries = append(m.entries, Entry{Text: text, Here: !elsewhere})
	}
	return m
}

func withHistory(entries ...string) *Editor { return New(Options{History: stored(entries...)}) }

func TestRecall(t *testing.T) {
	past := []string{"make test", "git status", "make lint", "two\nlines", "make lint"}
	tests := []struct{ name, keys, want string }{
		{"the newest", "up", "make lint|"},
		{"older, without repeating what is shown", "up up", "two\nlines|"},
		{"within an entry first", "up up up", "two|\nlines"},
		{"the oldest stays", "up up up up up up up up up", "make test|"},
		{"and back to the draft", "'dr' left home up up down down", "|dr"},
		{"by what stands before the cursor", "'make' up up", "make test|"},
		{"nothing that begins so", "'zzz' up", "zzz|"},
		{"edited, it is a draft of its own", "up backspace up down", "make lin|"},
		{"undo brings the draft back", "'ma' up ctrl+_", "ma|"},
		{"search", "ctrl+r 'stat' enter", "git status|"},
		{"search again", "ctrl+r 'make' ctrl+r ctrl+r enter", "make test|"},
		{"search ignores case", "ctrl+r 'GIT' tab", "git status|"},
		{"search given up", "'dr' ctrl+r 'git' esc", "dr|"},
		{"search shortened", "ctrl+r 'two' backspace backspace backspace 'git' enter", "git status|"},
		{"search finds nothing", "ctrl+r 'gitx' enter", "git status|"},
		{"a motion takes what was found", "ctrl+r 'git' home", "|git status"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := withHistory(past...)
			press(e, tt.keys)
			if got := state(e); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// ↑ visits this project's entries first, then the others.
func TestProjectFirst(t *testing.T) {
	e := withHistory("here 1", "~there 1", "here 2", "~there 2")
	for _, want := range []string{"here 2", "here 1", "there 2", "there 1", "there 1"} {
		if press(e, "up"); e.Text() != want {
			t.Errorf("%q, want %q", e.Text(), want)
		}
	}
}

// The search shows its match and its scope; Ctrl+S switches the scope.
func TestSearchIsShown(t *testing.T) {
	e := withHistory("~git push", "git status", "then git log")
	see := func(keys string, want ...string) {
		t.Helper()
		press(e, keys)
		if lines, _, _ := e.View(60, 5); cmp.Diff(want, lines) != "" || !e.Completing() {
			t.Errorf("after %s: %q", keys, lines)
		}
	}
	const help = "\x1b[90m · Ctrl+R older · Ctrl+S all · Esc\x1b[m"
	here := func(query string) string { return "\x1b[90msearch this project: \x1b[m" + query + help }
	hit := func(text string) string {
		var b strings.Builder
		for _, r := range text {
			b.WriteString("\x1b[7m" + string(r) + "\x1b[m")
		}
		return b.String()
	}
	see("ctrl+r", "", here(""))
	see("'Git'", "then "+hit("git")+" log", here("Git"))
	see("ctrl+r", hit("git")+" status", here("Git"))
	see("ctrl+r", hit("git")+" status", here("Git"))
	press(e, "ctrl+s")
	if lines, _, _ := e.View(70, 5); !strings.Contains(lines[1], "search all projects: ") || !strings.Contains(lines[1], "Ctrl+S this project") {
		t.Errorf("%q", lines)
	}
	press(e, "ctrl+r ctrl+r")
	if e.Text() != "git push" {
		t.Errorf("found %q", e.Text())
	}
	press(e, "'zz'")
	if lines, _, _ := e.View(60, 5); !strings.Contains(lines[1], "not in all projects") || strings.Contains(lines[0], "\x1b[7m") {
		t.Errorf("%q", lines)
	}
	press(e, "esc")
	if e.Text() != "" || e.Completing() {
		t.Errorf("given up, left %q", e.Text())
	}
}

func TestSubmittedTextIsKept(t *testing.T) {
	m := &memory{}
	e := New(Options{History: m})
	for _, text := range []string{"one", "two\nlines", "two\nlines", "  ", "日本"} {
		e.Paste(text)
		e.Take()
	}
	if diff := cmp.Diff(stored("one", "two\nlines", "日本").entries, m.entries, cmpopts.IgnoreUnexported(Entry{})); diff != "" {
		t.Error(diff)
	}
	press(e, "up up")
	if e.Text() != "two\nlines" {
		t.Errorf("recalled %q", e.Text())
	}
}

// A discarded draft comes back whole, and is saved only once it is submitted.
func TestDraftsComeBack(t *testing.T) {
	m := stored("before")
	e := New(Options{History: m})
	long := strings.Repeat("line\n", 20)
	press(e, "'see_'")
	e.Paste(long)
	e.Drop()
	if !e.Empty() || len(m.entries) != 1 {
		t.Errorf("left %q, kept %v", e.Text(), m.entries)
	}
	press(e, "up")
	if lines, _, _ := e.View(80, 5); !strings.HasPrefix(lines[0], "see \x1b[90m[pasted 20 lines #1]") || e.Text() != "see "+long {
		t.Errorf("%q", lines)
	}
	e.Drop()
	press(e, "up up")
	if e.Text() != "before" {
		t.Errorf("dropped twice, it is there twice: %q", e.Text())
	}
	press(e, "down")
	e.Take()
	if len(m.entries) != 2 || m.entries[1].Text != "see "+long {
		t.Errorf("submitted, but kept %v", m.entries)
	}
}

func TestLongEntriesAreRecalledFolded(t *testing.T) {
	e := New(Options{})
	long := strings.Repeat("line\n", 20000)
	e.Paste(long)
	e.Take()
	press(e, "up")
	if lines, _, _ := e.View(80, 10); len(lines) != 1 || e.Text() != long {
		t.Errorf("%d lines shown", len(lines))
	}
}

// The words around a paste stay words.
func TestASubmittedPasteIsRecalledAlone(t *testing.T) {
	e := New(Options{History: stored()})
	long := strings.Repeat("line\n", 20)
	press(e, "'see_'")
	e.Paste(long)
	press(e, "'_and_tell'")
	want := e.Text()
	for range 2 {
		if got := e.Take(); got != want {
			t.Fatalf("%q", got)
		}
		press(e, "up")
		if got := e.Source(); got != "see [pasted 20 lines #1] and tell" || e.Text() != want {
			t.Errorf("recalled %q", got)
		}
	}
}

func TestHistoryErrorsAreReportedOnce(t *testing.T) {
	m := &memory{fail: errors.New("disk full")}
	e := New(Options{History: m})
	e.Paste("one")
	if text := e.Take(); text != "one" || !errors.Is(e.Err(), m.fail) || e.Err() != nil {
		t.Errorf("submitted %q", text)
	}
	e.Paste("two")
	if e.Take(); e.Err() != nil {
		t.Error("told with each prompt")
	}
	m.fail = nil
	e.Paste("three")
	e.Take()
	m.fail = errors.New("full again")
	e.Paste("four")
	if e.Take(); !errors.Is(e.Err(), m.fail) {
		t.Error("it works and fails again, and nobody is told")
	}
}

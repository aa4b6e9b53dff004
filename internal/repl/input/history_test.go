package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// memory is a Store at the edge of the process.
type memory struct {
	data     string
	replaced int
	fail     error
}

func (m *memory) Read() ([]byte, error)     { return []byte(m.data), m.fail }
func (m *memory) Append(line []byte) error  { m.data += string(line); return m.fail }
func (m *memory) Replace(all []byte) error  { m.data = string(all); m.replaced++; return m.fail }
func withHistory(entries ...string) *Editor { return New(Options{History: stored(entries...)}) }

func stored(entries ...string) *FileHistory {
	h := NewHistory(&memory{}, 100)
	for _, e := range entries {
		if err := h.Add(e); err != nil {
			panic(err)
		}
	}
	return h
}

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

func TestSearchIsShown(t *testing.T) {
	e := withHistory("git status")
	press(e, "ctrl+r 'git'")
	lines, _, _ := e.View(40, 5)
	if want := []string{"git status", "\x1b[2msearch the history: \x1b[22mgit"}; cmp.Diff(want, lines) != "" || !e.Completing() {
		t.Errorf("%q", lines)
	}
	press(e, "'zz'")
	if lines, _, _ := e.View(40, 5); !strings.Contains(lines[1], "not in the history") {
		t.Errorf("%q", lines)
	}
}

func TestSubmittedTextIsKept(t *testing.T) {
	m := &memory{}
	e := New(Options{History: NewHistory(m, 100)})
	for _, text := range []string{"one", "two\nlines", "two\nlines", "  ", "日本"} {
		e.Paste(text)
		e.Take()
	}
	want := []string{"one", "two\nlines", "日本"}
	got, err := NewHistory(m, 100).Entries()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	press(e, "up up")
	if e.Text() != "two\nlines" {
		t.Errorf("recalled %q", e.Text())
	}
}

func TestLongEntriesAreRecalledFolded(t *testing.T) {
	m := &memory{}
	e := New(Options{History: NewHistory(m, 100)})
	long := strings.Repeat("line\n", 20000)
	e.Paste(long)
	e.Take()
	if m.data != "" {
		t.Errorf("%d bytes were written", len(m.data))
	}
	press(e, "up")
	if lines, _, _ := e.View(80, 10); len(lines) != 1 || e.Text() != long {
		t.Errorf("%d lines shown", len(lines))
	}
}

func TestBrokenHistoryFiles(t *testing.T) {
	m := &memory{data: "\"one\"\nnot json\n\"two\"\n{\"a\":1}\n\"torn en"}
	h := NewHistory(m, 100)
	got, err := h.Entries()
	if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := h.Add("three"); err != nil {
		t.Fatal(err)
	}
	got, err = NewHistory(m, 100).Entries()
	if diff := cmp.Diff([]string{"one", "two", "three"}, got); diff != "" || err != nil {
		t.Errorf("after a torn line: %v\n%s", err, diff)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	m := &memory{}
	for i := range 20 {
		h := NewHistory(m, 5)
		if _, err := h.Entries(); err != nil {
			t.Fatal(err)
		}
		if err := h.Add(strings.Repeat("x", i+1)); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(m.data, "\n"); n > 10 {
			t.Fatalf("%d entries in the file", n)
		}
	}
	got, err := NewHistory(m, 5).Entries()
	if err != nil || len(got) != 5 || len(got[4]) != 20 || m.replaced == 0 {
		t.Errorf("%d entries, %v, %d rewrites", len(got), err, m.replaced)
	}
}

func TestHistoryErrorsAreReportedOnce(t *testing.T) {
	m := &memory{fail: errors.New("disk full")}
	e := New(Options{History: NewHistory(m, 5)})
	e.Paste("one")
	if text := e.Take(); text != "one" || !errors.Is(e.Err(), m.fail) || e.Err() != nil {
		t.Errorf("submitted %q", text)
	}
}

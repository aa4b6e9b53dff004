package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// TestFork forks a session while it is open, and checks that this leaves it unchanged,
// byte for byte.
func TestFork(t *testing.T) {
	a := New(t.TempDir())
	id, path := storeSample(t, a)
	s := reopen(t, a, id)
	if err := errors.Join(s.Append(history.Entry{Pin: &history.Pin{N: 1, On: true}}), s.State(State{Branch: "main", Prompts: 1}), s.Sync()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fork, err := a.Fork(id, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fork.Append(history.Entries(llm.TextMessage(llm.User, "another way"))...), fork.Close()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the old session has changed: %v", err)
	}
	info, conv, err := a.Read(fork.ID())
	if err != nil || info.From != id || info.Title != s.Info().Title || info.Branch != "main" || info.Dir != "/src/project" || conv.Usage != (llm.Usage{}) {
		t.Errorf("%+v, %+v, %v", info, conv.Usage, err)
	}
	want := append(sample(), llm.TextMessage(llm.User, "another way"))
	if diff := cmp.Diff(want, conv.Messages()); diff != "" {
		t.Error(diff)
	}
	if chat, _, _ := history.Rebuild(conv.Entries); !chat.Items()[0].Pinned {
		t.Error("the pin is lost")
	}
	named, err := a.Fork(id[:6], "  another\nidea ")
	if err != nil || named.Info().Title != "another idea" {
		t.Error(named, err)
	}
	if err := named.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Fork("zzzzz", ""); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	if list, err := a.List("/src/project"); err != nil || len(list) != 3 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// TestTheNewestStateIsListed covers long sessions, and sessions that were not closed in
// order.
func TestTheNewestStateIsListed(t *testing.T) {
	for name, tt := range map[string]struct{ between, after int }{
		"short": {1, 0}, "long": {200, 1}, "not left in order": {200, 200},
	} {
		a := New(t.TempDir())
		s := newStore(t, a)
		say := func(n int) error {
			for i := range n {
				if err := s.Append(history.Entries(llm.TextMessage(llm.User, fmt.Sprint("prompt ", i, strings.Repeat(" x", 300))))...); err != nil {
					return err
				}
			}
			return nil
		}
		err := errors.Join(say(tt.between), s.State(State{Branch: "main", Prompts: 1}), say(1), s.Rename("my own title"),
			s.State(State{Branch: "topic", Prompts: 7}), say(tt.after), s.Sync())
		if err != nil {
			t.Fatal(err)
		}
		list, err := a.List("")
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if got := list[0]; got.Title != "my own title" || got.Branch != "topic" || got.Prompts != 7 || got.Dir != "/src/project" {
			t.Errorf("%s: %+v", name, got)
		}
		if info, _, err := a.Read(s.ID()); err != nil || info.Title != "my own title" || info.Branch != "topic" {
			t.Errorf("%s: read %+v, %v", name, info, err)
		}
	}
}

func TestStateIsWrittenOnlyIfItChanged(t *testing.T) {
	a := New(t.TempDir())
	s := newStore(t, a)
	if err := errors.Join(s.State(State{Branch: "main"}), s.Sync()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.path); err == nil {
		t.Fatal("a file was made for a session in which nothing was said")
	}
	if err := s.Append(history.Entries(sample()[0])...); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for i, branch := range []string{"main", "main", "topic"} {
		if err := errors.Join(s.State(State{Branch: branch, Prompts: 1}), s.Sync()); err != nil {
			t.Fatal(err)
		}
		if same := s.out.size == size; same != (i == 1) {
			t.Errorf("state %d: from %d to %d bytes", i, size, s.out.size)
		}
		size = s.out.size
	}
}

func TestPreview(t *testing.T) {
	a := New(t.TempDir())
	id, _ := storeSample(t, a)
	said, err := a.Preview(id)
	if err != nil || len(said) != 3 || said[2].Text() != "Done." {
		t.Errorf("%+v, %v", said, err)
	}
	s := reopen(t, a, id)
	for i := range 300 {
		if err := s.Append(history.Entries(llm.TextMessage(llm.User, fmt.Sprint(i, strings.Repeat(" x", 500))))...); err != nil {
			t.Fatal(err)
		}
	}
	if said, err = a.Preview(id); err != nil || len(said) < 50 || !strings.HasPrefix(said[len(said)-1].Text(), "299") {
		t.Errorf("%d messages, %v", len(said), err)
	}
	if _, err := a.Preview("zzzzz"); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
}

// The texts of all sessions of a folder are returned, each shortened.
func TestTexts(t *testing.T) {
	a := New(t.TempDir())
	id, _ := storeSample(t, a)
	dir := reopen(t, a, id).Info().Dir
	long := a.Create(dir, "m")
	for i := range 400 {
		if err := long.Append(history.Entries(llm.TextMessage(llm.User, fmt.Sprint("number ", i, strings.Repeat(" x", 500))))...); err != nil {
			t.Fatal(err)
		}
	}
	if err := long.Close(); err != nil {
		t.Fatal(err)
	}
	said, err := a.Texts(t.Context(), dir)
	if err != nil || len(said) != 2 {
		t.Fatalf("%d sessions, %v", len(said), err)
	}
	if !strings.HasSuffix(said[id], "Done.\n") || strings.Contains(said[id], "package main") {
		t.Errorf("%q", said[id])
	}
	text := said[long.ID()]
	if len(text) > textEach+1 || !strings.HasPrefix(text, "number 0 ") || !strings.Contains(text, "number 399 ") {
		t.Errorf("%d bytes, %.40q", len(text), text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Texts(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A title describes the session: the next prompts follow a short first one, even after
// the session was opened again or forked. The user's own title stays.
func TestTitles(t *testing.T) {
	a := New(t.TempDir())
	s := newStore(t, a)
	say := func(s *Store, prompt, want string) {
		t.Helper()
		if err := s.Append(history.Entries(llm.TextMessage(llm.User, prompt), llm.TextMessage(llm.Assistant, "I see what you mean."))...); err != nil {
			t.Fatal(err)
		}
		if got := s.Info().Title; got != want {
			t.Errorf("after %q: the title is %q, want %q", prompt, got, want)
		}
	}
	closed := func(s *Store, want string) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if info, _, err := a.Read(s.ID()); err != nil || info.Title != want {
			t.Errorf("kept as %q, want %q: %v", info.Title, want, err)
		}
	}
	say(s, "go", "go")
	closed(s, "go")
	s = reopen(t, a, s.ID())
	say(s, "and\non", "go · and on")
	fork, err := a.Fork(s.ID(), "")
	if err != nil {
		t.Fatal(err)
	}
	say(fork, "mend the parser", "go · and on · mend the parser")
	say(fork, "again", "go · and on · mend the parser")
	closed(fork, "go · and on · mend the parser")

	if err := s.Rename("Mine"); err != nil {
		t.Fatal(err)
	}
	say(s, "write the tests", "Mine")
	closed(s, "Mine")
	s = reopen(t, a, s.ID())
	say(s, "and the docs", "Mine")
	closed(s, "Mine")
}

// TestClip: a text is cut by columns, before a word.
func TestClip(t *testing.T) {
	for _, tt := range []struct {
		text, want string
	}{
		{"mend\n the  parser", "mend the parser"},
		{"mend the parser and its tests", "mend the parser and…"},
		{"mend the parser also for names", "mend the parser also…"},
		{"see internal/session/archive/store.go", "see internal/session…"},
		{strings.Repeat("漢字", 5), strings.Repeat("漢字", 5)},
		{strings.Repeat("漢字", 6), strings.Repeat("漢字", 5) + "…"},
		{strings.Repeat("👩‍👩‍👧", 40), strings.Repeat("👩‍👩‍👧", 3) + "…"},
		{strings.Repeat(" ", 300) + "x", "x"},
	} {
		if got := Clip(tt.text, 21); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

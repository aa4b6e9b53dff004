package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// TestRewind goes back to a prompt: the messages after it are neither sent nor shown,
// even after the session is opened again; the file still has them.
func TestRewind(t *testing.T) {
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	r := newRig(t, Options{Store: s, Now: func() time.Time { return noon }, Mark: func() int64 { return 7 }},
		say("one"), say("", call("a", "read", "{}")), say("two"), say("three"), say("another two"))
	for _, prompt := range []string{"first", "second", "third"} {
		if err := r.Run(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	prompts := r.Prompts()
	if len(prompts) != 3 || prompts[1].Text != "second" || prompts[1].Turn == "" || !prompts[1].At.Equal(noon) || prompts[1].Mark != 7 {
		t.Fatalf("prompts %+v", prompts)
	}
	if err := r.Rewind(prompts[1].N); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.Messages(), "user: first", "assistant: one")
	if err := r.Run(t.Context(), "second again"); err != nil {
		t.Fatal(err)
	}
	want := []string{"user: first", "assistant: one", "user: second again"}
	wantChat(t, r.model.last(), want...)
	s.Close()

	s = reopen(t, a, s.ID())
	again := newRig(t, Options{Store: s})
	if diff := cmp.Diff(r.Messages(), again.Messages()); diff != "" {
		t.Errorf("resumed:\n%s", diff)
	}
	if diff := cmp.Diff(r.Prompts(), again.Prompts()); diff != "" {
		t.Errorf("prompts of the resumed session:\n%s", diff)
	}
	held := 0
	for _, e := range s.Conversation().Entries {
		if e.Item != nil {
			held++
		}
	}
	if want := 2 + 4 + 2 + 2; held != want {
		t.Errorf("the file holds %d messages, want %d", held, want)
	}
}

func TestRewindToNothing(t *testing.T) {
	r := newRig(t, Options{}, say("one"), say("two"))
	if err := r.Run(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 0, 2, 9} { // 2 is the answer
		if err := r.Rewind(n); err == nil {
			t.Errorf("message %d: no error", n)
		}
	}
	if err := r.Rewind(r.Prompts()[0].N); err != nil || len(r.Messages()) != 0 {
		t.Fatal(err, r.Messages())
	}
	if err := r.Run(t.Context(), "anew"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: anew")
	if n := r.Prompts()[0].N; n != 3 {
		t.Errorf("the prompt has number %d: a number is never used again", n)
	}
}

// TestRewindBeyondADamage checks that a lost record moves no other.
func TestRewindBeyondADamage(t *testing.T) {
	prompt := func(n int, s string) history.Entry {
		return history.Entry{Item: &history.Item{N: n, Message: history.Text("user", s)}}
	}
	answer := history.Entry{Item: &history.Item{N: 4, Message: history.Text("assistant", "b")}}
	chat, _, _ := history.Rebuild([]history.Entry{
		prompt(1, "one"), prompt(3, "three"), answer, prompt(5, "five"), {Rewind: &history.Rewind{Before: 5}},
	})
	if got := len(chat.Items()); got != 3 {
		t.Errorf("%d messages, want 3", got)
	}
}

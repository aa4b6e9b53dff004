package llmtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func post(t *testing.T, s *Server, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestTurnsAreAnsweredInOrder(t *testing.T) {
	s := NewServer(t, Turn{Text: "hello there", Chunk: 5}, Turn{Calls: []Call{{Name: "read_file", Args: `{"path":"a"}`}}})
	got, err := post(t, s, "one")
	if err != nil || strings.Count(got, "data: ") != 6 || !strings.Contains(got, `"content":"hello"`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = post(t, s, "two")
	if err != nil || !strings.Contains(got, `"id":"call_1_0"`) || !strings.Contains(got, `"finish_reason":"tool_calls"`) {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = post(t, s, "three")
	if err != nil || !strings.Contains(got, "the script has 2 turns") {
		t.Errorf("got %q, %v", got, err)
	}
	if want := [][]byte{[]byte("one"), []byte("two"), []byte("three")}; !bytes.Equal(bytes.Join(want, nil), bytes.Join(s.Requests(), nil)) {
		t.Errorf("requests %q", s.Requests())
	}
}

func TestFaultsAreCounted(t *testing.T) {
	s := NewServer(t, Turn{Text: "cut here", Chunk: 3, Fault: Drop, After: 1}, Turn{Text: "cut here", Chunk: 3, Fault: Truncate, After: 2})
	if got, err := post(t, s, ""); err == nil || strings.Count(got, "data: ") != 1 {
		t.Errorf("a dropped stream ended as %q, %v", got, err)
	}
	if got, err := post(t, s, ""); err != nil || strings.Count(got, "data: ") != 2 || strings.Contains(got, "DONE") {
		t.Errorf("a truncated stream ended as %q, %v", got, err)
	}
	if s.Fired(Drop) != 1 || s.Fired(Truncate) != 1 || s.Fired(Stall) != 0 {
		t.Error("the faults were not counted")
	}
}

func TestStallEndsWithTheClient(t *testing.T) {
	s := NewServer(t, Turn{Text: "abc", Fault: Stall, After: 1})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a stalled stream ended in order")
	}
}

func TestAwait(t *testing.T) {
	s := NewServer(t, Turn{Text: "x"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Await(ctx, 1); err == nil {
		t.Error("a request that has not come was found")
	}
	if _, err := post(t, s, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Await(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestGateHoldsTheAnswer(t *testing.T) {
	gate := make(chan struct{})
	s := NewServer(t, Turn{Text: "x", Gate: gate})
	got := make(chan string)
	go func() {
		body, _ := post(t, s, "")
		got <- body
	}()
	if err := s.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	select {
	case body := <-got:
		t.Errorf("answered %q before the gate was opened", body)
	default:
	}
	close(gate)
	if body := <-got; !strings.Contains(body, `"content":"x"`) {
		t.Errorf("got %q", body)
	}
}

func TestModels(t *testing.T) {
	s := NewServer(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/models", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(b), "test-model") || len(s.Requests()) != 0 {
		t.Errorf("got %q, %v", b, err)
	}
}

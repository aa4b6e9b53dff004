//go:build unix

package main

import (
	"path/filepath"
	"testing"
)

// TestHostedSessionWithoutPrompt: a later process loads a session to which nothing was said yet,
// and continues it under its id. It is no session for the terminal before its first prompt.
func TestHostedSessionWithoutPrompt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Hello.", "Hello again."), nil)
	h := d.host()
	id, _ := h.open()
	h.end()
	lists := func(want int) {
		t.Helper()
		got := h.request("session/list", map[string]any{"cwd": d.dir})
		if all, _ := got.Result["sessions"].([]any); len(all) != want {
			t.Errorf("%+v", got)
		}
	}
	for range 2 {
		h = d.host()
		lists(0)
		if got := h.request("session/load", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}}); got.Error != nil {
			t.Fatalf("%+v", got)
		}
		h.end()
	}
	h = d.host()
	if got := h.request("session/load", map[string]any{"sessionId": "aaaaaaaaaa", "cwd": d.dir, "mcpServers": []any{}}); got.Error == nil {
		t.Errorf("an unknown session: %+v", got)
	}
	if got := h.request("session/load", map[string]any{"sessionId": id, "cwd": t.TempDir(), "mcpServers": []any{}}); got.Error == nil {
		t.Errorf("in another folder: %+v", got)
	}
	if got := h.request("session/load", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}}); got.Error != nil {
		t.Fatalf("%+v", got)
	}
	h.prompt(id, "hello", "end_turn")
	lists(1)
	h.end()
	h = d.host()
	if got := h.request("session/load", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}}); got.Error != nil {
		t.Fatalf("%+v", got)
	}
	h.has("user_message_chunk hello")
	h.end()
	if left, err := filepath.Glob(filepath.Join(d.home, "sessions", "*", "*.begun")); err != nil || len(left) > 0 {
		t.Errorf("%v, left %q", err, left)
	}
}

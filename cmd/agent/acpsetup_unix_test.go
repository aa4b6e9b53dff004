//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostedSetUp: without a model a host learns how to choose one; a person does so in a
// terminal that the host opens with its own command line, and the session begins without a
// new connection.
func TestHostedSetUp(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.")
	d := fresh(t, server)
	d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+models(t, server, `{"data":[{"id":"small"}]}`, "")+"\n")
	h := d.host()
	session := map[string]any{"cwd": d.dir, "mcpServers": []any{}}
	method := func(offered map[string]any) map[string]any {
		got := h.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": offered})
		all, _ := got.Result["authMethods"].([]any)
		if len(all) != 1 {
			t.Fatalf("%v", got)
		}
		return all[0].(map[string]any)
	}
	required := func(got rpc) {
		t.Helper()
		if text, _ := got.Error["message"].(string); got.Error["code"] != -32000.0 || !strings.Contains(text, "no model is configured") || !strings.Contains(text, "on a terminal") {
			t.Errorf("%v", got)
		}
	}
	if m := method(map[string]any{"terminal": true}); m["type"] != "agent" || m["args"] != nil {
		t.Errorf("without a login in the terminal: %v", m)
	}
	m := method(map[string]any{"auth": map[string]any{"terminal": true}})
	if m["type"] != "terminal" || m["name"] == "" {
		t.Errorf("%v", m)
	}
	login := map[string]any{"methodId": m["id"]}
	required(h.request("session/new", session))
	required(h.request("authenticate", login))
	if got := h.request("authenticate", map[string]any{"methodId": "other"}); got.Error["code"] != -32602.0 {
		t.Errorf("%v", got)
	}
	if entries, err := os.ReadDir(filepath.Join(d.home, "sessions")); err == nil && len(entries) > 0 {
		t.Errorf("a session was begun: %v", entries)
	}

	args := []string{"acp"}
	for _, arg := range m["args"].([]any) {
		args = append(args, arg.(string))
	}
	d.open()
	d.run("agent", args...)
	d.WaitFor(`Which model\?`)
	d.Press("esc")
	if code := d.Wait(); code != 1 {
		t.Errorf("left: exit status %d", code)
	}
	required(h.request("session/new", session))
	for range 2 { // the second time nothing is missing, and another model can be chosen
		d.open()
		d.run("agent", args...)
		d.WaitFor(`(?s)Which model\?.*ollama/small`)
		d.choose("enter")
		d.WaitFor(`Using ollama/small`)
		if code := d.Wait(); code != 0 {
			t.Errorf("chosen: exit status %d", code)
		}
	}
	if got := h.request("authenticate", login); got.Error != nil || got.Result == nil {
		t.Errorf("%v", got)
	}
	got := h.request("session/new", session)
	if got = h.request("session/prompt", map[string]any{"sessionId": got.Result["sessionId"], "prompt": h.text("hi")}); got.Result["stopReason"] != "end_turn" {
		t.Errorf("%v", got)
	}
	h.has("agent_message_chunk Hello.")
	h.end()
	if code, out := d.command(args...); code != 2 || !strings.Contains(out, "no terminal") {
		t.Errorf("without a terminal: exit status %d: %s", code, out)
	}
}

// TestHostedKey: a missing key is told like a missing model; a mistake in the configuration is not.
func TestHostedKey(t *testing.T) {
	t.Parallel()
	d := fresh(t, answers(t))
	h := d.host()
	session := map[string]any{"cwd": d.dir, "mcpServers": []any{}}
	h.request("initialize", map[string]any{"protocolVersion": 1})
	for config, code := range map[string]float64{"model: openrouter/test\n": -32000, "model: nowhere/test\n": -32603} {
		d.keep("config.yaml", config)
		if got := h.request("session/new", session); got.Error["code"] != code {
			t.Errorf("%s: %v", config, got)
		}
	}
	h.end()
}

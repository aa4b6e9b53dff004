//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestHostedWords: in a host with forms a refusal can have words, which go to the model, and
// a question of the model another answer. A declined form leaves the refusal as it is.
func TestHostedWords(t *testing.T) {
	t.Parallel()
	edit := callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
	d := newDesk(t, llmtest.NewServer(t, edit, llmtest.Turn{Text: "I see."}, edit,
		callOf("ask_user", `{"question":"Which n\u0430me?","options":["left","r\u0435d\u00a0x"]}`), llmtest.Turn{Text: "So be it."}), map[string]string{"a.txt": "one\n"})
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}})
	id, _ := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}).Result["sessionId"].(string)
	prompt := func() rpc {
		return h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("go on")})
	}
	form := func(action string, content map[string]any) func(method string, params map[string]any) any {
		return func(method string, params map[string]any) any {
			schema, _ := params["requestedSchema"].(map[string]any)
			if method != "elicitation/create" || params["mode"] != "form" || params["sessionId"] != id || schema["type"] != "object" {
				t.Errorf("%s %v", method, params)
			}
			return map[string]any{"action": action, "content": content}
		}
	}
	choose := func(want string) func(q map[string]any) string {
		return func(q map[string]any) string {
			if !strings.Contains(fmt.Sprint(q["options"]), "optionId:"+want) {
				t.Errorf("no %s in %v", want, q["options"])
			}
			return want
		}
	}
	h.answer, h.serve = choose("reject-words"), form("accept", map[string]any{"words": " Write three instead. "})
	if got := prompt(); got.Result["stopReason"] != "end_turn" || d.read("a.txt") != "one\n" {
		t.Errorf("%+v, %q", got, d.read("a.txt"))
	}
	if last := string(d.request(1)); !strings.Contains(last, "Write three instead.") {
		t.Errorf("the model does not get the words: %s", last)
	}
	h.serve = form("decline", nil)
	if got := prompt(); got.Result["stopReason"] != "end_turn" || d.read("a.txt") != "one\n" || len(d.server.Requests()) != 3 {
		t.Errorf("%+v, %q, %d requests", got, d.read("a.txt"), len(d.server.Requests()))
	}
	h.answer, h.serve = func(q map[string]any) string {
		if all := fmt.Sprint(q); strings.Count(all, `Which n\u{430}me?`) != 2 || !strings.Contains(all, `r\u{435}d\u{a0}x`) {
			t.Errorf("letters that pass for others are not marked: %s", all)
		}
		return choose("answer-words")(q)
	}, form("accept", map[string]any{"words": "middle"})
	prompt()
	if last := string(d.request(4)); !strings.Contains(last, "middle") {
		t.Errorf("the model does not get the answer: %s", last)
	}
	h.end()
}

// TestHostedSessionIsDeleted: a host deletes a session that is not open, by its whole id, and
// opens one with further folders.
func TestHostedSessionIsDeleted(t *testing.T) {
	t.Parallel()
	more := t.TempDir()
	d := newDesk(t, llmtest.NewServer(t, callOf("write_file", `{"path":"`+more+`/b.txt","content":"x"}`), llmtest.Turn{Text: "Hello."}), nil)
	h := d.host()
	got := h.request("initialize", map[string]any{"protocolVersion": 1})
	if offered := fmt.Sprint(got.Result["agentCapabilities"]); !strings.Contains(offered, "delete:map[]") || !strings.Contains(offered, "additionalDirectories:map[]") {
		t.Errorf("offered: %s", offered)
	}
	if got := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}, "additionalDirectories": []string{"there"}}); got.Error["code"] != -32602.0 {
		t.Errorf("a relative folder: %+v", got)
	}
	id, _ := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}, "additionalDirectories": []string{more}}).Result["sessionId"].(string)
	h.answer = func(map[string]any) string { return "allow-once" }
	h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("write it")})
	if got := scratch.Read(t, more+"/b.txt"); got != "x" {
		t.Errorf("the file holds %q", got)
	}
	refused := func(id string) {
		t.Helper()
		if got := h.request("session/delete", map[string]any{"sessionId": id}); got.Error == nil {
			t.Errorf("deleted %q", id)
		}
	}
	refused(id)
	h.request("session/close", map[string]any{"sessionId": id})
	refused(id[:4])
	if got := h.request("session/delete", map[string]any{"sessionId": id}); got.Error != nil {
		t.Errorf("%+v", got)
	}
	if all, _ := h.request("session/list", map[string]any{"cwd": d.dir}).Result["sessions"].([]any); len(all) != 0 {
		t.Errorf("%v", all)
	}
	h.end()
}

// TestSessionIsClosedDuringAPrompt: a host closes a session whose prompt asks. The prompt is
// cancelled, and nothing is written.
func TestSessionIsClosedDuringAPrompt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("write_file", `{"path":"b.txt","content":"x"}`)), nil)
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1})
	id, _ := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}).Result["sessionId"].(string)
	prompt := h.begin("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("write it")})
	answers := map[string]rpc{}
	end := ""
	for len(answers) < 2 && h.out.Scan() {
		switch m := h.read(); m.Method {
		case "session/request_permission": // it stays unanswered
			end = h.begin("session/close", map[string]any{"sessionId": id})
		case "":
			answers[string(m.ID)] = m
		}
	}
	if end == "" || answers[end].Error != nil || answers[prompt].Result["stopReason"] != "cancelled" {
		t.Errorf("%+v", answers)
	}
	if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("again")}); got.Error == nil {
		t.Errorf("a closed session answers: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "b.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	h.end()
}

//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// until handles the agent's messages until done returns true.
func (h *host) until(done func() bool) {
	h.t.Helper()
	for !done() {
		if !h.out.Scan() {
			h.t.Fatalf("the agent closed its end: %v", h.out.Err())
		}
		h.took()
	}
}

// commands returns the commands that the host knows, with their hints, and how often it was told.
func (h *host) commands() (all []string, times int) {
	told := h.whole["available_commands_update"]
	if len(told) == 0 {
		return nil, 0
	}
	for _, c := range told[len(told)-1]["availableCommands"].([]any) {
		one := c.(map[string]any)
		name := fmt.Sprint(one["name"])
		if input, ok := one["input"].(map[string]any); ok {
			name += " " + fmt.Sprint(input["hint"])
		}
		all = append(all, name)
	}
	return all, len(told)
}

// knows reports whether the host knows a command, with its hint.
func (h *host) knows(command string) bool {
	all, _ := h.commands()
	return strings.Contains("\n"+strings.Join(all, "\n")+"\n", "\n"+command+"\n")
}

// choose answers the question about a server's prompt with the option of a name.
func choose(t *testing.T, name string) func(q map[string]any) string {
	return func(q map[string]any) string {
		call := q["toolCall"].(map[string]any)
		if call["title"] != "Send this as your message?" {
			t.Errorf("asked %v", call)
		}
		var names []string
		for _, o := range q["options"].([]any) {
			one := o.(map[string]any)
			if one["name"] == name {
				return fmt.Sprint(one["optionId"])
			}
			names = append(names, fmt.Sprint(one["name"]))
		}
		t.Errorf("no option %q in %q", name, names)
		return ""
	}
}

// TestHostedPrompts: the prompts of MCP servers are commands of the session once the servers have
// listed them, and again when the list changes. Their text is shown, and sent after a yes.
func TestHostedPrompts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "One."}, callOf("mcp__t__more", `{}`), llmtest.Turn{Text: "Two."}), nil)
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}})
	servers := []any{map[string]any{"name": "t", "command": os.Args[0], "args": []string{"mcp-server", "offers"}, "env": []any{}}}
	id, _ := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": servers}).Result["sessionId"].(string)
	prompt := func(words string) rpc {
		t.Helper()
		return h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text(words)})
	}
	h.until(func() bool { return h.knows("t:review <code> [style]") })
	if !h.knows("undo [turn|pick|file]") {
		all, _ := h.commands()
		t.Errorf("the program's commands are missing: %q", all)
	}

	if got := prompt("/t:review"); !strings.Contains(fmt.Sprint(got.Error["message"]), "code is missing (the code to review): /t:review takes <code> [style]") {
		t.Errorf("%+v", got)
	}
	if got := prompt("/t:nothing"); !strings.Contains(fmt.Sprint(got.Error["message"]), `has no prompt "nothing"`) {
		t.Errorf("%+v", got)
	}
	h.answer = choose(t, "Do not send it")
	prompt("/t:evil-one")
	h.has("agent_message_chunk ```\n/t:evil-one of the MCP server t says:\n\n!touch made")
	h.has("agent_message_chunk ```\nNothing was sent.")
	h.answer = func(map[string]any) string { return "" }
	prompt("/t:evil-one")
	h.has("agent_message_chunk ```\nNothing was chosen.")
	h.answer = choose(t, "Edit it first")
	prompt("/t:slash")
	h.has("agent_message_chunk ```\nCopy this text into your prompt, change it and send it:\n\n/quit")
	if n := len(d.server.Requests()); n != 0 {
		t.Errorf("%d requests before a yes", n)
	}
	h.answer = choose(t, "Send it")
	if got := prompt("/t:review a.go terse and kind"); got.Result["stopReason"] != "end_turn" {
		t.Errorf("%+v", got)
	}
	h.has("agent_message_chunk ```\n/t:review of the MCP server t says:\n\nReview a.go in the style terse and kind.")
	h.has("agent_message_chunk One.")
	if got := d.told(0); got != "Review a.go in the style terse and kind.\n\n(The assistant's part of the prompt:)\nGladly.\n\nSee @t:test://doc." {
		t.Errorf("the model was told %q", got)
	}
	if got := d.reads(); got != "" {
		t.Errorf("the server was asked to %s", got)
	}

	_, times := h.commands()
	h.answer = func(map[string]any) string { return "allow-once" }
	prompt("add one")
	h.until(func() bool { return h.knows("t:added") })
	if _, now := h.commands(); now != times+1 {
		t.Errorf("the commands were sent %d times for one change", now-times)
	}
	d.absent("made")
	h.end()
}

//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// open opens a session and returns its id with the whole answer.
func (h *host) open() (id string, got rpc) {
	h.t.Helper()
	got = h.request("session/new", map[string]any{"cwd": h.dir, "mcpServers": []any{}})
	if id, _ = got.Result["sessionId"].(string); id == "" {
		h.t.Fatalf("%+v", got)
	}
	return id, got
}

// prompt sends a prompt of text and checks how it ends.
func (h *host) prompt(id, words, stop string) {
	h.t.Helper()
	if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text(words)}); got.Result["stopReason"] != stop {
		h.t.Errorf("%s: %+v", words, got)
	}
}

// option returns the current value and the values of an option.
func option(t *testing.T, from map[string]any, id string) (now string, values []string) {
	t.Helper()
	all, _ := from["configOptions"].([]any)
	for _, one := range all {
		o := one.(map[string]any)
		if o["id"] != id {
			continue
		}
		for _, v := range o["options"].([]any) {
			values = append(values, v.(map[string]any)["value"].(string))
		}
		return o["currentValue"].(string), values
	}
	t.Errorf("no option %s in %v", id, from)
	return "", nil
}

// TestHostedOptions: a host sees and changes mode, model and effort, and each change reaches
// the requests.
func TestHostedOptions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "One."}, llmtest.Turn{Text: "Two."}), nil)
	h := d.host()
	id, got := h.open()
	if now, values := option(t, got.Result, "mode"); now != "default" || !slices.Equal(values, []string{"default", "accept-edits", "plan"}) {
		t.Errorf("mode %s of %v", now, values)
	}
	if now, _ := option(t, got.Result, "model"); now != "openai/test" {
		t.Errorf("model %s", now)
	}
	for len(h.whole["config_option_update"]) == 0 && h.out.Scan() {
		h.took()
	}
	if now, values := option(t, h.whole["config_option_update"][0], "model"); now != "openai/test" || !slices.Contains(values, "openai/test-model") {
		t.Errorf("model %s of %v", now, values)
	}
	h.prompt(id, "first", "end_turn")
	set := func(option, value string) rpc {
		return h.request("session/set_config_option", map[string]any{"sessionId": id, "configId": option, "value": value})
	}
	for _, c := range [][2]string{{"mode", "bypass"}, {"model", "openai/none"}, {"effort", "enormous"}, {"colour", "red"}} {
		if got := set(c[0], c[1]); got.Error == nil {
			t.Errorf("%v: %+v", c, got)
		}
	}
	for _, c := range [][2]string{{"mode", "plan"}, {"model", "openai/test-model"}, {"effort", "high"}} {
		if now, _ := option(t, set(c[0], c[1]).Result, c[0]); now != c[1] {
			t.Errorf("%s is %s", c, now)
		}
	}
	if modes := h.whole["current_mode_update"]; len(modes) != 1 || modes[0]["currentModeId"] != "plan" {
		t.Errorf("modes %v", modes)
	}
	h.prompt(id, "second", "end_turn")
	if first := string(d.request(0)); !strings.Contains(first, `"model":"test"`) {
		t.Errorf("%s", first)
	}
	if second := string(d.request(1)); !strings.Contains(second, `"model":"test-model"`) || !strings.Contains(second, `"reasoning_effort":"high"`) {
		t.Errorf("%s", second)
	}
	h.end()
}

// TestHostedUpdates: a host learns the commands, the title and how full the context is. A
// command answers, an undo is a question, and a command of the screen is refused.
func TestHostedUpdates(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("write_file", `{"path":"a.txt","content":"x\n"}`), llmtest.Turn{Text: "Done."}, llmtest.Turn{Text: "Hello."}), nil)
	d.env = append(d.env, "AGENT_MODEL=corp/m", "CORP_KEY="+canary)
	d.keep("config.yaml", "providers:\n  corp: {base_url: "+d.server.URL()+", api_key_env: CORP_KEY, context_window: 50000}\n")
	d.keep("servers.json", `[{"address":"`+d.server.URL()+`","provider":"corp"}]`)
	d.keep("commands/hello.md", "---\ndescription: greet\nargument-hint: name\n---\nSay hello to $1.\n")
	h := d.host()
	h.answer = func(map[string]any) string { return "allow-once" }
	id, _ := h.open()
	h.prompt(id, "make a file", "end_turn")
	var names []string
	for _, c := range h.whole["available_commands_update"][0]["availableCommands"].([]any) {
		names = append(names, c.(map[string]any)["name"].(string))
	}
	for _, want := range []string{"undo", "compact", "hello"} {
		if !slices.Contains(names, want) {
			t.Errorf("no /%s in %v", want, names)
		}
	}
	if infos := h.whole["session_info_update"]; len(infos) != 1 || infos[0]["title"] != "make a file" {
		t.Errorf("%v", infos)
	}
	if usage := h.whole["usage_update"]; len(usage) == 0 || usage[0]["size"] != 50000.0 || usage[0]["used"] == 0.0 {
		t.Errorf("%v", usage)
	}
	h.prompt(id, "/undo", "end_turn")
	h.has("agent_message_chunk ```\nundone: a.txt")
	h.prompt(id, "/hello Ada", "end_turn")
	if got := d.told(2); !strings.Contains(got, "Say hello to Ada.") {
		t.Errorf("the model was told %q", got)
	}
	if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("/theme")}); got.Error == nil {
		t.Errorf("%+v", got)
	}
	h.end()
}

// TestHostedPick: a host's user picks one of several changes of the same file to take back.
func TestHostedPick(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("write_file", `{"path":"a.txt","content":"1\n"}`), callOf("write_file", `{"path":"b.txt","content":"1\n"}`),
		callOf("write_file", `{"path":"b.txt","content":"2\n"}`), llmtest.Turn{Text: "Done."}), nil)
	h := d.host()
	h.answer = func(map[string]any) string { return "allow-once" }
	id, _ := h.open()
	h.prompt(id, "make files", "end_turn")
	var offered []string
	h.answer = func(q map[string]any) string {
		options, _ := q["options"].([]any)
		for _, o := range options {
			one := o.(map[string]any)
			if name := fmt.Sprint(one["name"]); strings.HasPrefix(name, "a.txt · 1 file · ") {
				return fmt.Sprint(one["optionId"])
			} else if strings.HasPrefix(name, "b.txt · ") {
				offered = append(offered, name)
			}
		}
		return "allow-once"
	}
	h.prompt(id, "/undo pick", "end_turn")
	h.has("agent_message_chunk ```\nundone: a.txt")
	if d.has("a.txt") || d.read("b.txt") != "2\n" || len(offered) != 2 || offered[0] == offered[1] {
		t.Errorf("offered %q; a.txt is there: %v", offered, d.has("a.txt"))
	}
	h.end()
}

// TestHostedRemovals: a host is asked about a move with both places and about a deletion,
// and an undo takes both back.
func TestHostedRemovals(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("move_file", `{"path":"a.txt","to":"to/b.txt"}`),
		callOf("delete_file", `{"path":"c.txt"}`), llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": "a\n", "c.txt": "c\n"})
	h := d.host()
	var asked []string
	h.answer = func(q map[string]any) string {
		call := q["toolCall"].(map[string]any)
		asked = append(asked, fmt.Sprint(call["kind"], call["locations"]))
		return "allow-once"
	}
	id, _ := h.open()
	h.prompt(id, "tidy up", "end_turn")
	at := func(name string) string { return "map[path:" + filepath.Join(d.dir, name) + "]" }
	want := []string{"move[" + at("a.txt") + " " + at("to/b.txt") + "]", "delete[" + at("c.txt") + "]"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if d.read("to/b.txt") != "a\n" || d.has("a.txt") || d.has("c.txt") {
		t.Error("the files were not moved and deleted")
	}
	h.answer = func(map[string]any) string { return "allow-once" }
	h.prompt(id, "/undo turn", "end_turn")
	if d.read("a.txt") != "a\n" || d.read("c.txt") != "c\n" || d.has("to") {
		t.Error("the move and the deletion were not taken back")
	}
	h.end()
}

// TestHostedLimit: a host learns which limit ended a turn.
func TestHostedLimit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "It is", Finish: "length"}, callOf("list_files", `{}`), llmtest.Turn{Text: "No more."}), nil)
	d.keep("config.yaml", "max_turns: 1\n")
	h := d.host()
	h.answer = func(map[string]any) string { return "reject-once" }
	id, _ := h.open()
	h.prompt(id, "tell me", "max_tokens")
	h.prompt(id, "look", "max_turn_requests")
	h.end()
}

// TestHostedPictures: a model that takes images gets those of a prompt, and a resource with
// its name; a broken image is an error.
func TestHostedPictures(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 12, 8))); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(picture.Bytes())
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Grey."}), nil)
	d.env = append(d.env, "AGENT_MODEL=corp/m", "CORP_KEY="+canary)
	d.keep("config.yaml", "providers:\n  corp: {base_url: "+d.server.URL()+", api_key_env: CORP_KEY, models: {m: {images: true}}}\n")
	d.keep("servers.json", `[{"address":"`+d.server.URL()+`","provider":"corp"}]`)
	h := d.host()
	got := h.request("initialize", map[string]any{"protocolVersion": 1})
	if c := got.Result["agentCapabilities"].(map[string]any)["promptCapabilities"].(map[string]any); c["image"] != true {
		t.Errorf("%v", c)
	}
	id, _ := h.open()
	file := func(name string) string { return (&url.URL{Scheme: "file", Path: d.path(name)}).String() }
	blocks := []map[string]any{
		{"type": "text", "text": "What is in "},
		{"type": "image", "mimeType": "image/png", "data": data},
		{"type": "resource_link", "name": "my file", "uri": file("my file.go") + "#L2:5"},
		{"type": "resource", "resource": map[string]any{"uri": file("b.md"), "text": "```\nfences\n```\n"}},
		{"type": "resource", "resource": map[string]any{"uri": file("c.png"), "mimeType": "image/png", "blob": data}},
	}
	if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": blocks}); got.Result["stopReason"] != "end_turn" {
		t.Fatalf("%+v", got)
	}
	body := string(d.request(0))
	for _, want := range []string{"[image 1: pasted 12×8]", "[image 2: c.png 12×8]", "@my file.go#L2-5", `@b.md:\n` + "````" + `\n` + "```" + `\nfences`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	if n := strings.Count(body, "data:image/png;base64,"+data); n != 2 {
		t.Errorf("%d images in %s", n, body)
	}
	for _, wrong := range []map[string]any{
		{"type": "image", "mimeType": "image/png", "data": "AAAA"}, {"type": "image", "mimeType": "image/png", "data": "no base64"}, {"type": "audio", "data": "AAAA"},
	} {
		if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": []any{wrong}}); got.Error["code"] != -32602.0 {
			t.Errorf("%v: %+v", wrong, got)
		}
	}
	h.end()
}

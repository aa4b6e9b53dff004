//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// buffers are the files that a host holds, by path.
type buffers struct {
	*host
	unsaved map[string]string
	wrote   []string                 // the texts written
	saves   func(text string) string // returns the text to save instead; nil saves the text
	idle    bool                     // it saves nothing
}

func newBuffers(h *host) *buffers {
	b := &buffers{host: h, unsaved: map[string]string{}}
	h.serve = b.serve
	h.request("initialize", map[string]any{
		"protocolVersion": 1, "clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": true, "writeTextFile": true}},
	})
	return b
}

func (b *buffers) serve(method string, params map[string]any) any {
	path := params["path"].(string)
	switch method {
	case "fs/read_text_file":
		if text, ok := b.unsaved[path]; ok {
			return map[string]any{"content": text}
		}
		return nil
	case "fs/write_text_file":
		text := params["content"].(string)
		b.wrote = append(b.wrote, text)
		if b.saves != nil {
			text = b.saves(text)
		}
		if b.idle {
			b.unsaved[path] = text
			return map[string]any{}
		}
		delete(b.unsaved, path)
		b.write(strings.TrimPrefix(path, b.dir+"/"), text)
		return map[string]any{}
	}
	b.t.Errorf("unexpected: %s", method)
	return nil
}

// TestHostedBuffers: the model reads a host's unsaved text, an edit is based on it and shown
// against it, the host writes it once and only after a yes, and an undo restores that text.
func TestHostedBuffers(t *testing.T) {
	edit := callOf("edit_file", `{"path":"a.txt","old_string":"typed","new_string":"edited"}`)
	d := newDesk(t, llmtest.NewServer(t,
		callOf("read_file", `{"path":"a.txt"}`), edit, edit, llmtest.Turn{Text: "Done."},
		callOf("write_file", `{"path":"new/b.txt","content":"b\n"}`), llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": "saved\r\n"})
	b := newBuffers(d.host())
	b.unsaved[d.path("a.txt")] = "typed\n"
	id, _ := b.open()
	var diffs []any
	answers := []string{"reject-once", "allow-once"}
	b.answer = func(q map[string]any) string {
		if len(b.wrote) > 0 {
			t.Errorf("it wrote %q before the answer", b.wrote)
		}
		diffs = append(diffs, q["toolCall"].(map[string]any)["content"].([]any)[0])
		answer := answers[0]
		answers = answers[1:]
		return answer
	}
	b.prompt(id, "edit it", "end_turn")
	if got := d.told(1); !strings.Contains(got, "1 | typed") {
		t.Errorf("the model read %q", got)
	}
	b.prompt(id, "again", "end_turn")
	for _, diff := range diffs {
		if diff := diff.(map[string]any); diff["oldText"] != "typed\r\n" || diff["newText"] != "edited\r\n" {
			t.Errorf("asked with %q", diff)
		}
	}
	if !slices.Equal(b.wrote, []string{"edited\r\n"}) || d.read("a.txt") != "edited\r\n" {
		t.Errorf("it wrote %q, the file holds %q", b.wrote, d.read("a.txt"))
	}
	b.wrote, answers = nil, []string{"allow-once"}
	b.prompt(id, "make one", "end_turn")
	if d.read("new/b.txt") != "b\n" || len(b.wrote) != 1 {
		t.Errorf("wrote %q", b.wrote)
	}
	b.wrote, answers = nil, []string{"allow-once", "allow-once"}
	b.unsaved[d.path("new/b.txt")] = "more\n"
	if got := b.request("session/prompt", map[string]any{"sessionId": id, "prompt": b.text("/undo")}); got.Error == nil || d.read("new/b.txt") != "b\n" {
		t.Errorf("an undo under unsaved changes: %+v", got)
	}
	delete(b.unsaved, d.path("new/b.txt"))
	b.prompt(id, "/undo", "end_turn")
	b.prompt(id, "/undo", "end_turn")
	if got := d.read("a.txt"); got != "typed\r\n" {
		t.Errorf("after the undo the file holds %q", got)
	}
	b.end()
}

// TestHostSavesOtherwise: the model and the person learn that a host has saved another text
// than was approved, or none; an edit of a text that changed meanwhile is another question.
func TestHostSavesOtherwise(t *testing.T) {
	edit := callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
	for name, c := range map[string]struct {
		saves       func(string) string
		idle        bool
		meanwhile   string
		told, shown string
		wrote, disk string
	}{
		"formats":  {saves: strings.ToUpper, told: "another text than was approved", shown: "another text than you approved (+2 −2)", wrote: "two\nx\n", disk: "TWO\nX\n"},
		"is idle":  {idle: true, told: "has not saved it", shown: "has not saved it", wrote: "two\nx\n", disk: "one\nx\n"},
		"types on": {meanwhile: "one\nx\ny\n", told: "merged", shown: "merged", wrote: "two\nx\ny\n", disk: "two\nx\ny\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, edit, llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": "one\nx\n"})
			b := newBuffers(d.host())
			b.saves, b.idle = c.saves, c.idle
			id, _ := b.open()
			b.answer = func(map[string]any) string {
				if c.meanwhile != "" {
					b.unsaved[d.path("a.txt")] = c.meanwhile
				}
				return "allow-once"
			}
			b.prompt(id, "edit it", "end_turn")
			if got := d.told(1); !strings.Contains(got, c.told) {
				t.Errorf("the model was told %q", got)
			}
			if !slices.Equal(b.wrote, []string{c.wrote}) || d.read("a.txt") != c.disk {
				t.Errorf("wrote %q, the file holds %q", b.wrote, d.read("a.txt"))
			}
			var shown []string
			for _, u := range b.whole["tool_call_update"] {
				for _, part := range u["content"].([]any) {
					shown = append(shown, part.(map[string]any)["content"].(map[string]any)["text"].(string))
				}
			}
			if !strings.Contains(strings.Join(shown, "\n"), c.shown) {
				t.Errorf("shown %q", shown)
			}
			b.end()
		})
	}
}

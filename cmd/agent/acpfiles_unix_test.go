//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// buffers are the files that a host holds, by path.
type buffers struct {
	*host
	unsaved map[string]string
	wrote   []string                 // the texts written
	saves   func(text string) string // returns the text to save instead; nil saves the text
	idle    bool                     // it saves nothing
	idles   string                   // the one file that it does not save
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
		if b.idle || b.idles != "" && strings.HasSuffix(path, "/"+b.idles) {
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
	t.Parallel()
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
	t.Parallel()
	edit := callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
	for name, c := range map[string]struct {
		saves       func(string) string
		idle        bool
		meanwhile   string
		told, shown string
		wrote, disk string
	}{
		"as a diff": {saves: strings.ToUpper, told: "-two\n", shown: "From the text that you approved to the one that your editor saved:\n```diff\n", wrote: "two\nx\n", disk: "TWO\nX\n"},
		"formats":   {saves: strings.ToUpper, told: "another text than was approved", shown: "another text than you approved (+2 −2)", wrote: "two\nx\n", disk: "TWO\nX\n"},
		"is idle":   {idle: true, told: "has not saved it", shown: "has not saved it", wrote: "two\nx\n", disk: "one\nx\n"},
		"types on":  {meanwhile: "one\nx\ny\n", told: "merged", shown: "merged", wrote: "two\nx\ny\n", disk: "two\nx\ny\n"},
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

// TestHostWritesSeveral: the files of one question go through the host as a single one does: they
// are based on its unsaved text, it writes each once and after the yes, the model and the person
// learn of those that it saved otherwise, and if it cannot save one, all are as before.
func TestHostWritesSeveral(t *testing.T) {
	patch := callOf("patch", `{"diff":"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: b.txt\n@@\n-typed\n+edited\n*** Add File: new/c.txt\n+c\n*** Delete File: d.txt\n*** End Patch\n"}`)
	for name, c := range map[string]struct {
		saves func(string) string
		idle  string // the file that it does not save
		told  string
		wrote []string
		disk  map[string]string
	}{
		"as approved": {
			told: "Wrote b.txt: 1 added, 1 removed", wrote: []string{"two\n", "edited\n", "c\n"},
			disk: map[string]string{"a.txt": "two\n", "b.txt": "edited\n", "new/c.txt": "c\n"},
		},
		"formatted": {
			saves: strings.ToUpper, told: "b.txt: the editor has saved another text than was approved", wrote: []string{"two\n", "edited\n", "c\n"},
			disk: map[string]string{"a.txt": "TWO\n", "b.txt": "EDITED\n", "new/c.txt": "C\n"},
		},
		"not the second": {
			idle: "b.txt", told: "nothing was written: b.txt: the editor took the text, but has not saved it", wrote: []string{"two\n", "edited\n", "one\n"},
			disk: map[string]string{"a.txt": "one\n", "b.txt": "saved\n", "d.txt": "d\n"},
		},
		"not the last": {
			idle: "new/c.txt", told: "nothing was written: new/c.txt: the editor took the text, but has not saved it", wrote: []string{"two\n", "edited\n", "c\n", "typed\n", "one\n"},
			disk: map[string]string{"a.txt": "one\n", "b.txt": "typed\n", "d.txt": "d\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, patch, llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": "one\n", "b.txt": "saved\n", "d.txt": "d\n"})
			b := newBuffers(d.host())
			b.saves, b.idles = c.saves, c.idle
			b.unsaved[d.path("b.txt")] = "typed\n"
			id, _ := b.open()
			b.answer = func(map[string]any) string {
				if len(b.wrote) > 0 {
					t.Errorf("it wrote %q before the answer", b.wrote)
				}
				return "allow-once"
			}
			b.prompt(id, "edit them", "end_turn")
			if got := d.told(1); !strings.Contains(got, c.told) || strings.Contains(got, "saved another text") != (c.saves != nil) {
				t.Errorf("the model was told %q", got)
			}
			if !slices.Equal(b.wrote, c.wrote) {
				t.Errorf("it wrote %q", b.wrote)
			}
			checkFiles(t, d.dir, c.disk)
			if shown := fmt.Sprint(b.whole["tool_call_update"]); strings.Contains(shown, "your editor saved another text") != (c.saves != nil) {
				t.Errorf("shown %s", shown)
			}
			if c.saves == nil && c.idle == "" {
				b.wrote = nil
				b.prompt(id, "/undo", "end_turn")
				checkFiles(t, d.dir, map[string]string{"a.txt": "one\n", "b.txt": "typed\n", "d.txt": "d\n"})
			}
			b.end()
		})
	}
}

// checkFiles compares all files below a folder with their wanted texts.
func checkFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		got[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the files: %s %v", diff, err)
	}
}

// TestHostHoldsOldText: the change by a command stays, the model reads it and the person sees
// it, if the host still shows the text from before, whatever its line endings.
func TestHostHoldsOldText(t *testing.T) {
	t.Parallel()
	changes := callOf("execute_command", `{"command":"sed -i s/one/two/ a.txt"}`)
	read := callOf("read_file", `{"path":"a.txt"}`)
	edit := callOf("edit_file", `{"path":"a.txt","old_string":"two","new_string":"three"}`)
	done := llmtest.Turn{Text: "Done."}
	for name, c := range map[string]struct {
		saved, held, want string
		ignored           bool
		turns             []llmtest.Turn
	}{
		"never read":                {"one\nx\n", "one\nx\n", "three\nx\n", false, []llmtest.Turn{changes, edit, done}},
		"read before":               {"one\nx\n", "one\nx\n", "three\nx\n", true, []llmtest.Turn{read, changes, edit, done}},
		"read after":                {"one\nx\n", "one\nx\n", "three\nx\n", false, []llmtest.Turn{changes, read, edit, done}},
		"changed twice":             {"one\nx\n", "one\nx\n", "three\ny\n", false, []llmtest.Turn{changes, callOf("execute_command", `{"command":"sed -i s/x/y/ a.txt"}`), edit, done}},
		"without the last line end": {"one\nx\n", "one\nx", "three\nx\n", false, []llmtest.Turn{changes, edit, done}},
		"with other line ends":      {"one\r\nx\r\n", "one\nx\n", "three\r\nx\r\n", false, []llmtest.Turn{changes, edit, done}},
		"with mixed line ends":      {"one\r\nx\n", "one\nx\n", "three\r\nx\n", true, []llmtest.Turn{read, changes, edit, done}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.txt": c.saved}
			if c.ignored {
				files[".gitignore"] = "a.txt\n"
			}
			d := newDesk(t, llmtest.NewServer(t, c.turns...), files)
			if c.ignored {
				if out, err := exec.Command("git", "-C", d.dir, "init", "-q").CombinedOutput(); err != nil {
					t.Fatalf("%s: %v", out, err)
				}
			}
			b := newBuffers(d.host())
			b.unsaved[d.path("a.txt")] = c.held
			id, _ := b.open()
			var asked []any
			b.answer = func(q map[string]any) string {
				if diff := q["toolCall"].(map[string]any)["content"].([]any)[0].(map[string]any); diff["type"] == "diff" {
					asked = append(asked, diff["newText"])
				}
				return "allow-once"
			}
			b.prompt(id, "edit it", "end_turn")
			if got := d.read("a.txt"); got != c.want || !slices.Equal(asked, []any{c.want}) {
				t.Errorf("asked for %q, the file holds %q; the model was told %q", asked, got, d.told(1))
			}
			if got := strings.Join(b.wrote, "|"); got != c.want {
				t.Errorf("the host wrote %q", got)
			}
			b.end()
		})
	}
}

// TestHostHoldsLines: line endings and the last one, which a host that holds lines does not
// know, are those of the file on disk.
func TestHostHoldsLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ saved, held, want string }{
		"lacks the last line end":            {"one\nx\n", "one\nx", "two\nx\n"},
		"lacks it in unsaved text":           {"one\nx\n", "one\ntyped", "two\ntyped\n"},
		"lacks it in unsaved text with CRLF": {"one\r\nx\r\n", "one\ntyped", "two\r\ntyped\r\n"},
		"adds the last line end":             {"one\nx", "one\nx\n", "two\nx"},
		"adds carriage returns":              {"one\nx\n", "one\r\nx\r\n", "two\nx\n"},
		"adds them to unsaved text":          {"one\nx\n", "one\r\ntyped\r\n", "two\ntyped\n"},
		"doubles carriage returns":           {"one\r\nx\r\n", "one\r\r\nx\r\r\n", "two\r\nx\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			edit := callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
			d := newDesk(t, llmtest.NewServer(t, edit, llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": c.saved})
			b := newBuffers(d.host())
			b.unsaved[d.path("a.txt")] = c.held
			id, _ := b.open()
			b.answer = func(map[string]any) string { return "allow-once" }
			b.prompt(id, "edit it", "end_turn")
			if got := d.read("a.txt"); got != c.want || strings.Join(b.wrote, "|") != c.want {
				t.Errorf("the file holds %q, the host wrote %q", got, b.wrote)
			}
			b.end()
		})
	}
}

// TestHostWritesLines: a file that the host has saved with other line endings than were approved,
// or with another last one, gets the approved ones, and an undo restores the old ones.
func TestHostWritesLines(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, c := range map[string]struct {
		saved, want string
		saves       func(string) string
	}{
		"adds an empty line":       {"one\nx\n", "two\nx\n", func(s string) string { return s + "\n" }},
		"drops the last line end":  {"one\nx\n", "two\nx\n", func(s string) string { return strings.TrimSuffix(s, "\n") }},
		"doubles carriage returns": {"one\r\nx\r\n", "two\r\nx\r\n", crlf},
		"does both":                {"one\r\nx\r\n", "two\r\nx\r\n", func(s string) string { return crlf(s) + "\r\n" }},
		"drops carriage returns":   {"one\r\nx\r\n", "two\r\nx\r\n", func(s string) string { return strings.ReplaceAll(s, "\r", "") }},
		"adds the last line end":   {"one\nx", "two\nx", func(s string) string { return s + "\n" }},
		"of a new file":            {"", "two\n", func(s string) string { return s + "\n" }},
	} {
		t.Run(name, func(t *testing.T) {
			edit, files := callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`), map[string]string{"a.txt": c.saved}
			if c.saved == "" {
				edit, files = callOf("write_file", `{"path":"a.txt","content":"two\n"}`), nil
			}
			d := newDesk(t, llmtest.NewServer(t, edit, llmtest.Turn{Text: "Done."}), files)
			b := newBuffers(d.host())
			b.saves = c.saves
			id, _ := b.open()
			b.answer = func(map[string]any) string { return "allow-once" }
			b.prompt(id, "edit it", "end_turn")
			if got := d.read("a.txt"); got != c.want || len(b.wrote) != 1 {
				t.Errorf("the file holds %q, the host wrote %q", got, b.wrote)
			}
			if told := d.told(1); strings.Contains(told, "Warning") {
				t.Errorf("the model was told %q", told)
			}
			entries, err := os.ReadDir(d.dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("%v, left: %v", err, entries)
			}
			b.prompt(id, "/undo", "end_turn")
			if data, err := os.ReadFile(d.path("a.txt")); string(data) != c.saved || (err == nil) != (c.saved != "") {
				t.Errorf("after the undo: %q, %v", data, err)
			}
			b.end()
		})
	}
}

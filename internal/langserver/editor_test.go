package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// fakeEditor answers from a table; other methods are of languages that it does not know.
type fakeEditor struct {
	linked  bool
	answers map[string]string
	fails   error
	asked   []string
}

func (e *fakeEditor) Answers() bool { return e.linked }

func (e *fakeEditor) LookUp(_ context.Context, method string, params any) (json.RawMessage, bool, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, false, err
	}
	e.asked = append(e.asked, method+" "+string(data))
	if e.fails != nil {
		return nil, false, e.fails
	}
	answer, ok := e.answers[method]
	return json.RawMessage(answer), ok, nil
}

// TestEditorFirst: a linked editor answers in place of the servers, which do not even start; other questions
// go to them, once they are allowed, and to nobody without a yes.
func TestEditorFirst(t *testing.T) {
	s, dir := project(t, map[string]string{"shapes.go": shapes, "use.go": use})
	path := filepath.Join(dir, "use.go")
	e := &fakeEditor{linked: true, answers: map[string]string{
		"textDocument/documentSymbol": `[{"name": "big", "kind": 13, "selectionRange": {"start": {"line": 2, "character": 3}, "end": {"line": 2, "character": 6}}}]`,
		"textDocument/definition":     `[{"targetUri": "` + uriOf(filepath.Join(dir, "shapes.go")) + `", "targetSelectionRange": {"start": {"line": 7, "character": 5}}, "lineText": "func Area"}]`,
		"workspace/symbol":            `[{"name": "Area", "kind": 12, "location": {"uri": "file:///elsewhere/a.go"}}, {"name": "Area", "kind": 12, "location": {"uri": "` + uriOf(path) + `"}}]`,
	}}
	s = New(Options{Folders: []string{dir}, Env: s.opt.Env, Programs: s.opt.Programs, Editor: e})
	t.Cleanup(s.Close)
	ctx := t.Context()
	if !s.Serve() || len(s.Starts(ctx, path)) != 0 || len(s.Starts(ctx, "")) != 0 {
		t.Errorf("would start %+v", s.Starts(ctx, path))
	}
	found, err := s.Definition(ctx, at(t, path, "🙂 */ "))
	if err != nil || len(found) != 1 || found[0] != (Location{filepath.Join(dir, "shapes.go"), 8, "func Area"}) {
		t.Errorf("%+v, %v", found, err)
	}
	if last := e.asked[len(e.asked)-1]; !strings.Contains(last, `"position":{"line":2,"character":30}`) || !strings.Contains(last, `var big = /* 🙂 */ Area(3) + Area(4)"`) {
		t.Errorf("asked %s", last)
	}
	if named, err := s.Find(ctx, "Area"); err != nil || len(named) != 1 || named[0].Path != path {
		t.Errorf("%+v, %v", named, err)
	}
	if _, err := s.References(ctx, at(t, path, "🙂 */ ")); err == nil || len(s.running) > 0 {
		t.Errorf("a server started without a yes: %v, %v", s.running, err)
	}
	allowAll(s)
	if found, err := s.References(ctx, at(t, path, "🙂 */ ")); err != nil || len(found) != 4 {
		t.Errorf("by the server: %s, %v", lines(dir, found), err)
	}
	e.fails = errors.New("the window is stuck")
	if found, err := s.Definition(ctx, at(t, path, "🙂 */ ")); err != nil || lines(dir, found) != "shapes.go:4" {
		t.Errorf("of a stuck editor: %s, %v", lines(dir, found), err)
	}
	e.linked = false
	asked := len(e.asked)
	if _, err := s.Definition(ctx, at(t, path, "🙂 */ ")); err != nil || len(e.asked) != asked {
		t.Errorf("asked an editor that is gone: %v", err)
	}
}

// TestEditsOfAnEditor: an edit is of the text that the editor has, also if that is not saved, and of no other;
// files that are made, moved and removed are part of it.
func TestEditsOfAnEditor(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"a.x": "one\r\ntwo 🙂 two\r\n", "b.x": "b\n", "c.x": "c\n"})
	uri := func(name string) string { return uriOf(filepath.Join(dir, name)) }
	e := &fakeEditor{linked: true}
	s := New(Options{Folders: []string{dir}, Programs: lookpath.Search{}, Editor: e})
	read := func(path string) (string, error) { data, err := os.ReadFile(path); return string(data), err }
	rename := func(answer string) ([]FileEdit, error) {
		e.answers = map[string]string{"textDocument/rename": strings.NewReplacer("$A", uri("a.x"), "$B", uri("b.x"), "$C", uri("c.x"), "$N", uri("n.x")).Replace(answer)}
		return s.Rename(t.Context(), at(t, filepath.Join(dir, "a.x"), "o"), "x", read)
	}
	const second = `"edits": [{"range": {"start": {"line": 1, "character": 7}, "end": {"line": 1, "character": 10}}, "newText": "2"}]`
	edits, err := rename(`{"documentChanges": [
		{"textDocument": {"uri": "$A", "sha256": "` + linesHash("one\ntwo 🙂 two\n") + `"}, ` + second + `},
		{"kind": "rename", "oldUri": "$B", "newUri": "$N"}, {"textDocument": {"uri": "$N"}, "edits": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "newText": "n"}]},
		{"kind": "delete", "uri": "$C"}]}`)
	if err != nil || len(edits) != 3 || edits[0].After != "one\r\ntwo 🙂 2\r\n" ||
		edits[1] != (FileEdit{Path: filepath.Join(dir, "b.x"), To: filepath.Join(dir, "n.x"), Before: "b\n", After: "n\n"}) || !edits[2].Gone {
		t.Errorf("%+v, %v", edits, err)
	}
	edits, err = rename(`{"documentChanges": [{"textDocument": {"uri": "$A", "text": "new\r\none\r\n"}, "edits": [{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}, "newText": "1"}]}]}`)
	if err != nil || edits[0].Before != "new\r\none\r\n" || edits[0].After != "new\r\n1\r\n" {
		t.Errorf("of a text that is not saved: %+v, %v", edits, err)
	}
	for _, c := range []struct{ answer, want string }{
		{`{"documentChanges": [{"textDocument": {"uri": "$A", "sha256": "` + linesHash("other") + `"}, ` + second + `}]}`, errText.Error()},
		{`{"documentChanges": [{"kind": "link", "uri": "$A"}]}`, "unknown here"},
		{`{"changes": {"https://example.com/a": []}}`, "names no file"},
		{`{"changes": {"$A": [{"range": {"start": {"line": 1, "character": 5}, "end": {"line": 1, "character": 5}}, "newText": "x"}]}}`, "outside of the text"}, // within the emoji
		{`[`, "cannot be read"},
	} {
		if edits, err := rename(c.answer); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", c.answer, edits, err)
		}
	}
}

package client_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// listening returns an editor whose events arrive on the channel.
func listening(t *testing.T, d idetest.Dialect) (*idetest.Editor, chan any) {
	t.Helper()
	e := idetest.Start(t, d)
	got := make(chan any, 100)
	c, err := client.Connect(t.Context(), candidate(e), client.Options{Events: client.Events{
		Selection:   func(s client.Selection) { got <- s },
		Mention:     func(m client.Mention) { got <- m },
		Draft:       func(d client.DraftChange) { got <- d },
		Diagnostics: func(paths []string) { got <- paths },
		Tools:       func() { got <- "tools" },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return e, got
}

func TestMentions(t *testing.T) {
	abs := root("x", "b.go")
	for params, want := range map[string]client.Mention{
		`{"filePath":"src/a.go"}`: {Path: root("p", "src", "a.go")},
		`{"filePath":"src/"}`:     {Path: root("p", "src") + string(filepath.Separator)},
		`{"filePath":` + quoted(abs) + `,"lineStart":4,"lineEnd":9}`:  {Path: abs, StartLine: 5, EndLine: 10},
		`{"filePath":` + quoted(abs) + `,"lineStart":9,"lineEnd":4}`:  {Path: abs, StartLine: 5, EndLine: 10},
		`{"filePath":` + quoted(abs) + `,"lineStart":0}`:              {Path: abs, StartLine: 1, EndLine: 1},
		`{"filePath":` + quoted(abs) + `,"lineStart":-1,"lineEnd":3}`: {Path: abs},
		`{"filePath":` + quoted(uri(abs)) + `}`:                       {Path: abs},
	} {
		e, got := listening(t, idetest.Neovim())
		for _, bad := range []string{`{}`, `{"filePath":""}`, `{"filePath":"a\nb"}`, `{"filePath":"untitled://x"}`, `[]`, `{"filePath":7}`} {
			e.Notify("at_mentioned", json.RawMessage(bad))
		}
		e.Notify("at_mentioned", json.RawMessage(params))
		if diff := cmp.Diff(any(want), <-got); diff != "" {
			t.Errorf("%s: %s", params, diff)
		}
	}
}

func TestOtherEvents(t *testing.T) {
	e, got := listening(t, idetest.Ours())
	e.Notify("something_else", 1)
	e.Notify("diff_changed", map[string]any{"edited": true})
	e.Notify("diff_changed", map[string]any{"diffId": "d", "state": "shown", "edited": true, "added": 2, "removed": -1})
	e.Notify("diff_changed", map[string]any{"diffId": "d", "state": "hidden"})
	e.Notify("notifications/tools/list_changed", nil)
	e.Notify("diagnostics_changed", map[string]any{"uris": []string{uri(root("a b")), "git:/x"}})
	e.Notify("diagnostics_changed", map[string]any{"uri": uri(root("c"))})
	e.Notify("diagnostics_changed", "?")
	draft := client.DraftChange{DiffID: "d", Edited: true, Added: 2}
	for _, want := range []any{draft, client.DraftChange{DiffID: "d", Hidden: true}, "tools", []string{root("a b")}, []string{root("c")}, []string(nil)} {
		if diff := cmp.Diff(want, <-got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDeaf holds that events without a taker harm nothing.
func TestDeaf(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := connect(t, e)
	for _, method := range []string{"selection_changed", "at_mentioned", "diff_changed", "diagnostics_changed", "notifications/tools/list_changed"} {
		e.Notify(method, map[string]any{"filePath": root("a"), "diffId": "x"})
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestSelectionLines holds that the lines of a selection are those that hold its
// text, whether its editor counts from 0 or from 1.
func TestSelectionLines(t *testing.T) {
	file := "one\ntwo\nthree\r\nfour\ntwo\n"
	for _, c := range []struct {
		name, params string
		emacs        bool
		start, end   int
		ok           bool
	}{
		{"0-based", `{"text":"two","selection":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}}}`, false, 2, 2, true},
		{"whole lines", `{"text":"two\nthree\n","selection":{"start":{"line":1,"character":0},"end":{"line":3,"character":0}}}`, false, 2, 3, true},
		{"1-based, known", `{"text":"two","selection":{"start":{"line":2,"character":1},"end":{"line":2,"character":4}}}`, true, 2, 2, true},
		{"1-based, known, whole lines", `{"text":"two\n","selection":{"start":{"line":2,"character":1},"end":{"line":3,"character":1}}}`, true, 2, 2, true},
		{"1-based, unknown", `{"text":"two","selection":{"start":{"line":2,"character":0},"end":{"line":2,"character":3}}}`, false, 2, 2, true},
		{"0-based where 1 is expected", `{"text":"four","selection":{"start":{"line":3,"character":0},"end":{"line":3,"character":4}}}`, true, 4, 4, true},
		{"cursor", `{"text":"","selection":{"start":{"line":3,"character":1},"end":{"line":3,"character":1},"isEmpty":true}}`, false, 4, 4, true},
		{"changed since", `{"text":"zwei","selection":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}}}`, false, 0, 0, false},
		{"beyond", `{"text":"two","selection":{"start":{"line":40,"character":0},"end":{"line":41,"character":3}}}`, false, 0, 0, false},
		{"absurd", `{"text":"two","selection":{"start":{"line":1e308,"character":-1e308},"end":{"line":-7,"character":3}}}`, false, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := idetest.Neovim()
			if c.emacs {
				d = idetest.Emacs()
			}
			e, got := listening(t, d)
			e.Notify("selection_changed", json.RawMessage(`{"filePath":`+quoted(root("p", "a.go"))+`,`+c.params[1:]))
			s, is := (<-got).(client.Selection)
			if !is || s.Path != root("p", "a.go") {
				t.Fatalf("%+v", s)
			}
			start, end, ok := s.Lines(file)
			if start != c.start || end != c.end || ok != c.ok {
				t.Errorf("lines %d to %d, %t, want %d to %d, %t", start, end, ok, c.start, c.end, c.ok)
			}
		})
	}
}

// TestNoSelection: a malformed selection clears the last one.
func TestNoSelection(t *testing.T) {
	e, got := listening(t, idetest.Neovim())
	for _, params := range []string{
		`{"filePath":null,"text":null}`, `{}`, `null`, `[]`, `{"filePath":"","text":"x"}`, `{"filePath":"relative","text":"x"}`,
		`{"filePath":` + quoted(root("p", "✻ [Claude Code] a.go (1) ⧉ (proposed)")) + `,"text":"x"}`,
		`{"success":false,"filePath":` + quoted(root("a")) + `}`,
	} {
		e.Notify("selection_changed", json.RawMessage(params))
		if diff := cmp.Diff(client.Selection{}, (<-got).(client.Selection), cmp.AllowUnexported(client.Selection{}), cmp.Comparer(func(a, b client.Selection) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", params, diff)
		}
	}
}

func TestSelectionCalls(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Ours(), idetest.Neovim(), idetest.Nexus3()} {
		e := idetest.Start(t, d)
		c := connect(t, e)
		if s, err := c.Documents.CurrentSelection(t.Context()); err != nil || s.Path != "" {
			t.Errorf("%s, none: %+v, %v", d.Name, s, err)
		}
		e.World.Select(&idetest.Selected{Path: root("p", "a.go"), Text: "x", StartLine: 5, EndLine: 10})
		s, err := c.Documents.LatestSelection(t.Context())
		start, end := s.ClaimedLines()
		if err != nil || s.Path != root("p", "a.go") || s.Text != "x" || start != 5 || end != 10 {
			t.Errorf("%s: %+v, %d to %d, %v", d.Name, s, start, end, err)
		}
	}
	if _, err := connect(t, idetest.Start(t, idetest.Emacs())).Documents.CurrentSelection(t.Context()); err == nil {
		t.Error("Emacs has a selection")
	}
}

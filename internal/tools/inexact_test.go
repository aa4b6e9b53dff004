package tools

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// With nobody to ask, a loose match is no denial: the model gets the file's exact text,
// and repeating the call with it needs no person.
func TestLooseMatchWithNobodyToAsk(t *testing.T) {
	for _, tt := range []struct {
		name, tool string
		args, want m
		exact      string
	}{
		{
			"a tab", "edit_file",
			m{"path": "f", "old_string": "    one()\n", "new_string": "    two()\n"},
			m{"path": "f", "old_string": "\tone()\n", "new_string": "\ttwo()\n"},
			"```\n\tone()\n```",
		},
		{
			"a patch", "patch",
			m{"path": "f", "diff": "@@ @@\n-    one()\n+    two()\n"},
			m{"path": "f", "diff": "@@ @@\n-\tone()\n+\ttwo()\n"},
			"```\n\tone()\n```",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": "{\n\tone()\n}\n"})
			b.ask.verdict = confirm.Verdict{Unasked: true}
			res := b.call(tt.tool, tt.args)
			b.want(res, true, "f: nothing was changed: the text matched only after converting tabs and blanks", tt.exact)
			if res.Denied != nil || b.read("f") != "{\n\tone()\n}\n" || !b.ask.asked[0].Force {
				t.Errorf("denied %v, asked %+v", res.Denied, b.ask.asked)
			}
			b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true}
			b.want(b.call(tt.tool, tt.want), false)
			if b.ask.asked[1].Force || b.read("f") != "{\n\ttwo()\n}\n" {
				t.Errorf("force %v: %q", b.ask.asked[1].Force, b.read("f"))
			}
		})
	}
	b := newBench(t, map[string]string{"f": "f() {\n  x = 1\n}\n"})
	b.ask.verdict = confirm.Verdict{Unasked: true}
	b.want(b.call("patch", m{"diff": "*** Begin Patch\n*** Update File: f\n@@ def g(z):\n-  x = 1\n+  x = 2\n*** End Patch\n"}), true,
		"ignoring an @@ line that is not in the file", "Send each @@ line exactly as in the file")
	if !b.ask.asked[0].Force {
		t.Error("a hunk below no anchor does not force a question")
	}
	b = newBench(t, map[string]string{"f": "one\r\ntwo\n"})
	b.ask.verdict = confirm.Verdict{Unasked: true}
	b.want(b.call("edit_file", m{"path": "f", "old_string": "one\ntwo\n", "new_string": "x\n"}), true, "Use edit_lines from line 1 on")
	b.write(".git/config", "[core]\n\tbare = false\n")
	if res := b.call("edit_file", m{"path": ".git/config", "old_string": "    bare = false", "new_string": "    bare = true"}); res.Denied == nil {
		t.Errorf("a protected file: %s", res.ForModel)
	}
}

// A line in place of code is refused by every tool, except in prose and in new files.
func TestPlaceholderIsRefused(t *testing.T) {
	before := "a()\nb()\n// ... existing code ...\n"
	for _, tt := range []struct {
		path, text string
		refused    bool
	}{
		{"f.go", "a()\n// ... rest of the code ...\n", true},
		{"f.go", "a()\n// rest of the file unchanged\n", true},
		{"f.go", "a()\n/* ... */\n", false},
		{"f.py", "a()\n# ... (existing methods remain the same) ...\n", true},
		{"f.html", "a()\n<!-- … existing content … -->\n", true},
		{"f.go", "x()\n// ... existing code ...\n", false}, // it was there
		{"f.go", "a()\n// skip the rest of the line\nb()\n", false},
		{"f.go", "a()\n// existing code relies on the order\n", false},
		{"f.py", "def f():\n    ...\n", false},
		{"f.md", "a()\n// ... rest of the code ...\n", false},
	} {
		b := newBench(t, map[string]string{tt.path: before})
		res := b.call("write_file", m{"path": tt.path, "content": tt.text})
		if res.Failed != tt.refused || tt.refused && !strings.Contains(res.ForModel, "in place of code") {
			t.Errorf("%s: %s", tt.text, res.ForModel)
		}
	}
	b := newBench(t, nil)
	b.want(b.call("write_file", m{"path": "new.go", "content": "// ... rest of the code ...\n"}), false)
}

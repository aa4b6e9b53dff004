package tools

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// A loose match is shown to a person, and changes what the edit changes: no character that only
// looks like the one sent, and no indentation of the file.
func TestLooseMatches(t *testing.T) {
	for _, tt := range []struct{ name, text, before, after, want, says string }{
		{
			"typographic quotes around a changed word", "say(“hi”, \"x\", ‘y’)\n", "say(\"hi\", \"x\", 'y')\n", "say(\"bye\", \"x\", 'z')\n",
			"say(“bye”, \"x\", ‘z’)\n", "ignoring typographic characters",
		},
		{
			"typographic quotes sent", "say(\"hi\", 'y')\nend\n", "say(“hi”, ’y’)\nend\n", "say(“bye”, ’y’)\nlog(“bye”)\nend\n",
			"say(\"bye\", 'y')\nlog(\"bye\")\nend\n", "ignoring typographic characters",
		},
		{
			"uneven indentation", "f() {\n\tif a {\n\t\tg();\n\t\th();\n\t}\n}\n", "if a {\n   g();\n\t\th();\n }\n", "if a {\n   g(1);\n\t\th();\n\t\ti();\n }\n",
			"f() {\n\tif a {\n\t\tg(1);\n\t\th();\n\t\ti();\n\t}\n}\n", "fitting the indentation of each line",
		},
		{
			"uneven indentation in two places", "a {\n    b()\n      c()\n}\nd {\n b()\n   c()\n}\n", "   b()\n  c()\n", "   b()\n  e()\n",
			"", "by fitting the indentation of each line: add",
		},
		{
			"entities", "  if (a < b && c) {\n    <p>\"x\"</p>\n", "  if (a &lt; b &amp;&amp; c) {\n    &lt;p&gt;&quot;x&quot;&lt;/p&gt;\n", "  if (a &gt; b &amp;&amp; c) {\n    &lt;p&gt;&quot;x&quot;&lt;/p&gt;\n",
			"  if (a > b && c) {\n    <p>\"x\"</p>\n", "undoing escapes",
		},
	} {
		for _, call := range (editCase{Old: tt.before, New: tt.after}).calls() {
			b := newBench(t, map[string]string{"f": tt.text})
			b.ask.verdict = confirm.Verdict{Unasked: true}
			b.want(b.call(call.tool, call.args), true, tt.says)
			if b.read("f") != tt.text {
				t.Errorf("%s: written without an answer: %q", tt.name, b.read("f"))
			}
			b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
			b.want(b.call(call.tool, call.args), tt.want == "", tt.says)
			if got := b.read("f"); tt.want != "" && got != tt.want {
				t.Errorf("%s (%s): %q, want %q", tt.name, call.tool, got, tt.want)
			}
			for _, q := range b.ask.asked {
				if !q.Force {
					t.Errorf("%s (%s): a rule may answer", tt.name, call.tool)
				}
			}
		}
	}
}

// Blocks under the names of files are one question about all of them, and all or nothing.
func TestBlocksOfSeveralFiles(t *testing.T) {
	search := func(before, after string) string {
		return "<<<<<<< SEARCH\n" + before + "=======\n" + after + ">>>>>>> REPLACE\n"
	}
	files := map[string]string{"a.go": "one\ntwo\n", "b.go": "three\n"}
	diff := "### a.go\n```go\n" + search("one\n", "1\n") + "```\n\n```go\n" + search("two\n", "2\n") + "```\n\n" +
		"`b.go`:\n```go\n" + search("three\n", "3\n") + "```\n" + "new.go\n" + search("", "4\n")
	b := newBench(t, files)
	b.want(b.call("patch", m{"diff": diff}), false, "Wrote a.go", "Wrote b.go", "Created new.go")
	if got := b.read("a.go") + b.read("b.go") + b.read("new.go"); got != "1\n2\n3\n4\n" || len(b.ask.asked) != 1 {
		t.Errorf("%q, %d questions", got, len(b.ask.asked))
	}
	b = newBench(t, files)
	b.want(b.call("patch", m{"diff": strings.Replace(diff, "three", "four", 1)}), true, "1 of 3 files cannot be patched", "block 3: not found", "three")
	if b.read("a.go") != files["a.go"] || b.exists("new.go") {
		t.Error("a part of the patch was written")
	}
	b.want(b.call("patch", m{"path": "b.go", "diff": search("three\n", "3\n") + "a.go\n" + search("one\n", "1\n")}), false, "Wrote a.go", "Wrote b.go")
	b.want(b.call("patch", m{"path": "sub/a.go", "diff": "b.go\n" + search("3\n", "4\n")}), true, "the diff is for b.go")
}

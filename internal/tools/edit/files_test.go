package edit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// envelope returns a patch of several files with the given body.
func envelope(body string) string { return beginMark + "\n" + body + endMark + "\n" }

func TestParseFiles(t *testing.T) {
	type file struct {
		Op      Op
		Path    string
		Content string
		Hunks   int
	}
	tests := []struct {
		name, patch string
		want        []file
	}{
		{
			"each operation",
			envelope("*** Add File: new.go\n+package p\n+\n*** Update File: dir/old.go\n@@\n-a\n+b\n@@ func f() {\n c\n+d\n*** Delete File: gone.go\n"),
			[]file{{Add, "new.go", "package p\n\n", 0}, {Update, "dir/old.go", "", 2}, {Delete, "gone.go", "", 0}},
		},
		{"the first hunk without @@", envelope("*** Update File: f\n a\n-b\n+c\n"), []file{{Update, "f", "", 1}}},
		{"a file twice", envelope("*** Update File: f\n-a\n+b\n*** Add File: g\n*** Update File: f\n-c\n+d\n"), []file{{Update, "f", "", 2}, {Add, "g", "", 0}}},
		{"in a shell's here document", "apply_patch <<'EOF'\n" + envelope("*** Delete File: f\n") + "EOF\n", []file{{Delete, "f", "", 0}}},
		{"in a fence, with CRLF", strings.ReplaceAll("```\n"+envelope("*** Add File: f\n+a\n")+"```\n", "\n", "\r\n"), []file{{Add, "f", "a\n", 0}}},
		{"without its frame", "*** Update File: f\n@@\n-a\n+b\n", []file{{Update, "f", "", 1}}},
		{"deleted and added lines like a header", envelope("*** Update File: f\n--- a\n+++ b\n c\n"), []file{{Update, "f", "", 1}}},
		{"a unified diff", "--- a/f\n+++ b/dir/f\n@@ -1 +1 @@\n-a\n+b\n", []file{{Update, "dir/f", "", 1}}},
		{"blocks with the marks as text", block(beginMark+"\n", endMark+"\n"), []file{{Update, "", "", 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, err := ParseFiles(tt.patch)
			if err != nil {
				t.Fatal(err)
			}
			var got []file
			for _, f := range files {
				got = append(got, file{f.Op, f.Path, f.Content, len(f.Patch.Hunks)})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseFilesRefuses(t *testing.T) {
	tests := []struct {
		name, patch string
		want        []string
	}{
		{"cut off", beginMark + "\n*** Update File: f\n-a\n+b\n", []string{"no *** End Patch", "cut off"}},
		{"no file", envelope(""), []string{"names no file", "*** Update File: path"}},
		{"no name", envelope("*** Add File:\n+a\n"), []string{"line 2", "names no file"}},
		{"no hunk", envelope("*** Update File: f\n"), []string{"line 2", "without a hunk"}},
		{"empty hunk", envelope("*** Update File: f\n@@ func f()\n*** Delete File: g\n"), []string{"hunk 1 of f", "line 3", "empty"}},
		{"two moves to a path", envelope("*** Update File: f\n*** Move to: g\n*** Update File: h\n*** Move to: g\n"), []string{"moves a file to g", "one part"}},
		{"a move to a changed path", envelope("*** Add File: g\n+a\n*** Update File: f\n*** Move to: g\n"), []string{"moves a file to g", "one part"}},
		{"a move from a path that another takes", envelope("*** Update File: f\n*** Move to: g\n*** Add File: g\n+a\n"), []string{"moves a file to g", "one part"}},
		{"moved twice", envelope("*** Update File: f\n*** Move to: g\n*** Update File: f\n@@\n-a\n+b\n"), []string{"two parts for f"}},
		{"a move after the hunks", envelope("*** Update File: f\n@@\n-a\n+b\n*** Move to: g\n"), []string{"moves a file to g"}},
		{"context without its blank", envelope("*** Update File: f\n@@\n-a\n+b\nc\n"), []string{"line 6", `"c"`, "begin with a blank"}},
		{"first line without its blank", envelope("*** Update File: f\n@@\nc\n-a\n+b\n"), []string{"line 4", `"c"`, "begin with a blank"}},
		{"first line without its blank and without @@", envelope("*** Update File: f\nc\n-a\n+b\n"), []string{"line 3", `"c"`, "begin with a blank"}},
		{"an empty hunk before another", envelope("*** Update File: f\n@@\n\n@@\n-a\n+b\n"), []string{"hunk 1 of f", "line 3", "empty"}},
		{"added line without its plus", envelope("*** Add File: f\n+a\nb\n"), []string{"line 4", `"b"`, "with +"}},
		{"added and deleted", envelope("*** Delete File: f\n*** Add File: f\n+a\n"), []string{"two parts for f"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, err := ParseFiles(tt.patch)
			if err == nil {
				t.Fatalf("no error: %+v", files)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("message lacks %q:\n%s", w, err)
				}
			}
		})
	}
}

// Anchors, order and the end of the file choose among equal places; nothing else does.
func TestScope(t *testing.T) {
	const classes = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n\nclass B(A):\n    def f(self):\n        return 1\n"
	const braces = "func f()\n{\n#if X\n\treturn 1\n}\n\nfunc g()\n{\n\treturn 1\n}\n"
	change := "-        return 1\n+        return 2\n"
	tests := []struct {
		name, text, hunks string
		want              string // the changed lines, or ""
		message           string
	}{
		{"one anchor in another", classes, "@@ class A:\n@@     def g(self):\n" + change, "6", ""},
		{"an anchor without its end", classes, "@@ class B\n" + change, "10", ""},
		{"an anchor as context too", classes, "@@ class B\n class B(A):\n     def f(self):\n" + change, "10", ""},
		{"an anchor with @@ at its end", classes, "@@ class B @@\n" + change, "10", ""},
		{"two places below an anchor", classes, "@@ class A:\n" + change, "", "fits in 2 places (lines 3, 6)"},
		{"two anchors alike", classes, "@@ def f(self):\n" + change, "", "fits in 2 places (lines 3, 10)"},
		{"no anchor", classes, "@@\n" + change, "", "fits in 3 places"},
		{"an anchor that is nowhere", classes, "@@ class C:\n     def g(self):\n" + change, "6", ""},
		{"lines outside the anchor", classes, "@@ class B\n     def g(self):\n" + change, "", `its lines are not below "class B", but at line 5`},
		{"part of a word is no anchor", classes, "@@ class\n@@ cla\n     def g(self):\n" + change, "6", ""},
		{"order", classes, "@@\n class A:\n     def f(self):\n" + change + "@@\n     def g(self):\n" + change + "@@\n     def f(self):\n" + change, "3,6,10", ""},
		{"the end of the file", classes, "@@\n" + change + "*** End of File\n", "10", ""},
		{"not at the end of the file", classes, "@@\n     def g(self):\n" + change + "*** End of File\n", "6", ""},
		{"brackets do not end a block", braces, "@@ func f()\n-\treturn 1\n+\treturn 2\n", "4", ""},
		{"a later block", braces, "@@ func g()\n-\treturn 1\n+\treturn 2\n", "9", ""},
		{"a line without a block", "a\nx\nb\nx\n", "@@ b\n-x\n+y\n", "4", ""},
		{"added at the end", "a\nb\n", "@@\n+c\n*** End of File\n", "3", ""},
		{"added nowhere", "a\nb\n", "@@ a\n+c\n", "", "add lines of context"},
		{"added by number", "a\nb\nc\n", "@@ -2,0 +3,1 @@\n+n\n", "3,4", ""},
		{"added by number at the top", "a\n", "@@ -0,0 +1 @@\n+n\n", "1,2", ""},
		{"numbers of a unified diff", "x\ny\nx\ny\n", "@@ -3,2 +3,2 @@\n x\n-y\n+z\n", "4", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, err := ParseFiles(envelope("*** Update File: f\n" + tt.hunks))
			if err != nil {
				t.Fatal(err)
			}
			out, err := files[0].Patch.Apply(tt.text, "\n")
			if (err == nil) != (tt.message == "") || err != nil && !strings.Contains(err.Error(), tt.message) {
				t.Fatalf("error %v, want %q", err, tt.message)
			}
			var changed []string
			had := textLines(tt.text)
			for i, l := range textLines(out.Text) {
				if i >= len(had) || l != had[i] {
					changed = append(changed, joinInts([]int{i + 1}))
				}
			}
			if got := strings.Join(changed, ","); got != tt.want {
				t.Errorf("changed lines %s, want %s:\n%s", got, tt.want, out.Text)
			}
		})
	}
}

// A hunk below an anchor that is nowhere fits loosely: it may belong to another block.
func TestMissingAnchor(t *testing.T) {
	const text = "f() {\n  x = 1\n}\n\ng() {\n  y = 1\n}\n"
	for hunks, want := range map[string]Stage{
		"@@ def g(z):\n-  x = 1\n+  x = 2\n":          MissingAnchor,
		"@@ f()\n@@ g()\n-  x = 1\n+  x = 2\n":        MissingAnchor,
		"@@ f()\n-  x = 1\n+  x = 2\n":                Exact,
		"@@ def g(z):\n-  x =  1\n+  x =  2\n":        MissingAnchor,
		"@@ def g(z):\n+x\n*** End of File\n":         MissingAnchor,
		"@@\n-  x = 1\n+  x = 2\n@@ h()\n }\n \n+y\n": MissingAnchor,
	} {
		files, err := ParseFiles(envelope("*** Update File: f\n" + hunks))
		if err != nil {
			t.Fatal(err)
		}
		out, err := files[0].Patch.Apply(text, "\n")
		if err != nil || out.Stage != want {
			t.Errorf("%q: %s, %v; want %s", hunks, out.Stage, err, want)
		}
	}
}

// A second part for a file may be above the first.
func TestSecondPartOfAFile(t *testing.T) {
	files, err := ParseFiles(envelope("*** Update File: f\n x\n-b\n+B\n*** Update File: f\n-a\n+A\n"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := files[0].Patch.Apply("a\nx\nb\n", "\n")
	if err != nil || out.Text != "A\nx\nB\n" {
		t.Errorf("%q, %v", out.Text, err)
	}
}

// A patch of several files made from a diff gives the new text or is ambiguous.
func TestFilesApplyDiffs(t *testing.T) {
	lines := rapid.SliceOfN(rapid.StringMatching(`[ab]{0,2}`), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(lines.Draw(t, "before"), "\n") + "\n"
		after := strings.Split(before, "\n")
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			after[rapid.IntRange(0, len(after)-2).Draw(t, "at")] = rapid.StringMatching(`[abc]{1,2}\n?`).Draw(t, "line")
		}
		want := strings.Join(after, "\n")
		var b strings.Builder
		for _, l := range textLines(diff.Unified("f", "f", before, want)) {
			switch {
			case strings.HasPrefix(l, "@@"):
				b.WriteString("@@\n")
			case b.Len() > 0:
				b.WriteString(l + "\n")
			}
		}
		if b.Len() == 0 {
			return
		}
		files, err := ParseFiles(envelope("*** Update File: f\n" + b.String()))
		if err != nil {
			t.Fatal(err)
		}
		out, err := files[0].Patch.Apply(before, "\n")
		if err != nil && !strings.Contains(err.Error(), "fits in") || err == nil && out.Text != want {
			t.Fatalf("%q, %v; want %q\n%s", out.Text, err, want, b.String())
		}
	})
}

func FuzzFiles(f *testing.F) {
	f.Add("a\nb\nc\n", envelope("*** Update File: f\n@@ a\n b\n-c\n+d\n*** End of File\n"))
	f.Add("", envelope("*** Add File: f\n+a\n*** Delete File: g\n"))
	f.Add("a\r\n\ta\n", "*** Update File: f\n-a\n+b\n*** Update File: f\n \ta\n+++ b\n")
	f.Fuzz(func(t *testing.T, text, patch string) {
		files, err := ParseFiles(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			if file.Op != Update {
				continue
			}
			out, err := file.Patch.Apply(text, "\n")
			if err == nil && out.Places != len(file.Patch.Hunks) {
				t.Errorf("%d of %d hunks applied without an error", out.Places, len(file.Patch.Hunks))
			}
			if err != nil && err.Error() == "" {
				t.Error("empty message")
			}
		}
	})
}

// A block is for the file that a line above it names, in each of the forms of answers in Markdown.
func TestNamedBlocks(t *testing.T) {
	one := block("a\n", "b\n")
	for diff, want := range map[string]string{
		"f.go\n" + one:                                           "f.go 1",
		"src/f.go\n```go\n" + one + "```\n":                      "src/f.go 1",
		"```go\nsrc/f.go\n" + one + "```\n":                      "src/f.go 1",
		"```\nf.go\n" + one + "```\n":                            "f.go 1",
		"~~~go\nf.go\n" + one + "~~~\n":                          "f.go 1",
		"````go\nf.go\n" + one + "````\n":                        "f.go 1",
		"### f.go\n\n```go\n" + one + "```\n":                    "f.go 1",
		"# `f.go`\n" + one:                                       "f.go 1",
		"**f.go**\n" + one:                                       "f.go 1",
		"**f.go:**\n" + one:                                      "f.go 1",
		"**`f.go`**:\n" + one:                                    "f.go 1",
		"`f.go`:\n" + one:                                        "f.go 1",
		"f.go:\n" + one:                                          "f.go 1",
		"\"f.go\"\n" + one:                                       "f.go 1",
		"File: f.go\n" + one:                                     "f.go 1",
		"**File:** `f.go`\n" + one:                               "f.go 1",
		"file path: my notes/f.md\n" + one:                       "my notes/f.md 1",
		"In `my notes/f.md`:\n" + one:                            "my notes/f.md 1",
		"```go\n// src/f.go\n" + one + "```\n":                   "src/f.go 1",
		"```py\n# f.py\n" + one + "```\n":                        "f.py 1",
		"```html\n<!-- f.html -->\n" + one + "```":               "f.html 1",
		"```css\n/* f.css */\n" + one + "```\n":                  "f.css 1",
		"```go src/f.go\n" + one + "```\n":                       "src/f.go 1",
		"```go:src/f.go\n" + one + "```\n":                       "src/f.go 1",
		"```go title=\"src/f.go\"\n" + one + "```":               "src/f.go 1",
		"a.go\n```go\nb.go\n" + one + "```\n":                    "b.go 1",
		"Makefile\n```\n" + one + "```\n":                        "Makefile 1",
		".gitignore\n" + one:                                     ".gitignore 1",
		"__init__.py\n" + one:                                    "__init__.py 1",
		"app/(shop)/[id]/page.tsx\n" + one:                       "app/(shop)/[id]/page.tsx 1",
		"src\\win\\f.cs\n" + one:                                 "src\\win\\f.cs 1",
		"größe.txt\n" + one:                                      "größe.txt 1",
		"f.go\n```go\n" + one + one + "```\n":                    "f.go 2",
		"f.go\n```go\n" + one + "```\n\n```go\n" + one + "```\n": "f.go 2",
		"f.go\n" + one + "\ng.go\n```\n" + one + "```\n" + one + "f.go\n" + one: "f.go 2, g.go 2",
		"f.go\r\n" + strings.ReplaceAll(one, "\n", "\r\n"):                      "f.go 1",
		"f.go\n<<<<< SEARCH\n=======\n=====\n>>>>>\n>>>>> REPLACE\n":            "f.go 1",
		"f.go\n<<<<<<<<< SEARCH>\na\n=========\n=======\n>>>>>>>>> REPLACE\n":   "f.go 1",
		one:                                " 1",
		"the change:\n" + one:              "outside of any block",
		"}\n" + one:                        "outside of any block",
		"return f()\n" + one:               "outside of any block",
		"f.go\n" + one + "and then\n":      "outside of any block",
		"f.go\nsome text\n" + one:          "outside of any block",
		"f.go\n" + one + "f.go\n":          "outside of any block",
		"f.go\n<<<<<<< SEARCH\na\n=====\n": "has no =======",
	} {
		files, err := ParseFiles(diff)
		var got []string
		for _, f := range files {
			got = append(got, fmt.Sprintf("%s %d", f.Path, len(f.Patch.Hunks)))
		}
		if says := strings.Join(got, ", "); err == nil && says != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %q, %v; want %q", diff, says, err, want)
		}
	}
}

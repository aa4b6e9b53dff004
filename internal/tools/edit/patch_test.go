package edit

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/diff"
)

func block(search, replace string) string {
	return searchMark + "\n" + search + divideMark + "\n" + replace + replaceMark + "\n"
}

// parseOne parses the patch of one file.
func parseOne(s string) (Patch, error) {
	files, err := ParseFiles(s)
	if err != nil {
		return Patch{}, err
	}
	return files[0].Patch, nil
}

func TestPatch(t *testing.T) {
	tests := []struct {
		name, text, patch, want string
		stage                   Stage
	}{
		{"unified", "a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", "a\nx\nc\n", Exact},
		{"wrong line numbers", "0\n0\n0\na\nb\nc\n", "@@ -90,3 +90,3 @@\n a\n-b\n+x\n c\n", "0\n0\n0\na\nx\nc\n", Exact},
		{"wrong counts", "a\nb\nc\n", "@@ -1,9 +1,2 @@\n a\n-b\n+x\n c\n\n", "a\nx\nc\n", Exact},
		{"bare header", "a\nb\n", "@@\n a\n-b\n+x\n", "a\nx\n", Exact},
		{"header with function name", "a\nb\n", "@@ func f() @@\n a\n-b\n+x\n", "a\nx\n", Exact},
		{
			"hunks", "a\nb\nc\nd\ne\n", "@@ -1,2 +1,3 @@\n a\n+a2\n b\n@@ -4,2 +5,2 @@\n d\n-e\n+E\n",
			"a\na2\nb\nc\nd\nE\n", Exact,
		},
		{
			"the line chooses among equal places", "x\ny\nx\ny\n", "@@ -3,2 +3,2 @@\n x\n-y\n+z\n",
			"x\ny\nx\nz\n", Exact,
		},
		{
			"the order chooses too", "x\nq\nx\n", "@@ -1,1 +1,1 @@\n-x\n+y\n@@ -7,1 +7,1 @@\n-x\n+z\n",
			"y\nq\nz\n", Exact,
		},
		{"empty context without its blank", "a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n", Exact},
		{"empty context at the end", "a\n\n", "@@ -1,2 +1,2 @@\n-a\n+b\n\n", "b\n\n", Exact},
		{"insertion by line", "a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n", Exact},
		{"new file", "", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n", Exact},
		{"new file without newline", "", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", "a", Exact},
		{"open end stays", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc", Exact},
		{"open end is closed", "a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", Exact},
		{"end is opened", "a\nb\n", "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n", "a\nb", Exact},
		{"line behind an open end", "a", "@@ -1 +1,2 @@\n a\n+b\n", "a\nb", Exact},
		{"CRLF", "a\r\nb\r\nc\r\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", "a\r\nx\r\nc\r\n", Exact},
		{"context keeps its blanks", "a  \nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a  \nc\n", Blanks},
		{"shifted", "\t\ta\n\t\tb\n", "@@ -1,2 +1,3 @@\n \ta\n+\tx\n \tb\n", "\t\ta\n\t\tx\n\t\tb\n", Indentation},
		{"punctuation", "“a”\nb\n", "@@ -1,2 +1,2 @@\n \"a\"\n-b\n+c\n", "“a”\nc\n", Typographic},
		{"deleted line like a header", "-- x\ny\n", "@@ -1,2 +1,1 @@\n--- x\n y\n", "y\n", Exact},
		{"git header", "a\n", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "b\n", Exact},
		{"code fence", "a\n", "```diff\n@@ -1 +1 @@\n-a\n+b\n```\n", "b\n", Exact},

		{"block", "a\nb\nc\n", block("b\n", "x\ny\n"), "a\nx\ny\nc\n", Exact},
		{"blocks see what came before", "a\nb\n", block("a\n", "x\n") + block("x\nb\n", "z\n"), "z\n", Exact},
		{"block deletes", "a\nb\n", block("a\n", ""), "b\n", Exact},
		{"block for a new file", "", block("", "a\nb\n"), "a\nb\n", Exact},
		{"block keeps what it does not change", "a \nb\nc \n", block("a\nb\nc\n", "a\nx\nc\n"), "a \nx\nc \n", Blanks},
		{"block keeps an unchanged line between changed ones", "a \nb\t\nc\n", block("a\nb \nc\n", "x\nb \ny\n"), "x\nb\t\ny\n", Blanks},
		{"a blank line before the text", "x\na\nb\n", "@@ -9,3 +9,3 @@\n \n a\n-b\n+c\n", "x\na\nc\n", EdgeLine},
		{"a blank line after the text", "a\nb\nx\n", "@@\n a\n-b\n+c\n \n", "a\nc\nx\n", EdgeLine},
		{"line numbers", "a\nb\nc\n", "@@\n 1 | a\n-2 | b\n+2 | x\n", "a\nx\nc\n", Numbers},
		{"line numbers in CRLF and LF", "a\r\nb\nc\r\n", "@@\n 2:b\n-3:c\n+3:x\n", "a\r\nb\nx\r\n", Numbers},
		{"too many backslashes", "a\nprint(\"\\n\")\n", "@@\n a\n-print(\\\"\\n\\\")\n+print(\\\"\\t\\\")\n", "a\nprint(\"\\t\")\n", Escapes},
		{"block with line numbers", "a\nb\n", block("1 | a\n2 | b\n", "a\nx\n"), "a\nx\n", Numbers},
		{"block is shifted", "\ta\n\tb\n", block("a\nb\n", "a\nc\n"), "\ta\n\tc\n", Indentation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parseOne(tt.patch)
			if err != nil {
				t.Fatal(err)
			}
			eol := "\n"
			if strings.Contains(tt.text, "\r\n") {
				eol = "\r\n"
			}
			got, err := p.Apply(tt.text, eol)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Stage != tt.stage {
				t.Errorf("%s: %q, want %s: %q", got.Stage, got.Text, tt.stage, tt.want)
			}
		})
	}
}

func TestPatchRefuses(t *testing.T) {
	tests := []struct {
		name, text, patch string
		want              []string
	}{
		{"no patch", "a\n", "replace a by b", []string{"no hunk found", searchMark}},
		{"ambiguous hunk", "x\ny\nx\ny\n", "@@ -9,2 +9,2 @@\n x\n-y\n+z\n", []string{"hunk @@ -9,2", "2 places (lines 1, 3)", "context"}},
		{"ambiguous block", "x\nx\n", block("x\n", "y\n"), []string{"block 1", "2 places"}},
		{
			"each failed hunk is named", "a\nb\nc\n",
			"@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-nope\n+x\n@@ -3 +3 @@\n-never\n+x\n",
			[]string{"2 of 3 hunks", "@@ -2 +2 @@: not found", "@@ -3 +3 @@: not found"},
		},
		{"deletion", "a\n", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []string{"line 2", "does not delete"}},
		{"a mode", "a\n", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", []string{"line 2", "changes the mode", "with a command"}},
		{"an executable file", "", "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", []string{"line 2", "mode 100755", "with a command"}},
		{"a copy", "a\n", "diff --git a/f b/g\ncopy from f\ncopy to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", []string{"line 2", "copies a file"}},
		{"half of a rename", "a\n", "diff --git a/f b/g\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", []string{"rename from and rename to"}},
		{"two files", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", []string{"line 6", "another file"}},
		{"stray line", "a\n", "@@ -1 +1 @@\n-a\n+b\nnext I will\n", []string{"line 4", "next I will"}},
		{"first line without its blank", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\na\n-b\n+c\n", []string{"line 4", `"a"`, "does not begin with a blank"}},
		{"empty hunk before another", "a\n", "@@ -1 +1 @@\n@@ -2 +2 @@\n-a\n+b\n", []string{"line 1", "empty"}},
		{"empty hunk", "a\n", "@@ -1 +1 @@\n", []string{"empty"}},
		{"no context", "a\n", "@@\n+b\n", []string{"add lines of context"}},
		{"a blank line before two places", "a\nb\na\n", "@@\n \n-a\n+c\n", []string{"2 places (lines 1, 3)", "blank line at the edge"}},
		{"wrong line numbers", "a\nb\n", "@@\n-7: b\n+7: c\n", []string{"not found"}},
		{"empty search", "a\n", block("", "b\n"), []string{"add lines of context"}},
		{"block without end", "a\n", searchMark + "\na\n" + divideMark + "\nb\n", []string{"line 1", "has no " + replaceMark}},
		{"block without divide", "a\n", searchMark + "\na\n", []string{"has no " + divideMark}},
		{"block with two divides", "a\n", block("a\n", "b\n"+divideMark+"\n"), []string{"second " + divideMark, "edit_file"}},
		{"block in a block", "a\n", searchMark + "\na\n" + block("a\n", "b\n"), []string{"not closed", "line 3"}},
		{"text between blocks", "a\n", block("a\n", "b\n") + "and then\n", []string{"outside of any block", "and then"}},
		{
			"added lines with too little indentation", "a\nb\n", "@@ -1,2 +1,3 @@\n     a\n+x\n     b\n",
			[]string{"does not follow from"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parseOne(tt.patch)
			if err == nil {
				_, err = p.Apply(tt.text, "\n")
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("message lacks %q:\n%s", w, err)
				}
			}
		})
	}
}

func TestPatchNames(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		want         string
		create       bool
	}{
		{"a new file", "--- /dev/null\t2020-01-01\n+++ b/dir/f.go\t2020-01-01\n", "dir/f.go", true},
		{"git's prefixes", "--- a/f\n+++ b/f\n", "f", false},
		{"git's prefixes before folders of that name", "--- a/b/f\n+++ b/b/f\n", "b/f", false},
		{"no prefix, in the folder b", "diff --git b/f b/f\n--- b/f\n+++ b/f\n", "b/f", false},
		{"no prefix, in the folder a", "--- a/f\n+++ a/f\n", "a/f", false},
		{"the new name alone", "+++ b/f\n", "f", false},
		{"quoted by git", `--- "a/caf\303\251 \"1\".txt"` + "\n" + `+++ "b/caf\303\251 \"1\".txt"` + "\n", `café "1".txt`, false},
		{"quotes that do not end", "--- \"a\n+++ \"b\n", `"b`, false},
		{"a rename", "diff --git a/d/f b/d/g\nsimilarity index 50%\nrename from d/f\nrename to d/g\n--- a/d/f\n+++ b/d/g\n", "d/f", false},
		{"a message that speaks of a rename", "rename to be\n---\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n", "f", false},
		{"a plain new file", "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n", "f", true},
	} {
		p, err := parseOne(tt.header + "@@ -0,0 +1 @@\n+a\n")
		if err != nil || p.Create != tt.create || p.Name != tt.want {
			t.Errorf("%s: create %v, name %q, %v; want %q", tt.name, p.Create, p.Name, err, tt.want)
		}
	}
}

// A diff of ours applied to the old text gives the new one, with git too.
func TestPatchAppliesDiffs(t *testing.T) {
	lines := rapid.SliceOfN(rapid.StringMatching(`[ab+ -]{0,3}`), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		draw := func(label string) string {
			s := strings.Join(lines.Draw(t, label), eol)
			if s != "" && rapid.Bool().Draw(t, "closed") {
				s += eol
			}
			return s
		}
		a, b := draw("a"), draw("b")
		u := diff.Unified("f", "f", a, b)
		if u == "" || a == b {
			return
		}
		p, err := parseOne(u)
		if err != nil {
			t.Fatalf("%v\n%s", err, u)
		}
		got, err := p.Apply(a, eol)
		if err != nil {
			t.Fatalf("%v\n%q\n%s", err, a, u)
		}
		if got.Text != b {
			t.Fatalf("%q, want %q\n%s", got.Text, b, u)
		}
	})
}

// git's own patches give the same result.
func TestPatchOfGit(t *testing.T) {
	scratch.Need(t, "git")
	dir := t.TempDir()
	before := strings.Repeat("one\ntwo\nthree\n", 20)
	after := strings.Replace(strings.Replace(before, "two\n", "2\n", 1), "three\none\ntwo\nthree\none", "three\none\nnew\nthree\none", 1) + "tail"
	for name, text := range map[string]string{"a": before, "b": after} {
		scratch.Write(t, filepath.Join(dir, name), text)
	}
	cmd := exec.Command("git", "diff", "--no-index", "a", "b")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("git diff: %v", err)
	}
	p, err := parseOne(string(out))
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Apply(before, "\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, got.Text); diff != "" {
		t.Error(diff)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n")
	f.Add("a\nb", block("a\n", "b\n"))
	f.Add("", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n")
	f.Add("\ta\r\n", "@@ @@\n a\n+\n")
	f.Fuzz(func(t *testing.T, text, patch string) {
		p, err := parseOne(patch)
		if err != nil {
			return
		}
		out, err := p.Apply(text, "\n")
		if err != nil {
			if err.Error() == "" {
				t.Error("empty message")
			}
			return
		}
		if out.Places != len(p.Hunks) {
			t.Errorf("%d of %d hunks applied without an error", out.Places, len(p.Hunks))
		}
	})
}

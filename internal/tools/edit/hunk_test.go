package edit

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// A hunk has two sides, their common lines, and a line number.
func TestParseHunk(t *testing.T) {
	tests := []struct {
		name, patch string
		want        Hunk
	}{
		{
			"change", "@@ -7,3 +7,3 @@ func f()\n a\n-b\n+c\n d\n",
			Hunk{Title: "hunk @@ -7,3 +7,3 @@ func f()", Old: []string{"a", "b", "d"}, New: []string{"a", "c", "d"}, common: []int{0, -1, 2}, at: 7},
		},
		{
			"insertion is numbered by the line before", "@@ -4,0 +5,2 @@\n+x\n+y\n",
			Hunk{Title: "hunk @@ -4,0 +5,2 @@", New: []string{"x", "y"}, common: []int{-1, -1}, at: 5},
		},
		{
			"one line has no count", "@@ -9 +9 @@\n-b\n+c\n",
			Hunk{Title: "hunk @@ -9 +9 @@", Old: []string{"b"}, New: []string{"c"}, common: []int{-1}, at: 9},
		},
		{
			"no numbers", "@@ ... @@\n a\n+b\n",
			Hunk{Title: "hunk @@ ... @@", Old: []string{"a"}, New: []string{"a", "b"}, common: []int{0, -1}},
		},
		{
			"too large a number is none", "@@ -99999999999999999999,1 +1,1 @@\n-a\n+b\n",
			Hunk{Title: "hunk @@ -99999999999999999999,1 +1,1 @@", Old: []string{"a"}, New: []string{"b"}, common: []int{-1}, at: 1<<63 - 1},
		},
		{
			"open ends", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
			Hunk{Title: "hunk @@ -1 +1 @@", Old: []string{"a"}, New: []string{"b"}, common: []int{-1}, at: 1, oldOpen: true, newOpen: true},
		},
		{
			"open context", "@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n",
			Hunk{Title: "hunk @@ -1,2 +1,2 @@", Old: []string{"a", "c"}, New: []string{"b", "c"}, common: []int{-1, 1}, at: 1, oldOpen: true, newOpen: true},
		},
		{
			"empty lines that the count takes in", "@@ -1,3 +1,3 @@\n-a\n+b\n\n\n\n",
			Hunk{Title: "hunk @@ -1,3 +1,3 @@", Old: []string{"a", "", ""}, New: []string{"b", "", ""}, common: []int{-1, 1, 2}, at: 1},
		},
		{
			"a patch with CRLF", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n",
			Hunk{Title: "hunk @@ -1,2 +1,2 @@", Old: []string{"a", "b"}, New: []string{"a", "c"}, common: []int{0, -1}, at: 1},
		},
		{
			"a long header is cut for messages", "@@ " + strings.Repeat("é", 100) + "\n a\n+b\n",
			Hunk{Title: "hunk @@ " + strings.Repeat("é", 77) + "…", Old: []string{"a"}, New: []string{"a", "b"}, common: []int{0, -1}},
		},
		{
			"block", block("a\nb\nc\n", "a\nx\ny\nc\n"),
			Hunk{Title: "block 1", Old: []string{"a", "b", "c"}, New: []string{"a", "x", "y", "c"}, common: []int{0, -1, -1, 2}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parseOne(tt.patch)
			if err != nil || len(p.Hunks) != 1 {
				t.Fatalf("%d hunks, %v", len(p.Hunks), err)
			}
			if diff := cmp.Diff(tt.want, p.Hunks[0], cmp.AllowUnexported(Hunk{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The lines that a hunk adds move only the line numbers below it.
func TestNumbersBelowAnEarlierHunk(t *testing.T) {
	const text = "a\nx\nb\nx\nc\nx\nd\n"
	grow := "@@ -5 +5,4 @@\n c\n+1\n+2\n+3\n"
	for hunks, want := range map[string]string{
		grow + "@@ -1,0 +2 @@\n+TOP\n":                             "a\nTOP\nx\nb\nx\nc\n1\n2\n3\nx\nd\n",
		grow + "@@ -5,0 +6 @@\n+END\n":                             "a\nx\nb\nx\nc\n1\n2\n3\nEND\nx\nd\n",
		grow + "@@ -2 +2 @@\n-x\n+X\n":                             "a\nX\nb\nx\nc\n1\n2\n3\nx\nd\n",
		grow + "@@ -6 +9 @@\n-x\n+X\n":                             "a\nx\nb\nx\nc\n1\n2\n3\nX\nd\n",
		"@@ -1,3 +1,2 @@\n a\n-x\n b\n@@ -4 +3 @@\n-x\n+X\n":       "a\nb\nX\nc\nx\nd\n",
		"@@ -1,3 +1,4 @@\n a\n+1\n x\n b\n@@ -2,0 +4 @@\n+2\n":     "a\n1\nx\n2\nb\nx\nc\nx\nd\n",
		"@@ -1,2 +1,4 @@\n a\n-x\n+1\n+2\n+3\n@@ -2,0 +4 @@\n+4\n": "a\n1\n2\n3\n4\nb\nx\nc\nx\nd\n",
	} {
		p, err := parseOne(hunks)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Apply(text, "\n")
		if err != nil || out.Text != want {
			t.Errorf("%q: %q, %v; want %q", hunks, out.Text, err, want)
		}
	}
}

// Blocks in a fence with blank lines between them are parsed, with any blanks after the
// marks.
func TestParseBlocksInAFence(t *testing.T) {
	first := strings.ReplaceAll(block("a\n", "b\n"), searchMark, searchMark+"  ")
	p, err := parseOne("```go\n" + first + "```\n\n \n```\n" + block("c\n", "d\n") + "```\n")
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Apply("a\nc\n", "")
	if err != nil || out.Text != "b\nd\n" || out.Places != 2 || out.Line != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestFileName(t *testing.T) {
	tests := map[string]string{
		"a/dir/f.go":               "a/dir/f.go",
		"b/f.go\t2020-01-01 00:00": "b/f.go",
		"/dev/null":                "/dev/null",
		"b/with blanks.txt  ":      "b/with blanks.txt",
		"":                         "",
	}
	for line, want := range tests {
		if got := fileName(line); got != want {
			t.Errorf("%q names %q, want %q", line, got, want)
		}
	}
}

func TestInserts(t *testing.T) {
	tests := map[string]bool{
		"@@ -0,0 +1,2 @@\n+a\n+b\n":                     true,
		"@@ -0,0 +1 @@\n+a\n@@ -0,0 +2 @@\n+b\n":        true,
		"@@ -1 +1,2 @@\n a\n+b\n":                       false,
		"@@ -0,0 +1 @@\n+a\n@@ -1 +1 @@\n-b\n+c\n":      false,
		block("", "a\n"):                                true,
		block("a\n", "b\n"):                             false,
		"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n": true,
	}
	for patch, want := range tests {
		p, err := parseOne(patch)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Inserts(); got != want {
			t.Errorf("%q: %v", patch, got)
		}
	}
}

// A reversed patch undoes the patch.
func TestPatchThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(numbered(t, "before", 1), "\n") + "\n"
		after := strings.Join(numbered(t, "after", 1), "\n") + "\n"
		text := before
		for _, step := range [][2]string{{before, after}, {after, before}} {
			unified := diff.Unified("f", "f", step[0], step[1])
			if unified == "" {
				continue
			}
			p, err := parseOne(unified)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Apply(text, "\n")
			if err != nil {
				t.Fatalf("%v\n%s", err, unified)
			}
			text = out.Text
		}
		if text != before {
			t.Fatalf("%q, want %q", text, before)
		}
	})
}

// On text with only \n, a replacement agrees with the standard library.
func TestAsTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"ab", "a", "é", "\n", " ", "x1"}), 1, 20).Draw(t, "text"), "")
		part := rapid.SampledFrom([]string{"ab", "a", "é", "\n", "a\nb", "x1"}).Draw(t, "part")
		fill := rapid.SampledFrom([]string{"", "Z", "a", "é\n"}).Draw(t, "fill")
		if strings.Contains(text, part) {
			got, err := Replace(text, part, fill, Options{All: true, EOL: "\n"})
			if want := strings.ReplaceAll(text, part, fill); err != nil || got.Text != want || got.Stage != Exact {
				t.Fatalf("%q, %v; want %q", got.Text, err, want)
			}
		}
		expr := rapid.SampledFrom([]string{`a+`, `(a)(b)?`, `\n`, `x\d`, `[^a]`}).Draw(t, "expr")
		template := rapid.SampledFrom([]string{"", "<$0>", "${0}1", "$$"}).Draw(t, "template")
		re := regexp.MustCompile(expr)
		got, err := Regex(text, Pattern{Expr: expr, Replacement: template, EOL: "\n"})
		if !re.MatchString(text) {
			if err == nil {
				t.Fatalf("%s matches nothing in %q: %+v", expr, text, got)
			}
			return
		}
		if want := re.ReplaceAllString(text, template); err != nil || got.Text != want {
			t.Fatalf("%q, %v; want %q", got.Text, err, want)
		}
	})
}

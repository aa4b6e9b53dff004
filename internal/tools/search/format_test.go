package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func same(path string) string { return path }

func TestText(t *testing.T) {
	match := func(n int, text string) Line { return Line{Number: n, Text: text, Match: true} }
	near := func(n int, text string) Line { return Line{Number: n, Text: text} }
	tests := []struct {
		name  string
		found Found
		want  string
	}{
		{"nothing", Found{}, "No matches."},
		{"nothing in a part", Found{Partial: true}, "No matches. Not every file was searched: the folder has more than 1000000 files and folders."},
		{
			"one",
			Found{Files: []FileLines{{"a.go", []Line{match(3, "x := 1")}}}, Matches: 1},
			"a.go\n3:x := 1\n\n1 match in 1 file.",
		},
		{
			"context and a gap",
			Found{Files: []FileLines{{"a", []Line{near(1, ""), match(2, "m"), near(3, "n"), near(7, "o"), match(8, "m"), match(9, "m")}}}, Matches: 3},
			"a\n1-\n2:m\n3-n\n--\n7-o\n8:m\n9:m\n\n3 matches in 1 file.",
		},
		{
			"files",
			Found{Files: []FileLines{{"a", []Line{match(1, "m")}}, {"b/c", []Line{match(10, "m")}}}, Matches: 2},
			"a\n1:m\n\nb/c\n10:m\n\n2 matches in 2 files.",
		},
		{
			"nothing in other files",
			Found{Unsearched: []string{"a", "b/c"}},
			"No matches. Not searched, larger than 64 MiB or unreadable: a, b/c.",
		},
		{
			"more unsearched",
			Found{Unsearched: strings.Split("a b c d e f g h i j k l", " ")},
			"No matches. Not searched, larger than 64 MiB or unreadable: a, b, c, d, e, f, g, h, i, j and 2 more.",
		},
		{
			"more",
			Found{Files: []FileLines{{"a", []Line{match(1, "m")}}}, Matches: 1, More: true, Partial: true},
			"a\n1:m\n\n1 match in 1 file. There are more: narrow the regex, path or file_pattern, or raise limit." +
				" Not every file was searched: the folder has more than 1000000 files and folders.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.found.Text(same)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	named := tests[2].found.Text(func(p string) string { return "sub/" + p })
	if !strings.HasPrefix(named, "sub/a.go\n") {
		t.Errorf("the name is not asked for: %q", named)
	}
}

// However much was found, the text is bounded and contains the number of matches shown.
func TestTextIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var found Found
		for i := range rapid.IntRange(1, 60).Draw(t, "files") {
			f := FileLines{Path: fmt.Sprintf("file%d", i)}
			for n := range rapid.IntRange(1, 60).Draw(t, "lines") {
				l := Line{Number: n + 1, Text: strings.Repeat("x", rapid.IntRange(0, maxLine).Draw(t, "width")), Match: n%2 == 0}
				f.Lines = append(f.Lines, l)
				if l.Match {
					found.Matches++
				}
			}
			found.Files = append(found.Files, f)
		}
		text := found.Text(same)
		if len(text) > maxText+2*maxLine+300 {
			t.Fatalf("%d bytes", len(text))
		}
		shown := 0
		for line := range strings.Lines(text) {
			if number, _, ok := strings.Cut(line, ":"); ok && strings.Trim(number, "0123456789") == "" {
				shown++
			}
		}
		said := fmt.Sprintf("Only the first %d are shown", shown)
		if cut := shown < found.Matches; cut != strings.Contains(text, said) || cut != strings.Contains(text, "Only the first") {
			t.Fatalf("%d of %d matches are shown: %s", shown, found.Matches, text[len(text)-100:])
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 1000: "1000 files"} {
		if got := Count(n, "file", "files"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

package search

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// The modes without content name the same files as the one with it, and count the same
// lines.
func TestModes(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"a.go": "x\ny\nx x\n", "b/c.go": "x\n", "d.go": "y\n", "e.bin": "x\x00\n"})
	f := folder(dir, dir)
	for _, tt := range []struct {
		query Query
		want  string
	}{
		{Query{Regex: "x", Mode: Files, Limit: 9}, "a.go\nb/c.go\n\n2 files."},
		{Query{Regex: "x", Mode: Counts, Limit: 9}, "a.go: 2\nb/c.go: 1\n\n3 matches in 2 files."},
		{Query{Regex: "x", Mode: Counts, Limit: 1}, "a.go: 2\n\n2 matches in 1 file. There are more: narrow the regex, path or file_pattern, or raise limit."},
		{Query{Regex: "z", Mode: Files, Limit: 9}, "No matches."},
	} {
		found, err := f.Grep(t.Context(), tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := found.Text(same); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.query, got, tt.want)
		}
	}
	found, err := f.Grep(t.Context(), Query{Regex: "x|y", Context: 1, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	if got := found.First(2, 1).Text(same); got != "a.go\n1:x\n2:y\n3-x x\n\n2 matches in 1 file. There are more: narrow the regex, path or file_pattern, or raise limit." {
		t.Errorf("the first: %q", got)
	}
}

// TestCountAgreesWithScan: the modes see the same lines.
func TestCountAgreesWithScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"ab", "b", "\n", "\r\n", "é", "x"})).Draw(t, "data"), ""))
		m, err := newMatcher(rapid.SampledFrom([]string{"ab", "b|x", "^$", "é", "(?i)B$", ""}).Draw(t, "regex"))
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		_, want, _ := m.scan(data, 0, limit)
		if got := m.count(data, limit); got != want {
			t.Fatalf("%d, scan finds %d", got, want)
		}
	})
}

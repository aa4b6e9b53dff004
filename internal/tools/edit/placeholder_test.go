package edit

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlaceholderIsANewLine compares Placeholder with a look at each line, on texts of few
// different lines, whose ends are alike.
func TestPlaceholderIsANewLine(t *testing.T) {
	lines := []string{"a()", "a() // ... rest of the code", "// ... rest of the code", "// ...", "\t// ...", "", "b()\r"}
	text := func() string {
		var picked []string
		for range rand.IntN(5) {
			picked = append(picked, lines[rand.IntN(len(lines))])
		}
		return strings.Join(picked, "\n")
	}
	found := 0
	for range 20_000 {
		before, after := text(), text()
		want := ""
		for _, l := range strings.Split(after, "\n") {
			l = strings.TrimSpace(l)
			had := false
			for _, b := range strings.Split(before, "\n") {
				had = had || strings.TrimSpace(b) == l
			}
			if !had && isPlaceholder(l) {
				want = l
				found++
				break
			}
		}
		if got := Placeholder(before, after); got != want {
			t.Fatalf("Placeholder(%q, %q) = %q, want %q", before, after, got, want)
		}
	}
	if found == 0 {
		t.Error("no text had a placeholder")
	}
}

package edit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
)

// TestPlaceholderIsANewLine compares Placeholder with a plain search of all lines, on short
// texts that share most of their lines.
func TestPlaceholderIsANewLine(t *testing.T) {
	lines := []string{"a()", "a() // ... rest of the code", "// ... rest of the code", "// ...", "\t// ...", "", "b()\r"}
	random := rand.New(rand.NewPCG(stress.Seed(t), 0))
	text := func() string {
		var picked []string
		for range random.IntN(5) {
			picked = append(picked, lines[random.IntN(len(lines))])
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

// TestPlaceholdersThatStay: many of them between two changes are not new.
func TestPlaceholdersThatStay(t *testing.T) {
	stay := strings.Repeat("a()\n// ... rest of the code\n", 20_000)
	if got := Placeholder("one\n"+stay+"two\n", "1\n"+stay+"2\n"); got != "" {
		t.Errorf("Placeholder = %q", got)
	}
	if got := Placeholder("one\n"+stay+"two\n", "1\n"+stay+"// ... rest of the file\n"); got != "// ... rest of the file" {
		t.Errorf("Placeholder = %q", got)
	}
}

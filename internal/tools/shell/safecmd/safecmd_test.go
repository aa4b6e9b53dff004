package safecmd

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// sample is a line of testdata/lines.tsv.
type sample struct {
	want string // safe, either (safe or ask), ask (or danger), danger
	line string
}

func samples(t testing.TB) []sample {
	t.Helper()
	f, err := os.Open("testdata/lines.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []sample
	for lines := bufio.NewScanner(f); lines.Scan(); {
		want, line, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			continue // the heading
		}
		out = append(out, sample{want, strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(line)})
	}
	return out
}

// TestFindHidesWhatItRuns: a rule that asks about some commands does not make each find ask: only
// one that runs others may run them.
func TestFindHidesWhatItRuns(t *testing.T) {
	for line, hidden := range map[string]bool{
		`find . -name "*.go" -newer go.mod`: false, "find": false, "find src -type f -print0": false,
		"find . -exec rm {} +": true, "find . -name x -ok rm {} ;": true, "find . -execdir make {} +": true, "find . -delete": true, "find $X -name x": true,
		"find . -newname x": true,
	} {
		if got := Classify(line).CommandParts(false)[0].Hidden; got != hidden {
			t.Errorf("%s: hidden %v", line, got)
		}
	}
}

// TestLines: no line that does more than read is safe, and none that is hard to undo goes
// unmarked.
func TestLines(t *testing.T) {
	counts := map[string]int{}
	for _, s := range samples(t) {
		j := explain(s.line)
		ok := map[string]bool{"safe": j.Class == Safe, "either": j.Class < Danger, "ask": j.Class > Safe, "danger": j.Class == Danger}[s.want]
		if !ok {
			t.Errorf("%q is %s, want %s: %q", s.line, j.Class, s.want, j.Reasons())
		}
		counts[s.want]++
		if len(j.Reasons()) == 0 || slices.Contains(j.Reasons(), "") {
			t.Errorf("%q: no reason", s.line)
		}
	}
	t.Logf("load: %d lines: %v", len(samples(t)), counts)
}

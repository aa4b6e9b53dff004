package commands

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/plural"
)

func TestDraw(t *testing.T) {
	parts := []share{{"System prompt", 2000}, {"Editor", 0}, {"Tools", 1}, {"Tool results", 30_000}}
	want := `About 32,001 of 128,000 tokens (25 %)
██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░

System prompt  ▏░░░░░░░░░   2,000   2%
Tools          ▏░░░░░░░░░       1   0%
Tool results   ██▎░░░░░░░  30,000  23%
Free           ███████▍░░  95,999  75%
`
	if diff := cmp.Diff(want, drawChart(128_000, 0, parts)); diff != "" {
		t.Error(diff)
	}
	if got := drawChart(0, 0, parts); !strings.HasPrefix(got, "About 32,001 tokens\n(the") || strings.Contains(got, "Free") {
		t.Error(got)
	}
}

func TestLinesAreNarrow(t *testing.T) {
	for _, window := range []int64{0, 1, 100, 999_999, 100_000_000} {
		for _, used := range []int64{0, 1, 99, 1_000_000, 12_345_678} {
			for _, counted := range []int64{0, 1, 7, 999_999} {
				for _, line := range strings.Split(drawChart(window, counted, []share{{"System prompt", used}, {"Tool results", used}}), "\n") {
					if n := utf8.RuneCountInString(line); n > 40 && !strings.HasPrefix(line, "About") {
						t.Errorf("window %d, used %d: %d columns: %q", window, used, n, line)
					}
				}
			}
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567"} {
		if got := plural.Grouped(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// The estimates are scaled to the provider's count.
func TestPartsAddUpToWhatWasCounted(t *testing.T) {
	parts := []share{{"System prompt", 3333}, {"Editor", 0}, {"Tools", 1}, {"Prompts", 3333}, {"Tool results", 30_001}}
	for _, used := range []int64{1, 3, 1000, 33_333, 1_234_567} {
		got, sum := fitted(parts, used)
		total := int64(0)
		for i, p := range got {
			if total += p.Tokens; p.Tokens < 0 || p.Name != parts[i].Name || parts[i].Tokens == 0 && p.Tokens != 0 {
				t.Errorf("of %d: %v", used, got)
			}
		}
		if total != used || sum != used {
			t.Errorf("of %d: %d tokens in %v", used, total, got)
		}
	}
	if got := drawChart(100_000, 50_000, parts); !strings.HasPrefix(got, "About 50,000 of 100,000 tokens (50 %)") {
		t.Error(got)
	}
}

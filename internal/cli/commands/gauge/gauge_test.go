package gauge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestDraw(t *testing.T) {
	parts := []Part{{"System prompt", 2000}, {"Editor", 0}, {"Tools", 1}, {"Tool results", 30_000}}
	want := `About 32,001 of 128,000 tokens (25 %)
██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░

System prompt ▏░░░░░░░░░░░    2,000   2%
Tools         ▏░░░░░░░░░░░        1   0%
Tool results  ██▊░░░░░░░░░   30,000  23%
Free          ████████▉░░░   95,999  75%
`
	if diff := cmp.Diff(want, Draw(128_000, parts)); diff != "" {
		t.Error(diff)
	}
	if got := Draw(0, parts); !strings.HasPrefix(got, "About 32,001 tokens\n(the") || strings.Contains(got, "Free") {
		t.Error(got)
	}
}

func TestLinesAreNarrow(t *testing.T) {
	for _, window := range []int64{0, 1, 100, 999_999, 100_000_000} {
		for _, used := range []int64{0, 1, 99, 1_000_000, 12_345_678} {
			for _, line := range strings.Split(Draw(window, []Part{{"System prompt", used}, {"Tool results", used}}), "\n") {
				if n := utf8.RuneCountInString(line); n > 40 && !strings.HasPrefix(line, "About") {
					t.Errorf("window %d, used %d: %d columns: %q", window, used, n, line)
				}
			}
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

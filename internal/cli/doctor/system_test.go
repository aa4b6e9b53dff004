package doctor

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/docs"
)

// Each system but Linux is said to lack something, with a page that has it.
func TestSystem(t *testing.T) {
	if got := checkSystem("linux"); got != nil {
		t.Errorf("Linux lacks %v", got)
	}
	for system, want := range map[string]string{"darwin": "access list", "windows": "streams", "freebsd": "nobody has tried"} {
		got := checkSystem(system)
		if len(got) != 1 || got[0].grade != weak || !strings.Contains(got[0].means, want) {
			t.Fatalf("%s: %v", system, got)
		}
		if _, ok := docs.Page(strings.TrimPrefix(got[0].fix, "agent help ")); !ok {
			t.Errorf("%s: there is no page %q", system, got[0].fix)
		}
	}
}

// No program of Unix is named on Windows.
func TestTerminalFixes(t *testing.T) {
	for system, want := range map[string]string{"linux": "stty", "windows": "mode con"} {
		if _, size := terminalFixes(system); !strings.HasPrefix(size, want) {
			t.Errorf("%s: %s", system, size)
		}
	}
}

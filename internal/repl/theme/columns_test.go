package theme

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/cells"
)

var pairs = [][2]string{
	{"/diff", "what this session changed, per file and turn"},
	{"/undo [turn]", "take back"},
	{"/a-name-that-is-much-longer-than-the-others [x]", "does something"},
	{"/ü", ""},
}

func TestColumns(t *testing.T) {
	want := []string{
		"  /diff         what this session",
		"                changed, per file and",
		"                turn",
		"  /undo [turn]  take back",
		"  /a-name-that-is-much-longer-than-the-ot",
		"  hers [x]",
		"                does something",
		"  /ü",
	}
	if d := cmp.Diff(want, Columns(pairs, "  ", 41)); d != "" {
		t.Error(d)
	}
}

func TestColumnsFit(t *testing.T) {
	for width := 22; width < 200; width++ {
		lines := Columns(pairs, "  ", width)
		for _, l := range lines {
			if cells.Width(l) > width {
				t.Fatalf("%d columns: %q", width, l)
			}
		}
		if text := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); !strings.Contains(text, "what this session changed, per file and turn") {
			t.Fatalf("%d columns: %q", width, text)
		}
	}
}

package repl

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/config"
)

var statusTexts = map[string]string{
	itemMode: "default mode", itemModel: "openai/gpt", itemBranch: "main", itemContext: "context 12%", itemEditor: "VS Code · main.go:5-10", itemCost: "$0.12",
}

func TestWhatMattersLeastGoesFirst(t *testing.T) {
	t.Parallel()
	show := []string{itemMode, itemModel, itemBranch, itemContext, itemEditor, itemCost}
	for width, want := range map[int]string{
		200: "default mode · openai/gpt · main · context 12% · VS Code · main.go:5-10 · $0.12",
		75:  "default mode · openai/gpt · context 12% · VS Code · main.go:5-10 · $0.12",
		71:  "default mode · openai/gpt · context 12% · $0.12",
		40:  "default mode · context 12% · $0.12",
		30:  "default mode · context 12%",
		20:  "default mode",
		5:   "",
	} {
		if got := statusLine(show, statusTexts, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

func TestOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	if got := statusLine([]string{itemCost, "no such", itemFolder, itemMode, itemCost}, statusTexts, 80); got != "$0.12 · default mode" {
		t.Errorf("%q", got)
	}
	if got := statusLine(nil, statusTexts, 80); got != "" {
		t.Errorf("%q", got)
	}
	if got := statusLine([]string{itemBranch}, map[string]string{itemBranch: "a\x1b[2Jb\n"}, 80); strings.ContainsAny(got, "\x1b\n") {
		t.Errorf("%q", got)
	}
}

// At any width the line fits, items are complete, and none is dropped before a less important
// one.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := map[string]string{}
		for _, name := range statusItems() {
			texts[name] = rapid.StringOfN(rapid.RuneFrom([]rune("ab 漢é")), 0, 12, -1).Draw(t, name)
		}
		show := rapid.Permutation(statusItems()).Draw(t, "show")
		width := rapid.IntRange(0, 100).Draw(t, "width")
		line := statusLine(show, texts, width)
		if cells.Width(line) > width {
			t.Fatalf("%q is wider than %d", line, width)
		}
		var there []string
		for _, name := range itemWeights {
			if texts[name] != "" {
				there = append(there, name)
			}
		}
		for n := range len(there) + 1 { // the n most important, in the requested order
			ordered := slices.DeleteFunc(slices.Clone(show), func(name string) bool { return !slices.Contains(there[:n], name) })
			if joinItems(ordered, texts) == line {
				return
			}
		}
		t.Fatalf("%q is not the items that matter most of %q", line, texts)
	})
}

func TestFirst(t *testing.T) {
	t.Parallel()
	choices := [][]string{{"running", "", "12s", "Esc"}, {"running", "Esc"}, {"running"}}
	for width, want := range map[int]string{19: "running · 12s · Esc", 18: "running · Esc", 9: "running", 3: "running"} {
		if got := firstFit(width, choices...); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// The configuration accepts exactly these names.
func TestNamesAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	if _, err := config.Edit("config.yaml", nil, "interface.status", "none such"); err == nil || !strings.HasSuffix(err.Error(), strings.Join(statusItems(), ", ")) {
		t.Errorf("%v, want %s", err, statusItems())
	}
}

// statusItems lists the items in the order of the documentation.
func statusItems() []string {
	return []string{itemMode, itemJobs, itemModel, itemBranch, itemContext, itemEditor, itemCost, itemTokens, itemFolder}
}

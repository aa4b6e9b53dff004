package idelink

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// maxSelected is how many bytes of a selection go into a prompt.
const maxSelected = 16 << 10

// Names are the words that, behind an @, put a part of the editor's state into a prompt.
var Names = []string{"selection", "diagnostics"}

var named = lazyregexp.New(`(?:^|\s)@(` + strings.Join(Names, "|") + `)\b`)

// Expand returns the text to append to a prompt for the parts of the editor's state that it
// names: the selection for @selection, the editor's findings for @diagnostics. set has the
// model's own tools.
func (l *Link) Expand(ctx context.Context, prompt string, set *tools.Set) string {
	if l.off || !strings.Contains(prompt, "@") {
		return ""
	}
	var b strings.Builder
	var done []string
	for _, found := range named.FindAllStringSubmatch(prompt, -1) {
		if name := found[1]; !slices.Contains(done, name) {
			done = append(done, name)
			if name == "selection" {
				b.WriteString("\n\n" + l.selected())
			} else {
				b.WriteString("\n\n@diagnostics of the editor:\n" + diagnostics(ctx, set))
			}
		}
	}
	return b.String()
}

// selected describes the selection.
func (l *Link) selected() string {
	sel := l.View.Selection()
	if sel == nil {
		return "(Nothing is selected in the editor.)"
	}
	text, cut := sel.Text, ""
	if len(text) > maxSelected {
		text = strings.ToValidUTF8(text[:maxSelected], "")
		cut = fmt.Sprintf(", its first %d KiB", maxSelected>>10)
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("@selection is %s%s%s:\n%s\n%s\n%s",
		l.name(sel.Path), lines(":", sel.StartLine, "-", sel.EndLine), cut, fence, strings.TrimSuffix(text, "\n"), fence)
}

// diagnostics returns the result of the model's own tool.
func diagnostics(ctx context.Context, set *tools.Set) string {
	res, err := set.Call(ctx, "get_diagnostics", tools.Call{Args: json.RawMessage("{}")})
	if err != nil {
		return "not available: " + err.Error()
	}
	return res.ForModel
}

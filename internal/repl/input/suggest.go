package input

import (
	"cmp"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// suggests accepts the suggestion if it is visible and key accepts it.
func (e *Editor) suggests(key string) bool {
	if e.view.suggest == "" || !e.Empty() || key != "tab" && key != "right" {
		return false
	}
	e.text.Type(e.view.suggest)
	e.view.suggest = ""
	return true
}

// suggestion returns the suggestion for an empty prompt.
func (v *view) suggestion(width int) string {
	return cells.Truncate(v.style.dim("("+cmp.Or(v.take, "→")+") "+v.suggest), max(1, width-1), "…")
}

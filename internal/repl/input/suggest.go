package input

import (
	"cmp"

	"github.com/charmbracelet/x/ansi"
)

// suggests puts the suggestion on the prompt, if it is in sight and the key is one that
// takes it.
func (e *Editor) suggests(key string) bool {
	if e.view.suggest == "" || !e.Empty() || key != "tab" && key != "right" {
		return false
	}
	e.text.Type(e.view.suggest)
	e.view.suggest = ""
	return true
}

// suggestion is what an empty prompt shows.
func (v *view) suggestion(width int) string {
	return ansi.Truncate(v.style.dim("("+cmp.Or(v.take, "→")+") "+v.suggest), max(1, width-1), "…")
}

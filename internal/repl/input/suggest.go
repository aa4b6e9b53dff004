package input

import (
	"cmp"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// suggests accepts the suggestion if it is visible and an action accepts it.
func (e *Editor) suggests(a keys.Action) bool {
	if e.view.suggest == "" || !e.Empty() || a != keys.Complete && a != keys.Right {
		return false
	}
	e.text.Type(e.view.suggest)
	e.view.suggest = ""
	return true
}

// suggestion returns the suggestion for an empty prompt.
func (e *Editor) suggestion(width int) string {
	key := cmp.Or(e.keys.First(keys.Complete), e.keys.First(keys.Right))
	return cells.Truncate(e.view.style.dim("("+key+") "+e.view.suggest), max(1, width-1), "…")
}

package ide

import (
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// planMode returns the mode to go on in, as named by the editor: an unknown one is the
// strictest.
func planMode(named string) string {
	if named == "accept-edits" {
		return named
	}
	return "default"
}

// quote adds the lines that the comments on a plan are about: the person may have changed
// the text that the model knows.
func quote(to []confirm.Comment, from []client.Comment) {
	for i := range to {
		to[i].Quote = clip.Bytes(from[i].Quote, maxWords, " […]")
	}
}

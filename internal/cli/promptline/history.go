// Package promptline is what stands behind the prompt of the screen: its history and
// the command lines that are typed there. It guarantees that what was typed in one
// project is told from what was typed in others, and that what the user ran reaches
// the model once, marked as the user's.
package promptline

import (
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/cli/home"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// History is the prompts as the screen sees them.
type History struct{ home.History }

// NewHistory returns what was asked so far, in dir and elsewhere.
func NewHistory(agentHome, dir string) History {
	return History{home.History{File: filepath.Join(agentHome, "history"), Dir: dir}}
}

// Entries returns the prompts, and which of them were given in this folder.
func (h History) Entries() ([]input.Entry, error) {
	kept, err := h.History.Entries()
	out := make([]input.Entry, len(kept))
	for i, e := range kept {
		out[i] = input.Entry{Text: e.Text, Here: e.Dir == h.Dir}
	}
	return out, err
}

// Package promptline is what stands behind the prompt of the screen: its history and
// the command lines that are typed there. It guarantees that what was typed in one
// project is told from what was typed in others, and that what the user ran reaches
// the model once, marked as the user's.
package promptline

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/app/home"
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

// Add keeps a prompt. Its error is for people.
func (h History) Add(text string) error {
	err := h.History.Add(text)
	if err == nil {
		return nil
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		err = no // without the name of our file
	}
	return fmt.Errorf("later sessions will not know the prompts of this one: %w", err)
}

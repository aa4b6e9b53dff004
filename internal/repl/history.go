package repl

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// promptHistory is the history of prompts, with those of its folder marked.
type promptHistory struct{ home.History }

// PromptHistory returns the prompts given in dir and elsewhere.
func PromptHistory(agentHome, dir string) input.History {
	return promptHistory{home.History{File: filepath.Join(agentHome, "history"), Dir: dir}}
}

// Entries returns the prompts and marks those given in this folder.
func (h promptHistory) Entries() ([]input.Entry, error) {
	entries, err := h.History.Entries()
	out := make([]input.Entry, len(entries))
	for i, e := range entries {
		out[i] = input.Entry{Text: e.Text, Here: e.Dir == h.Dir}
	}
	return out, err
}

// Add appends a prompt. Its error is for people: it does not name our file.
func (h promptHistory) Add(text string) error {
	err := h.History.Add(text)
	if err == nil {
		return nil
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		err = no
	}
	return fmt.Errorf("later sessions will not know the prompts of this one: %w", err)
}

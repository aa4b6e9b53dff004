// Package home keeps the small things in the agent's own folder: the history of
// prompts, long outputs of commands, and proposals while they are edited. It
// guarantees that each is private to the user and bounded.
package home

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Bounds of the history of prompts.
const (
	historyEntries = 1000
	historySize    = 1 << 20  // bytes, above which the file is cut to historyEntries
	historyEntry   = 32 << 10 // bytes; longer prompts are not kept
)

// History keeps the prompts in a file: a JSON string a line. Several processes
// may add to it.
type History struct{ File string }

// Entries returns the prompts, the oldest first. Lines that cannot be read are
// left out.
func (h History) Entries() ([]string, error) {
	data, err := os.ReadFile(h.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	var all []string
	for line := range bytes.Lines(data) {
		var s string
		if json.Unmarshal(line, &s) == nil && s != "" {
			all = append(all, s)
		}
	}
	if len(all) > historyEntries {
		all = all[len(all)-historyEntries:]
	}
	if len(data) > historySize {
		err = h.rewrite(all)
	}
	return all, err
}

func (h History) rewrite(all []string) error {
	var out []byte
	for _, s := range all {
		line, err := encodeEntry(s)
		if err != nil {
			return err
		}
		out = append(out, line...)
	}
	return statefile.Write(h.File, out)
}

// Add appends a prompt.
func (h History) Add(entry string) (err error) {
	if entry == "" || len(entry) > historyEntry {
		return nil
	}
	line, err := encodeEntry(entry)
	if err != nil {
		return err
	}
	f, err := statefile.OpenAppend(h.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(line)
	return err
}

// encodeEntry makes one line; it begins with a newline too, so that it is never
// glued to a line that a crash cut off.
func encodeEntry(s string) ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("keep the prompt: %w", err)
	}
	return append(append([]byte{'\n'}, data...), '\n'), nil
}

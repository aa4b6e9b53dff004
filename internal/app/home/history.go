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

// Limits of the history of prompts.
const (
	historyEntries = 1000     // entries returned of this folder, and of all others
	historySize    = 1 << 20  // bytes of a file, then a new one begins
	historyEntry   = 32 << 10 // bytes; longer prompts are not stored
)

// History stores prompts in a file, and older ones in a second file next to it, one
// JSON value a line. Several processes may add to it: each entry is a single write to
// the end of a file, and files are never rewritten.
type History struct{ File, Dir string }

// Entry is a prompt and the folder it was given in.
type Entry struct {
	Text string `json:"text"`
	Dir  string `json:"dir"`
}

// older returns the file of the prompts before those in File.
func (h History) older() string { return h.File + ".1" }

// Entries returns the newest prompts of this folder and the newest of all others, the
// oldest first. It skips lines that cannot be read.
func (h History) Entries() ([]Entry, error) {
	var all []Entry
	for _, file := range []string{h.older(), h.File} {
		var data []byte
		err := statefile.Patiently(func() (err error) {
			data, err = os.ReadFile(file)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return all, fmt.Errorf("read the history: %w", err)
		}
		for line := range bytes.Lines(data) {
			if e := (Entry{}); json.Unmarshal(line, &e) == nil && e.Text != "" {
				all = append(all, e)
			}
		}
	}
	return h.newest(all), h.rotate()
}

// newest drops the entries beyond the limits.
func (h History) newest(all []Entry) []Entry {
	here := 0
	for _, e := range all {
		if e.Dir == h.Dir {
			here++
		}
	}
	skipHere, skipOthers := here-historyEntries, len(all)-here-historyEntries
	var out []Entry
	for _, e := range all {
		skip := &skipOthers
		if e.Dir == h.Dir {
			skip = &skipHere
		}
		if *skip--; *skip < 0 {
			out = append(out, e)
		}
	}
	return out
}

// rotate begins a new file if the current one is large. Processes that have it open go
// on writing to the older file, so nothing is lost. Where they keep it from being renamed, a
// later session does that. A lock lets one process rotate at a time.
func (h History) rotate() error {
	if !h.large() {
		return nil
	}
	lock, err := statefile.TryAcquire(h.File + ".lock")
	if errors.Is(err, statefile.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	if h.large() { // another process may have been first
		if err = statefile.Rename(h.File, h.older()); statefile.Busy(err) {
			err = nil // it stays, as if this session had found the lock taken
		}
	}
	return errors.Join(err, lock.Release())
}

func (h History) large() bool {
	st, err := os.Stat(h.File)
	return err == nil && st.Size() > historySize
}

// Add appends a prompt.
func (h History) Add(text string) (err error) {
	if text == "" || len(text) > historyEntry {
		return nil
	}
	data, err := json.Marshal(Entry{Text: text, Dir: h.Dir})
	if err != nil {
		return fmt.Errorf("keep the prompt: %w", err)
	}
	f, err := statefile.OpenAppend(h.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// the leading newline separates it from a line that a crash cut off
	_, err = f.Write(append(append([]byte{'\n'}, data...), '\n'))
	return err
}

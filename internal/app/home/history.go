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
	historyEntries = 1000     // that are offered, of this folder and of all others each
	historySize    = 1 << 20  // bytes, above which a new file is begun
	historyEntry   = 32 << 10 // bytes; longer prompts are not kept
)

// History keeps the prompts in a file, and older ones in a second file beside it: a
// JSON value a line. Several processes may add to it: an entry is one write to the
// end of a file, and no file is ever rewritten.
type History struct{ File, Dir string }

// Entry is a prompt and the folder that it was given in, which is empty for those
// of the time when it was not kept.
type Entry struct {
	Text string `json:"text"`
	Dir  string `json:"dir,omitzero"`
}

// older is the file of the prompts before those in File.
func (h History) older() string { return h.File + ".1" }

// Entries returns the prompts, the oldest first: the newest of this folder, and the
// newest of all others. Lines that cannot be read are left out.
func (h History) Entries() ([]Entry, error) {
	var all []Entry
	for _, file := range []string{h.older(), h.File} {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return all, fmt.Errorf("read the history: %w", err)
		}
		for line := range bytes.Lines(data) {
			if e, ok := decode(line); ok {
				all = append(all, e)
			}
		}
	}
	return h.newest(all), h.rotate()
}

// decode reads a line: an entry, or the text alone, as it was once written.
func decode(line []byte) (e Entry, ok bool) {
	var err error
	switch line[0] {
	case '"':
		err = json.Unmarshal(line, &e.Text)
	case '{':
		err = json.Unmarshal(line, &e)
	}
	return e, err == nil && e.Text != ""
}

// newest leaves out the entries above the bounds.
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

// rotate begins a new file if the present one is large. Whoever has it open goes on
// writing to the older one, so that nothing is lost. One process does it at a time.
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
	if h.large() { // still: another process may have been first
		err = statefile.Rename(h.File, h.older())
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
	// the newline before it keeps it apart from a line that a crash cut off
	_, err = f.Write(append(append([]byte{'\n'}, data...), '\n'))
	return err
}

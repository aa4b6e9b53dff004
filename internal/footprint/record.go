package footprint

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
)

// Contents holds the changes of files that a person approved: by path, from the hash of a
// content to that of the one which replaced it. The hash of a missing file is "".
type Contents map[string]map[string]string

// Hash returns the hash of a file's content.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Add adds a change from the content with the hash before to that with the hash after.
func (c Contents) Add(path, before, after string) {
	if c[path] == nil {
		c[path] = map[string]string{}
	}
	c[path][before] = after
}

// lead reports whether approved changes lead from one content of a file to another.
func (c Contents) lead(path, was, is string) bool {
	for range len(c[path]) + 1 {
		if was == is {
			return true
		}
		next, ok := c[path][was]
		if !ok {
			return false
		}
		was = next
	}
	return false
}

// Record remembers the programs and files of the commands run with one permission.
type Record struct {
	Line, Dir string // of the command that the person saw

	first *Footprint
	files map[string]string  // hash by path, of all
	found map[string]program // by word
}

// NewRecord returns the record of a line with the footprint first, which it closes in the end.
func NewRecord(line string, first *Footprint) *Record {
	h := &Record{Line: line, Dir: first.path, first: first, files: map[string]string{}, found: map[string]program{}}
	h.Add(first)
	return h
}

// Close lets go of the folder.
func (h *Record) Close() { h.first.Close() }

// Add notes what one more command runs.
func (h *Record) Add(now *Footprint) {
	maps.Copy(h.files, now.files)
	maps.Copy(h.found, now.found)
}

// Differs describes the first thing that has another form than when it ran, which no person
// approved; "" without one. now is the footprint of a line, first the present one of Line; nil
// if unknown.
func (h *Record) Differs(now, first *Footprint, approved Contents) string {
	if first == nil {
		return ErrUnpredictable.Error()
	}
	if why := h.first.changes(first, approved); why != "" {
		return why
	}
	for word, is := range now.found {
		if was, known := h.found[word]; known {
			if why := was.changes(word, is); why != "" {
				return why
			}
		}
	}
	for _, path := range now.order {
		if was, known := h.files[path]; known && !approved.lead(path, was, now.files[path]) {
			return now.Short(path) + " has changed"
		}
	}
	return ""
}

package footprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/bb2d0cf4/agent/internal/hexsum"
)

// Contents holds the changes of files that a person approved: by path, from the hash of a
// content to that of the one which replaced it. The hash of a missing file is "".
type Contents map[string]map[string]string

// Hash returns the hash of a file's content.
func Hash(data []byte) string {
	return hexsum.Of(data)
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
	Command Command // that the person saw

	first  *Footprint
	whole  Reach              // from which the whole folder is compared
	files  map[string]string  // hash by path, of all
	found  map[string]program // by word
	folder *folder            // nil if it is not compared
}

// NewRecord returns the record of a command with the footprint first, which it closes in the
// end. If one of its lines has at least the reach whole, the folder is compared, too.
func NewRecord(c Command, first *Footprint, whole Reach) *Record {
	h := &Record{Command: c, first: first, whole: whole, files: map[string]string{}, found: map[string]program{}}
	h.Add(first)
	return h
}

// First returns the footprint of Command.
func (h *Record) First() *Footprint { return h.first }

// Close lets go of the folder.
func (h *Record) Close() { h.first.Close() }

// Add notes what one more command runs.
func (h *Record) Add(now *Footprint) {
	maps.Copy(h.files, now.files)
	maps.Copy(h.found, now.found)
	if reach, _ := now.Reach(); reach >= h.whole && h.folder == nil {
		h.folder = look(h.first.path)
	}
}

// Approving notes that a person approves a change of a file, which is not written yet.
func (h *Record) Approving(path, before, after string) {
	if h.folder != nil {
		h.folder.approving(path, before, after)
	}
}

// Differs describes the first thing that has another form than when it ran, which no person
// approved; "" without one. now is the footprint of a line, first the present one of Command.
func (h *Record) Differs(now, first *Footprint, approved Contents) string {
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
	reach, program := now.Reach()
	if h.folder == nil || reach < h.whole {
		return ""
	}
	same := map[string]bool{} // the files of the footprint were compared by their contents
	for path := range now.files {
		same[path] = true
	}
	if why := h.folder.changes(reach, same); why != "" {
		return why + ", and it is not known which files " + program + " runs"
	}
	return ""
}

// FilesDigest returns a hash of the files of the footprint.
func (r *Footprint) FilesDigest() string {
	sum := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(sum, "%q %s\n", r.Short(path), r.files[path])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Digest returns a hash of the files of the footprint, and of those that the line may reach besides.
func (r *Footprint) Digest() string {
	sum := sha256.New()
	fmt.Fprintln(sum, r.FilesDigest())
	reach, _ := r.Reach()
	if reach > Named {
		now := look(r.path)
		for _, path := range slices.Sorted(maps.Keys(now.files)) {
			if counts(reach, path) {
				fmt.Fprintf(sum, "%q %s\n", r.Short(path), now.files[path])
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

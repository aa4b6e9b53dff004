package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// contents holds the changes of files that a person approved: by path, from the hash of a
// content to that of the one which replaced it. The hash of a missing file is "".
type contents map[string]map[string]string

// lead reports whether approved changes lead from one content of a file to another.
func (c contents) lead(path, was, is string) bool {
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

// Approved notes the contents that a person approved, so that no rule ends because of them.
// It ignores the answers of rules.
func (p *Policy) Approved(req confirm.Request, v confirm.Verdict) {
	if v.Decision != confirm.Approve || v.Rule {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range req.Final(v) {
		was, is := "", hashed([]byte(c.After)) // other than that of the file unless it is in UTF-8
		if c.Exists {
			was = hex.EncodeToString(c.Hash[:])
		}
		if c.RawAfter != nil {
			is = hashed(c.RawAfter)
		}
		if c.Moves() {
			p.approved.add(c.To, "", is)
		}
		if c.Removes() {
			is = ""
		}
		p.approved.add(c.Path, was, is)
	}
}

func hashed(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (c contents) add(path, before, after string) {
	if c[path] == nil {
		c[path] = map[string]string{}
	}
	c[path][before] = after
}

// ran records the programs and files of the commands run under one rule.
type ran struct {
	line  string // the one that the person saw, see withoutData
	first *footprint
	files map[string]string  // hash by path, of all
	found map[string]program // by word
}

func newRan(line string, first *footprint) *ran {
	h := &ran{line: line, first: first, files: map[string]string{}, found: map[string]program{}}
	h.add(first)
	return h
}

// add notes what one more command runs.
func (h *ran) add(now *footprint) {
	maps.Copy(h.files, now.files)
	maps.Copy(h.found, now.found)
}

// differs describes the first thing that has another form than when it ran, which no person
// approved; "" without one. now is the footprint of a line, first the present one of the
// line that the person saw; nil if unknown.
func (h *ran) differs(now, first *footprint, approved contents) string {
	if first == nil {
		return errUnpredictable.Error()
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
			return now.short(path) + " has changed"
		}
	}
	return ""
}

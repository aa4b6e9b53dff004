package permission

import "maps"

// ran is what commands ran under one rule so far.
type ran struct {
	line  string // the one that the person saw
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

// changed describes what changed for the line that the person saw; "" if nothing did. now
// is the footprint of line, nil if unknown.
func (h *ran) changed(line string, now *footprint) string {
	if line == h.line && now != nil {
		return h.first.changes(now)
	}
	is, err := footprintOf(h.line, h.first.path)
	if err != nil {
		return err.Error()
	}
	defer is.close()
	return h.first.changes(is)
}

// differs describes the first thing in now that ran before in another form; "" if none did.
func (h *ran) differs(now *footprint) string {
	for word, is := range now.found {
		if was, known := h.found[word]; known {
			if why := was.changes(word, is); why != "" {
				return why
			}
		}
	}
	for _, path := range now.order {
		if was, known := h.files[path]; known && was != now.files[path] {
			return now.short(path) + " has changed"
		}
	}
	return ""
}

package edit

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// hunkHeader matches a hunk's header with line numbers.
var hunkHeader = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func parseUnified(lines []string) (Patch, error) {
	var p Patch
	var head unifiedHeader
	for i := 0; i < len(lines); {
		l := lines[i]
		if strings.HasPrefix(l, "@@") {
			h, next, err := parseHunk(lines, i)
			if err != nil {
				return Patch{}, err
			}
			p.Hunks = append(p.Hunks, h)
			i = next
			continue
		}
		i++
		switch {
		case len(p.Hunks) == 0:
			if err := head.add(l, i); err != nil {
				return Patch{}, err
			}
		case strings.HasPrefix(l, "--- "):
			return Patch{}, fmt.Errorf("line %d of the diff begins another file: send one call of patch for each file", i)
		case strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "```"):
			return Patch{}, fmt.Errorf("line %d of the diff does not begin with a blank, + or -: %q", i, short(l))
		}
	}
	p.Create, p.Name = head.old == devNull, head.name()
	return p, nil
}

// devNull is the name of a file that does not exist.
const devNull = "/dev/null"

// unifiedHeader is the part of a unified diff above its hunks.
type unifiedHeader struct {
	old, new string // the names in the lines --- and +++; "" without one
}

// add adds a line; number is the one in the diff.
func (h *unifiedHeader) add(l string, number int) error {
	if name, ok := strings.CutPrefix(l, "--- "); ok {
		h.old = fileName(name)
	}
	if name, ok := strings.CutPrefix(l, "+++ "); ok {
		h.new = fileName(name)
	}
	if h.new == devNull {
		return fmt.Errorf("line %d of the diff deletes the file: patch does not delete files", number)
	}
	return nil
}

// name returns the name of the file. It cuts git's a/ and b/ only as a pair: without them, b
// may be a folder.
func (h *unifiedHeader) name() string {
	name, ok := strings.CutPrefix(h.new, "b/")
	if ok && (h.old == "" || h.old == devNull || strings.HasPrefix(h.old, "a/")) {
		return name
	}
	return h.new
}

// fileName returns the name in a --- or +++ line without its mark, and without a time stamp.
func fileName(s string) string {
	name, _, _ := strings.Cut(s, "\t")
	return strings.TrimSpace(name)
}

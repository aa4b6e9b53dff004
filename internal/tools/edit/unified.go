package edit

import (
	"errors"
	"fmt"
	"strconv"
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
			return Patch{}, unmarked(l, i)
		}
	}
	p.Create, p.Name, p.To = head.old == devNull, head.name(), head.to
	return p, head.check()
}

// devNull is the name of a file that does not exist.
const devNull = "/dev/null"

// unifiedHeader is the part of a unified diff above its hunks.
type unifiedHeader struct {
	old, new string // the names in the lines --- and +++; "" without one
	git      bool   // a line "diff --git" came, so that the others are git's, not a message
	from, to string // of a rename by git
}

// add adds a line; number is the one in the diff.
func (h *unifiedHeader) add(l string, number int) error {
	mark, rest, _ := strings.Cut(l, " ")
	switch {
	case mark == "---":
		h.old = fileName(rest)
	case mark == "+++":
		if h.new = fileName(rest); h.new == devNull {
			return fmt.Errorf("line %d of the diff deletes the file: patch does not delete files", number)
		}
	case strings.HasPrefix(l, "diff --git "):
		h.git = true
	case h.git:
		return h.extended(l, number)
	}
	return nil
}

// extended adds one of git's lines between diff --git and ---. It refuses those that a change
// of the text would leave out.
func (h *unifiedHeader) extended(l string, number int) error {
	if name, ok := strings.CutPrefix(l, "rename from "); ok {
		h.from = fileName(name)
	}
	if name, ok := strings.CutPrefix(l, "rename to "); ok {
		h.to = fileName(name)
	}
	if mode, ok := strings.CutPrefix(l, "new file mode "); ok && strings.TrimSpace(mode) != plainMode {
		return fmt.Errorf("line %d of the diff makes a file of mode %s, but patch makes plain files: send the diff without this line, or make the file with a command", number, short(mode))
	}
	switch {
	case strings.HasPrefix(l, "old mode "), strings.HasPrefix(l, "new mode "):
		return fmt.Errorf("line %d of the diff changes the mode of the file, which patch does not: send the diff without its mode lines, and change the mode with a command", number)
	case strings.HasPrefix(l, "copy from "), strings.HasPrefix(l, "copy to "):
		return fmt.Errorf("line %d of the diff copies a file, which patch does not: make the copy with write_file or a command", number)
	}
	return nil
}

// plainMode is git's mode of a file that is neither executable nor a link.
const plainMode = "100644"

// check returns an error for an incomplete header.
func (h *unifiedHeader) check() error {
	if (h.from == "") != (h.to == "") {
		return errors.New("the diff renames a file, but has only one of the lines rename from and rename to: send both")
	}
	return nil
}

// name returns the name of the file, which a rename moves away. It cuts git's a/ and b/ only
// as a pair: without them, b may be a folder.
func (h *unifiedHeader) name() string {
	if h.from != "" {
		return h.from
	}
	name, ok := strings.CutPrefix(h.new, "b/")
	if ok && (h.old == "" || h.old == devNull || strings.HasPrefix(h.old, "a/")) {
		return name
	}
	return h.new
}

// fileName returns the name in a line of a header without its mark, and without a time stamp.
// Git quotes a name like a C string if it has unusual characters.
func fileName(s string) string {
	if quoted, err := strconv.QuotedPrefix(s); err == nil && s[0] == '"' {
		if name, err := strconv.Unquote(quoted); err == nil {
			return name
		}
	}
	name, _, _ := strings.Cut(s, "\t")
	return strings.TrimSpace(name)
}

package edit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// Patch is a parsed patch of one file.
type Patch struct {
	Hunks  []Hunk
	Create bool   // the old file is /dev/null
	Name   string // the file named by the patch, or ""
	To     string // the path that the patch renames the file to; "" if it stays
}

// Hunk is one place of a patch.
type Hunk struct {
	Title string // for messages: its header, or "block 2"
	Old   []string
	New   []string
	// common[i] is the index in Old of New[i], or -1 for an added line.
	common []int
	// at is the 1-based line of the old file in the header, or zero. It only chooses
	// among equal places.
	at int
	// oldOpen and newOpen mean that the side is marked as ending without a newline.
	oldOpen, newOpen bool
	// scope limits the places of a hunk in a patch of several files; nil otherwise.
	scope *scope
}

// newHunk returns a hunk whose sides were sent apart.
func newHunk(before, after []string) Hunk {
	h := Hunk{Old: before, New: after, common: slices.Repeat([]int{-1}, len(after))}
	h.pair(Exact)
	return h
}

// pair finds lines that are both removed and added between two common ones, compared at
// stage: they are common as well.
func (h *Hunk) pair(stage Stage) {
	common := slices.Clone(h.common)
	h.runs(func(k, c, j, i int) {
		for _, m := range pairs(h.Old[k:c], h.New[j:i], stage) {
			common[j+m[1]] = k + m[0]
		}
	})
	h.common = common
}

// runs yields the lines before each common one, and those behind the last: Old[k:c] and New[j:i].
func (h *Hunk) runs(yield func(k, c, j, i int)) {
	k, j := 0, 0
	for i, c := range append(slices.Clip(h.common), len(h.Old)) {
		if c >= 0 {
			yield(k, c, j, i)
			k, j = c+1, i+1
		}
	}
}

// pairs returns the indexes of the lines that before and after share.
func pairs(before, after []string, stage Stage) [][2]int {
	var out [][2]int
	k, j := 0, 0
	end := diff.Edit{AStart: len(before), BStart: len(after)}
	for _, e := range append(sharedLines(joinLines(before), joinLines(after), stage).Edits, end) {
		for ; j < e.BStart; j++ {
			out = append(out, [2]int{k, j})
			k++
		}
		k, j = e.AEnd, e.BEnd
	}
	return out
}

// parseHunk parses the hunk with the header lines[i] and returns the index after it. It
// trusts the header's counts only to decide whether empty lines at the end belong to the
// hunk.
func parseHunk(lines []string, i int) (Hunk, int, error) {
	h := Hunk{Title: "hunk " + short(lines[i])}
	count := h.setLine(lines[i])
	end := hunkEnd(lines, i+1)
	body := lines[i+1 : end]
	for len(body) > 0 && body[len(body)-1] == "" && oldCount(body) != count {
		body = body[:len(body)-1]
	}
	h.addLines(body)
	if len(h.Old) == 0 && len(h.New) == 0 {
		if end < len(lines) && !startsPart(lines[end]) {
			return Hunk{}, 0, unmarked(lines[end], end+1)
		}
		return Hunk{}, 0, fmt.Errorf("%s at line %d of the diff is empty", h.Title, i+1)
	}
	return h, end, nil
}

// startsPart reports whether l, a line after a hunk of a unified diff, begins another hunk or
// file, or ends the diff.
func startsPart(l string) bool {
	return slices.ContainsFunc([]string{"@@", "--- ", "diff ", "```"}, func(mark string) bool { return strings.HasPrefix(l, mark) })
}

// unmarked returns the error for a line of a hunk without its mark.
func unmarked(l string, number int) error {
	return fmt.Errorf("line %d of the diff does not begin with a blank, + or -: %q", number, short(l))
}

// setLine sets the line of h from a header and returns the header's count of old lines, or
// -1 if it has no numbers.
func (h *Hunk) setLine(header string) (count int) {
	m := hunkHeader.FindStringSubmatch(header)
	if m == nil {
		return -1
	}
	h.at, _ = strconv.Atoi(m[1]) // digits only; on overflow there is no line
	count = 1
	if m[2] != "" {
		count, _ = strconv.Atoi(m[2])
	}
	if count == 0 {
		h.at++ // an insertion has the number of the line before it
	}
	return count
}

// hunkEnd returns the index of the first line from i on that belongs to no hunk. Inside a
// hunk, "--- x" is a deleted line unless "+++" follows.
func hunkEnd(lines []string, i int) int {
	for ; i < len(lines); i++ {
		l := lines[i]
		fileHeader := strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ")
		if fileHeader || (l != "" && !strings.ContainsRune(" +-\\", rune(l[0]))) {
			break
		}
	}
	return i
}

// oldCount counts the lines of the old side.
func oldCount(body []string) int {
	n := 0
	for _, l := range body {
		if l == "" || l[0] == ' ' || l[0] == '-' {
			n++
		}
	}
	return n
}

// addLines adds the lines of a hunk's body.
func (h *Hunk) addLines(body []string) {
	last := byte(0)
	for _, l := range body {
		if l == "" {
			l = " " // an empty context line often lacks its blank
		}
		h.add(l, last)
		last = l[0]
	}
}

// add adds one line of a hunk's body; last is the first byte of the line before.
func (h *Hunk) add(l string, last byte) {
	switch l[0] {
	case ' ':
		h.common = append(h.common, len(h.Old))
		h.Old = append(h.Old, l[1:])
		h.New = append(h.New, l[1:])
	case '-':
		h.Old = append(h.Old, l[1:])
	case '+':
		h.common = append(h.common, -1)
		h.New = append(h.New, l[1:])
	case '\\': // no newline at the end of the file
		h.oldOpen = h.oldOpen || last != '+'
		h.newOpen = h.newOpen || last != '-'
	}
}

func short(s string) string {
	const limit = 80
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// Inserts reports whether p only adds lines, like a unified diff that creates a file.
func (p Patch) Inserts() bool {
	for _, h := range p.Hunks {
		if len(h.Old) > 0 || h.scope != nil {
			return false
		}
	}
	return true
}

package client

import (
	"strings"

	strict "github.com/go-json-experiment/json"
)

// Selection is the editor's selection. The zero value means that nothing is selected.
type Selection struct {
	Path string // absolute
	Text string // empty if only the cursor is there
	// start and end count as the editor does.
	start, end position
	oneBased   bool
}

// readSelection reads selection_changed and the answers of the two selection tools. It
// ignores the tab of a diff.
func readSelection(raw []byte, oneBased bool) Selection {
	var s struct {
		located
		Success   *bool  `json:"success"`
		Text      string `json:"text"`
		Selection *struct {
			Start position `json:"start"`
			End   position `json:"end"`
		} `json:"selection"`
	}
	if strict.Unmarshal(raw, &s) != nil || s.Success != nil && !*s.Success {
		return Selection{}
	}
	path := s.path(nil)
	if path == "" || isTab(path) {
		return Selection{}
	}
	sel := Selection{Path: path, Text: s.Text, oneBased: oneBased}
	if s.Selection != nil {
		sel.start, sel.end = s.Selection.Start, s.Selection.End
	}
	return sel
}

// ClaimedLines returns the lines that the editor reports, 1-based and inclusive. A
// selection that ends before the first character of a line does not include that line.
func (s Selection) ClaimedLines() (start, end int) {
	base := 1
	if s.oneBased {
		base = 0
	}
	start, end = whole(s.start.Line)+base, whole(s.end.Line)+base
	if end > start && whole(s.end.Char) < 2-base {
		end--
	}
	return max(1, start), max(1, start, end)
}

// Lines returns the 1-based, inclusive lines of the selection in content, the text of
// its file. Editors count from 0 or from 1, so Lines returns the lines that hold the
// selected text, trying the reported ones first. ok is false if neither do.
func (s Selection) Lines(content string) (start, end int, ok bool) {
	start, end = s.ClaimedLines()
	lines := strings.SplitAfter(content, "\n")
	for _, shift := range []int{0, -1, 1} {
		from, to := start+shift, end+shift
		if from < 1 || to > len(lines) {
			continue
		}
		if holds(strings.Join(lines[from-1:to], ""), s.Text) {
			return from, to, true
		}
	}
	return 0, 0, false
}

// holds reports whether text is in the given lines, ignoring line endings.
func holds(lines, text string) bool {
	unix := strings.NewReplacer("\r\n", "\n")
	return strings.Contains(unix.Replace(lines)+"\n", strings.TrimRight(unix.Replace(text), "\n"))
}

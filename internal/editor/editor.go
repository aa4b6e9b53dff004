// Package editor defines the state of a connected editor: open tabs, the selection and
// diagnostics. It only holds values. Their text comes from outside and must be
// sanitized before it is shown.
package editor

import "errors"

// ErrNone is returned if no editor is connected.
var ErrNone = errors.New("no editor connected")

// SilentError names an editor that does not report whether a file has unsaved changes.
type SilentError string

func (e SilentError) Error() string {
	return string(e) + " does not answer, and may have unsaved changes of it: try again, or end the link with /ide disconnect"
}

// Severity orders diagnostics; a lower value is worse.
type Severity int

// The severities of the Language Server Protocol.
const (
	SeverityError Severity = iota + 1
	SeverityWarning
	SeverityInfo
	SeverityHint
)

// Diagnostic is a finding of the editor's language servers.
type Diagnostic struct {
	Path     string // absolute
	Line     int    // 1-based
	Column   int    // 1-based
	Severity Severity
	Message  string
	Source   string
}

// NewSince returns the findings of after that are not in before. It compares their
// text, as an edit moves lines.
func NewSince(before, after []Diagnostic) []Diagnostic {
	type said struct {
		severity        Severity
		source, message string
	}
	known := map[said]int{}
	for _, d := range before {
		known[said{d.Severity, d.Source, d.Message}]++
	}
	var out []Diagnostic
	for _, d := range after {
		key := said{d.Severity, d.Source, d.Message}
		if known[key] > 0 {
			known[key]--
			continue
		}
		out = append(out, d)
	}
	return out
}

// Write is what became of a file after a person approved a change of it.
type Write struct {
	Path          string // absolute
	Before, After string // its content
	By            string // the person who approved it
	// Removed means that nothing is at Path any more; To is the path that the file has moved
	// to, or empty.
	Removed bool
	To      string
	Failed  string // why nothing was written; empty if it was
}

// Selection is a range of lines in a file. StartLine and EndLine are 1-based and
// inclusive.
type Selection struct {
	Path      string
	StartLine int
	EndLine   int
	Text      string
}

// Tab is an open editor tab.
type Tab struct {
	Path   string
	Active bool
	Dirty  bool
}

// State is a snapshot of a connected editor. The zero value means no editor.
type State struct {
	Name        string
	Tabs        []Tab
	Selection   *Selection
	Diagnostics []Diagnostic
}

package modelcontext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/plural"
)

// The limits of the editor's block.
const (
	maxBlock  = 800 // characters
	maxTabs   = 10
	maxErrors = 50
)

// editorBlock describes the editor's state, or returns "" if only its name is known. If
// room is short, diagnostics are left out first.
func editorBlock(s editor.State, dir string) string {
	head := tabLine(s, dir)
	summary, errs := diagnosticLines(s, dir)
	head += summary
	tail := focusLines(s, dir)
	if head+tail == "" {
		return ""
	}
	head = "IDE connected: " + oneLine(s.Name) + "\n" + head
	room := maxBlock - utf8.RuneCountInString(head+tail)
	return shorten(head+fitLines(errs, room)+tail, maxBlock)
}

func tabLine(s editor.State, dir string) string {
	var names []string
	for _, t := range s.Tabs[:min(len(s.Tabs), maxTabs)] {
		names = append(names, oneLine(nameIn(dir, t.Path)))
	}
	if len(names) == 0 {
		return ""
	}
	return "  Open tabs: " + strings.Join(names, ", ") + "\n"
}

// diagnosticLines returns the line that counts the diagnostics and a line for each
// error.
func diagnosticLines(s editor.State, dir string) (summary string, errs []string) {
	errors, warnings := 0, 0
	for _, d := range s.Diagnostics {
		switch d.Severity {
		case editor.SeverityError:
			errors++
			if len(errs) < maxErrors {
				errs = append(errs, fmt.Sprintf("    %s:%d: %s\n", oneLine(nameIn(dir, d.Path)), d.Line, oneLine(d.Message)))
			}
		case editor.SeverityWarning:
			warnings++
		}
	}
	if errors+warnings == 0 {
		return "", nil
	}
	return fmt.Sprintf("  Diagnostics: %s, %s\n", plural.Of(errors, "error"), plural.Of(warnings, "warning")), errs
}

func focusLines(s editor.State, dir string) string {
	var b strings.Builder
	for _, t := range s.Tabs {
		if t.Active {
			fmt.Fprintf(&b, "  Active: %s\n", oneLine(nameIn(dir, t.Path)))
			break
		}
	}
	if sel := s.Selection; sel != nil {
		fmt.Fprintf(&b, "  Selection: %s:%d-%d\n", oneLine(nameIn(dir, sel.Path)), sel.StartLine, sel.EndLine)
	}
	return b.String()
}

// fitLines joins the lines that fit into room characters; "..." replaces the rest.
func fitLines(lines []string, room int) string {
	const more = "    ...\n"
	var b strings.Builder
	for i, l := range lines {
		need := utf8.RuneCountInString(l)
		if i < len(lines)-1 {
			need += len(more)
		}
		if need > room {
			if room >= len(more) {
				b.WriteString(more)
			}
			break
		}
		b.WriteString(l)
		room -= utf8.RuneCountInString(l)
	}
	return b.String()
}

func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-4]) + "...\n"
}

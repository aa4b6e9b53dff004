// Package caution finds what readers of a diff can miss: changes of only white space or
// line endings, characters that do not show, text far to the right. It guarantees that
// every surface shows the same remarks on the same change.
package caution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Kind classifies a Note. It is part of the protocol with editors.
type Kind string

// The kinds of notes.
const (
	Other       Kind = "note"
	Deceptive   Kind = "name"         // the file's name holds characters that do not show, or pass for others
	Revised     Kind = "revised"      // it follows a proposal that was refused with words
	Protected   Kind = "protected"    // the file makes a program run something, or widens permissions
	Loose       Kind = "loose-match"  // the text matched only after differences were ignored
	Executable  Kind = "executable"   // the file is a program
	Empty       Kind = "empty"        // nothing changes, or the new file is empty
	Whitespace  Kind = "whitespace"   // only white space changes, or the final newline does
	LineEndings Kind = "line-endings" // line endings change
	Hidden      Kind = "hidden"       // added text holds characters that do not show
	OddSpace    Kind = "odd-space"    // added text holds unusual blanks
	LookAlike   Kind = "look-alike"   // added text holds letters that pass for others
	FarRight    Kind = "far-right"    // added text starts, or goes on, far to the right
)

// ofText lists the kinds that Of returns.
var ofText = []Kind{Empty, Whitespace, LineEndings, Hidden, OddSpace, LookAlike, FarRight}

// Note is a remark that a reviewer must see. Its text is not sanitized.
type Note struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// Notes returns a note of kind Other for each text.
func Notes(texts ...string) []Note {
	var out []Note
	for _, t := range texts {
		out = append(out, Note{Other, t})
	}
	return out
}

// Given returns the notes that do not depend on the text of the change. A caller that
// shows another text than the proposed one adds the notes that Of returns for it.
func Given(notes []Note) []Note {
	return slices.DeleteFunc(slices.Clone(notes), func(n Note) bool { return slices.Contains(ofText, n.Kind) })
}

// Of returns the notes on the change d from before to after. exists is false for a new
// file.
func Of(d *diff.Diff, before, after string, exists bool) []Note {
	var out []Note
	switch {
	case exists:
		out = onEdit(d, before, after)
	case after == "":
		out = append(out, Note{Empty, "the file is empty"})
	}
	out = append(out, hidden(d)...)
	return append(out, farRight(d)...)
}

// onEdit returns the notes on an edit that is hard to see.
func onEdit(d *diff.Diff, before, after string) []Note {
	var out []Note
	class := diff.Classify(before, after)
	from, to := endings(before), endings(after)
	switch {
	case len(d.Edits) == 0:
		out = append(out, Note{Empty, "nothing changes"})
	case class.LineEndings:
		out = append(out, Note{LineEndings, "only line endings change: " + from + " → " + to})
	case class.Whitespace:
		out = append(out, Note{Whitespace, "only white space changes"})
	case from != to && before != "" && after != "":
		out = append(out, Note{LineEndings, "line endings change too: " + from + " → " + to})
	}
	switch {
	case class.FinalNewline > 0:
		out = append(out, Note{Whitespace, "adds the newline at the end of the file"})
	case class.FinalNewline < 0:
		out = append(out, Note{Whitespace, "removes the newline at the end of the file"})
	}
	return out
}

// endings names the line endings of a text.
func endings(s string) string {
	crlf, all := strings.Count(s, "\r\n"), strings.Count(s, "\n")
	switch crlf {
	case 0:
		return "LF"
	case all:
		return "CRLF"
	}
	return "mixed"
}

// hidden returns a note for each kind of misleading characters in added lines.
func hidden(d *diff.Diff) []Note {
	counts := map[sanitize.Kind]int{}
	lines := map[sanitize.Kind][]int{}
	for _, e := range d.Edits {
		for i := e.BStart; i < e.BEnd; i++ {
			for _, f := range slices.Concat(sanitize.Hidden(d.B[i]), sanitize.Deceptive(d.B[i])) {
				counts[f.Kind] += f.Count
				lines[f.Kind] = append(lines[f.Kind], i+1)
			}
		}
	}
	var out []Note
	for _, kind := range sanitize.Kinds() {
		if n := counts[kind]; n > 0 {
			out = append(out, Note{noteKind(kind), fmt.Sprintf("the added text holds %s: %s", Count(n, kind), lineList(lines[kind]))})
		}
	}
	return out
}

func noteKind(kind sanitize.Kind) Kind {
	switch kind {
	case sanitize.Space:
		return OddSpace
	case sanitize.LookAlike:
		return LookAlike
	}
	return Hidden
}

// InName returns notes on a file name that could be taken for another.
func InName(name string) []Note {
	if shown := sanitize.Name(name); shown != name {
		return []Note{{Deceptive, "the file's name is not what it looks like: " + shown}}
	}
	return nil
}

// Count renders n characters of a kind, as "1 invisible character".
func Count(n int, kind sanitize.Kind) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(string(kind), "s")
	}
	return fmt.Sprintf("%d %s", n, kind)
}

// lineList renders a list of line numbers, shortened after the first 8.
func lineList(lines []int) string {
	const most = 8
	lines = slices.Compact(lines)
	if len(lines) == 1 {
		return fmt.Sprintf("line %d", lines[0])
	}
	var b strings.Builder
	b.WriteString("lines ")
	for i, n := range lines[:min(len(lines), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if more := len(lines) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

const (
	stretch = 40   // blanks in a row that push text out of sight
	farLine = 1000 // columns; few readers look at the end of a longer line
	tab     = 8    // columns of a tab, at most
)

// farRight returns notes on added text that an editor shows only after scrolling
// sideways.
func farRight(d *diff.Diff) []Note {
	var behind, long []int
	for _, e := range d.Edits {
		for i := e.BStart; i < e.BEnd; i++ {
			above := 0
			if i > 0 {
				above = indent(d.B[i-1])
			}
			switch line := strings.TrimRight(d.B[i], "\r\n"); {
			case stretched(line, above):
				behind = append(behind, i+1)
			case len(line) > farLine:
				long = append(long, i+1)
			}
		}
	}
	var out []Note
	if behind != nil {
		out = append(out, Note{FarRight, "added text is far to the right, after a long run of blanks: " + lineList(behind)})
	}
	if long != nil {
		out = append(out, Note{FarRight, fmt.Sprintf("added lines are longer than %d characters: %s", farLine, lineList(long))})
	}
	return out
}

// stretched reports whether a line has text after a long run of blanks. The first above
// columns, which the line above is indented by too, do not count.
func stretched(line string, above int) bool {
	run := -above
	for _, r := range line {
		switch {
		case r == '\t':
			run += tab
		case sanitize.IsSpace(r):
			run++
		default:
			if run >= stretch {
				return true
			}
			run = 0
		}
	}
	return false
}

// indent returns the width of a line's indentation in columns.
func indent(line string) int {
	n := 0
	for _, r := range line {
		switch {
		case r == '\t':
			n += tab
		case r == '\n' || r == '\r' || !sanitize.IsSpace(r):
			return n
		default:
			n++
		}
	}
	return n
}

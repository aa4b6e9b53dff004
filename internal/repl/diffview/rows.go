package diffview

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// row is a line of a diff, or a remark between lines.
type row struct {
	op     diff.Op
	a, b   int    // 1-based line numbers; 0 for none
	text   string // without its line ending; not sanitized
	cr     bool   // ends in CRLF
	hunk   int    // hunk of a changed line, counted from 1
	pair   int    // distance to the line that this one replaced; 0 for none
	remark string // set if this is not a line of the file
}

const noNewline = "no newline at the end of the file"

// foldedRows returns the rows of hunks, and one for each run of unchanged lines between them.
// A run of a single line is shown itself if before, the old text, is not nil.
func foldedRows(hunks []diff.Hunk, before []string) []row {
	var rows []row
	shown, shift := 0, 0
	fold := func(n int) {
		switch {
		case n == 1 && shown < len(before):
			rows = appendLine(rows, diff.Line{Op: diff.Equal, Text: before[shown], A: shown + 1, B: shown + shift + 1})
		case n > 0:
			rows = append(rows, row{remark: foldText(n)})
		}
	}
	for _, h := range hunks {
		fold(h.AStart - shown)
		rows = appendHunk(rows, h)
		shown = h.AStart + h.ACount
		shift = h.BStart + h.BCount - shown
	}
	if len(hunks) > 0 {
		fold(len(before) - shown)
	}
	return rows
}

func foldText(n int) string {
	if n == 1 {
		return "⋯ 1 unchanged line"
	}
	return "⋯ " + plural.Grouped(n) + " unchanged lines"
}

func appendHunk(rows []row, h diff.Hunk) []row {
	rows = slices.Grow(rows, len(h.Lines)+2)
	at := make([]int, len(h.Lines)) // index of each line of the hunk
	for i, l := range h.Lines {
		at[i] = len(rows)
		rows = appendLine(rows, l)
	}
	for _, p := range h.Pairs() {
		del, ins := at[p[0]], at[p[1]]
		rows[del].pair, rows[ins].pair = ins-del, del-ins
	}
	return rows
}

func appendLine(rows []row, l diff.Line) []row {
	text, ended := strings.CutSuffix(l.Text, "\n")
	r := row{op: l.Op, a: l.A, b: l.B, text: text}
	if !ended {
		return append(rows, r, row{remark: noNewline})
	}
	r.text, r.cr = strings.CutSuffix(text, "\r")
	return append(rows, r)
}

// marks returns the bytes of the sanitized text of rows[i] that differ from its counterpart.
func marks(rows []row, i int) []diff.Span {
	r := rows[i]
	if r.pair == 0 {
		return nil
	}
	other := sanitize.Exact(rows[i+r.pair].text)
	text := sanitize.Exact(r.text)
	if r.op == diff.Delete {
		in, _ := diff.Words(text, other)
		return in
	}
	_, in := diff.Words(other, text)
	return in
}

// mixedEndings reports whether some lines end in LF and others in CRLF.
func mixedEndings(before, after string) bool {
	all := strings.Count(before, "\n") + strings.Count(after, "\n")
	crlf := strings.Count(before, "\r\n") + strings.Count(after, "\r\n")
	return crlf > 0 && crlf < all
}

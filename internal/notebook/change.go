package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Replace returns the text of the notebook with another source of a cell. It clears the
// outputs of a code cell, which are those of the source before.
func (n *Notebook) Replace(i int, source string) string {
	c := n.Cells[i]
	if source == c.Source {
		return n.text
	}
	type cut struct {
		span
		text string
	}
	cuts := []cut{{c.values["source"], n.sourceAt(c.values["source"], source)}}
	if c.Type == "code" {
		cuts = append(cuts, cut{c.values["outputs"], "[]"}, cut{c.values["execution_count"], "null"})
	}
	slices.SortFunc(cuts, func(a, b cut) int { return b.from - a.from })
	text := n.text
	for _, c := range cuts {
		if c.span != (span{}) {
			text = text[:c.from] + c.text + text[c.to:]
		}
	}
	return text
}

// Insert returns the text of the notebook with a new cell before the cell with index i; after
// the last one if there are i cells.
func (n *Notebook) Insert(i int, kind, source string) string {
	l := n.layout()
	cell, separator := n.newCell(l, kind, source), ","+l.gap(2)
	if len(n.Cells) > 1 {
		separator = n.text[n.Cells[0].to:n.Cells[1].from]
	}
	switch {
	case len(n.Cells) == 0:
		return n.text[:n.list.from] + "[" + l.open(2) + cell + l.open(1) + "]" + n.text[n.list.to:]
	case i == 0:
		at := n.Cells[0].from
		return n.text[:at] + cell + separator + n.text[at:]
	}
	at := n.Cells[i-1].to
	return n.text[:at] + separator + cell + n.text[at:]
}

// Delete returns the text of the notebook without a cell.
func (n *Notebook) Delete(i int) string {
	switch {
	case i+1 < len(n.Cells):
		return n.text[:n.Cells[i].from] + n.text[n.Cells[i+1].from:]
	case i > 0:
		return n.text[:n.Cells[i-1].to] + n.text[n.Cells[i].to:]
	}
	return n.text[:n.list.from] + "[]" + n.text[n.list.to:]
}

// newCell returns a cell as Jupyter writes it, with keys in order.
func (n *Notebook) newCell(l layout, kind, source string) string {
	members := []string{`"cell_type"` + l.colon + quote(kind)}
	if kind == "code" {
		members = append(members, `"execution_count"`+l.colon+"null")
	}
	if n.minor >= 5 {
		members = append(members, `"id"`+l.colon+quote(n.newID(source)))
	}
	members = append(members, `"metadata"`+l.colon+"{}")
	if kind == "code" {
		members = append(members, `"outputs"`+l.colon+"[]")
	}
	members = append(members, `"source"`+l.colon+list(source, l.open(4), ","+l.gap(4), l.open(3), nil))
	return "{" + l.open(3) + strings.Join(members, ","+l.gap(3)) + l.open(2) + "}"
}

// newID returns an id that no cell has.
func (n *Notebook) newID(source string) string {
	for {
		sum := sha256.Sum256([]byte(source))
		id := hex.EncodeToString(sum[:4])
		if !slices.ContainsFunc(n.Cells, func(c Cell) bool { return c.ID == id }) {
			return id
		}
		source += "\n"
	}
}

// layout is the white space of a notebook.
type layout struct {
	line  string // the end of a line; empty if all is on one line
	unit  string // of the indentation
	colon string
	comma string // the space after a comma on one line
}

// layout finds the white space by the first member.
func (n *Notebook) layout() layout {
	l := layout{colon: ":"}
	start := strings.IndexByte(n.text, '{') + 1
	rest := n.text[start:]
	space := rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))]
	if at := strings.LastIndexByte(space, '\n'); at >= 0 {
		l.line, l.unit = "\n", space[at+1:]
		if strings.HasPrefix(space, "\r\n") {
			l.line = "\r\n"
		}
	}
	if _, value, _ := strings.Cut(rest, ":"); strings.HasPrefix(value, " ") {
		l.colon = ": "
		if l.line == "" {
			l.comma = " "
		}
	}
	return l
}

// open returns the white space before the first member at a depth, and before the end of the
// object or array around it.
func (l layout) open(depth int) string {
	if l.line == "" {
		return ""
	}
	return l.line + strings.Repeat(l.unit, depth)
}

// gap returns the white space after a comma at a depth.
func (l layout) gap(depth int) string {
	if l.line == "" {
		return l.comma
	}
	return l.open(depth)
}

// sourceAt returns a source in the form of the one at s: a string, or a list of lines with the
// same white space.
func (n *Notebook) sourceAt(s span, source string) string {
	if n.text[s.from] != '[' {
		return quote(source)
	}
	l := n.layout()
	first, between, last := l.open(4), ","+l.gap(4), l.open(3)
	lines, err := n.elements(s)
	if err == nil && len(lines) > 0 {
		first, last = n.text[s.from+1:lines[0].from], n.text[lines[len(lines)-1].to:s.to-1]
		between = "," + first
		if first == "" {
			between += l.comma
		}
	}
	if err == nil && len(lines) > 1 {
		between = n.text[lines[0].to:lines[1].from]
	}
	return list(source, first, between, last, n.quoted(lines))
}

// quoted returns the bytes of each line of a source, by its text, so that a line that stays keeps
// its escapes.
func (n *Notebook) quoted(lines []span) map[string]string {
	kept := map[string]string{}
	for _, at := range lines {
		var line string
		if raw := n.text[at.from:at.to]; json.Unmarshal([]byte(raw), &line) == nil {
			kept[line] = raw
		}
	}
	return kept
}

// list returns a source as a list of lines, with the bytes in kept of the lines there.
func list(source, first, between, last string, kept map[string]string) string {
	var lines []string
	for line := range strings.Lines(source) {
		raw, ok := kept[line]
		if !ok {
			raw = quote(line)
		}
		lines = append(lines, raw)
	}
	if lines == nil {
		return "[]"
	}
	return "[" + first + strings.Join(lines, between) + last + "]"
}

func quote(s string) string {
	data, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return `""` // impossible: the text is valid
	}
	return string(data)
}

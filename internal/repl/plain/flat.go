package plain

import "strings"

// flat lays the tables of an answer out as lines of "header: value", as it comes in:
// who listens to a row has not the header before their eyes. All else passes as it is.
type flat struct {
	line  strings.Builder // that of a table, or one that may be the first of it
	mid   bool            // in a line that passes
	start string          // the first characters of that line
	code  bool            // in a fenced code block
	first string          // the line that is the head, if the next one says so
	head  []string
	body  bool // the rows follow
}

// push takes a piece of the text and returns what can be said of it.
func (f *flat) push(text string) string {
	var out strings.Builder
	for _, r := range text {
		if f.line.Len() > 0 || !f.mid && r == '|' && !f.code {
			f.line.WriteRune(r)
			if r == '\n' {
				out.WriteString(f.row())
			}
			continue
		}
		if !f.mid && r != ' ' {
			out.WriteString(f.end())
			f.mid = r != '\n'
		}
		out.WriteRune(r)
		f.follow(r)
	}
	return out.String()
}

// follow keeps track of where lines and blocks of code begin.
func (f *flat) follow(r rune) {
	switch {
	case r == '\n':
		f.code = f.code != (strings.HasPrefix(f.start, "```") || strings.HasPrefix(f.start, "~~~"))
		f.mid, f.start = false, ""
	case f.mid && len(f.start) < 3:
		f.start += string(r)
	}
}

// row takes the line that is whole, and returns what is to be said of it.
func (f *flat) row() string {
	line := f.line.String()
	f.line.Reset()
	switch {
	case f.body:
		var parts []string
		for i, c := range cellsOf(line) {
			if i < len(f.head) && f.head[i] != "" {
				c = f.head[i] + ": " + c
			}
			parts = append(parts, c)
		}
		return strings.Join(parts, "; ") + "\n"
	case f.head == nil:
		f.first, f.head = line, cellsOf(line)
		return ""
	case strings.Trim(line, "|-: \t\n") == "":
		f.body = true
		return ""
	}
	return f.end() + line // two lines that are no table
}

// end ends a table; a line that was held for one is said.
func (f *flat) end() string {
	held := ""
	if f.head != nil && !f.body {
		held = f.first
	}
	f.first, f.head, f.body = "", nil, false
	return held
}

// close ends the text.
func (f *flat) close() string {
	out := ""
	if f.line.Len() > 0 {
		f.line.WriteByte('\n')
		out = f.row()
	}
	out += f.end()
	*f = flat{}
	return strings.TrimSuffix(out, "\n")
}

func cellsOf(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
	}
	return cells
}

package plain

import "strings"

// flat turns the tables of an answer into lines of "header: value" as they arrive, for people
// who listen to a row without seeing its header. It passes all other text through.
type flat struct {
	line  strings.Builder // the pending line of a table, or of a possible table
	mid   bool            // inside a line that passes through
	start string          // the first characters of that line
	code  bool            // in a fenced code block
	first string          // the header, if the next line confirms it
	head  []string
	body  bool // the rows follow
}

// push adds text and returns the part that is ready to print.
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

// follow tracks the beginnings of lines and code blocks.
func (f *flat) follow(r rune) {
	switch {
	case r == '\n':
		f.code = f.code != (strings.HasPrefix(f.start, "```") || strings.HasPrefix(f.start, "~~~"))
		f.mid, f.start = false, ""
	case f.mid && len(f.start) < 3:
		f.start += string(r)
	}
}

// row handles a complete line and returns what to print.
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
	return f.end() + line // two lines that are not a table
}

// end ends a table and returns a pending line.
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

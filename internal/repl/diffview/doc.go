package diffview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Doc lays out a unified diff of one or more files as a question shows a change. A part that is
// no diff is shown as it is.
func Doc(unified string) pager.Doc {
	var docs []pager.Doc
	for _, f := range Files(unified) {
		if len(f.hunks) == 0 && f.From == f.Name && !f.created && !f.gone {
			docs = append(docs, pager.Text(f.raw))
			continue
		}
		docs = append(docs, pager.Doc(&page{file: f, body: f.body(f.Name, Options{})}))
	}
	return pager.Join(docs...)
}

// page is a file of a Doc: its title, then its rows.
type page struct {
	file File
	body body
	opt  Options // of the layout; the zero value before the first
}

// Len implements pager.Doc.
func (p *page) Len() int { return 1 + len(p.body.rows) }

// Text implements pager.Doc.
func (p *page) Text(i int) string {
	if i == 0 {
		return p.file.Sentence()
	}
	r := p.body.rows[i-1]
	if r.remark != "" {
		return r.remark
	}
	return map[diff.Op]string{diff.Equal: " ", diff.Insert: "+", diff.Delete: "-"}[r.op] + sanitize.StripANSI(r.text)
}

// Rows implements pager.Doc.
func (p *page) Rows(i int, look theme.Look) []string {
	if o := (Options{Width: max(1, look.Width), NoColor: look.NoColor, Tint: look.Tint, Layout: Unified}); o != p.opt {
		p.opt, p.body = o, p.file.body(p.file.Name, o)
		p.body.layout(o)
	}
	if i == 0 {
		added, removed := p.file.Counts()
		return titleLine(p.file.verb(), p.file.title(), added, removed, nil, p.opt)
	}
	return p.body.paint(i-1, 0, p.body.height(i-1))
}

// File is a file of a unified diff.
type File struct {
	Name, From string // From is the name before; "" of a new file
	created    bool
	gone       bool
	hunks      []diff.Hunk
	raw        string
}

// Files returns the files of a unified diff, as far as it can be parsed.
func Files(unified string) (all []File) {
	start, left, named := 0, [2]int{}, false
	cut := func(end int) {
		if part := unified[start:end]; strings.TrimSpace(part) != "" {
			all = append(all, parseFile(part))
		}
		start = end
	}
	at := 0
	for line := range strings.Lines(unified) {
		switch {
		case left[0] > 0 || left[1] > 0:
			if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "-") || line == "\n" {
				left[0]--
			}
			if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "+") || line == "\n" {
				left[1]--
			}
		case strings.HasPrefix(line, "diff --git "):
			cut(at)
			named = true
		case strings.HasPrefix(line, "--- "):
			if !named {
				cut(at)
			}
		case strings.HasPrefix(line, "@@ -"):
			left, named = sizes(line), false
		}
		at += len(line)
	}
	cut(len(unified))
	return all
}

// sizes returns the line counts of the header of a hunk.
func sizes(header string) (left [2]int) {
	fields := strings.Fields(header)
	for i := range min(2, max(0, len(fields)-1)) {
		if _, n, ok := parseRange(fields[i+1][1:]); ok {
			left[i] = n
		}
	}
	return left
}

// parseFile parses the part of one file.
func parseFile(raw string) File {
	f := File{raw: raw, hunks: parseUnified(raw)}
	for line := range strings.Lines(raw) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "@@ -") {
			break
		}
		f.head(line)
	}
	if f.created {
		f.From = ""
	}
	return f
}

// head takes a line before the first hunk.
func (f *File) head(line string) {
	switch key, name, _ := strings.Cut(line, " "); {
	case strings.HasPrefix(line, "diff --git "):
		if n := len(line[len("diff --git "):]); f.Name == "" && n%2 == 1 { // both names are the same
			f.Name = unquoted(line[len("diff --git ")+n/2+1:])
			f.From = f.Name
		}
	case strings.HasPrefix(line, "new file"):
		f.created = true
	case strings.HasPrefix(line, "deleted file"):
		f.gone = true
	case strings.HasPrefix(line, "rename from "):
		f.From = unquotedWhole(line[len("rename from "):])
	case strings.HasPrefix(line, "rename to "):
		f.Name = unquotedWhole(line[len("rename to "):])
	case key == "---" && name == "/dev/null":
		f.created = true
	case key == "+++" && name == "/dev/null":
		f.gone = true
	case key == "---":
		f.From = unquoted(name)
		f.Name = f.From
	case key == "+++":
		f.Name = unquoted(name)
	}
}

// unquoted returns a name of a diff without its quotes and its a/ or b/.
func unquoted(name string) string {
	name = unquotedWhole(strings.TrimSuffix(name, "\t"))
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(name, "b/")
}

// unquotedWhole undoes the quotes of a name, byte by byte: it may be no text.
func unquotedWhole(name string) string {
	if len(name) < 2 || name[0] != '"' || name[len(name)-1] != '"' {
		return name
	}
	var out []byte
	for rest := name[1 : len(name)-1]; rest != ""; {
		if rest[0] != '\\' {
			out, rest = append(out, rest[0]), rest[1:]
			continue
		}
		c, _, after, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			return name
		}
		out, rest = append(out, byte(c)), after
	}
	return string(out)
}

// Counts returns the numbers of lines added and removed.
func (f File) Counts() (added, removed int) {
	for _, h := range f.hunks {
		for _, l := range h.Lines {
			added += count(l.Op == diff.Insert)
			removed += count(l.Op == diff.Delete)
		}
	}
	return added, removed
}

// verb returns the kind of the change, as the title of a question.
func (f File) verb() string {
	return verb(Change{Exists: !f.created, Delete: f.gone, To: map[bool]string{true: f.Name}[f.From != "" && f.From != f.Name]})
}

func (f File) title() string {
	if f.verb() == "move" {
		return sanitize.Name(f.From) + " → " + sanitize.Name(f.Name)
	}
	return sanitize.Name(f.Name)
}

// Sentence describes the change: "Edit main.go: 1 line added, 1 removed".
func (f File) Sentence() string {
	what := f.verb()
	added, removed := f.Counts()
	s := strings.ToUpper(what[:1]) + what[1:] + " " + strings.Replace(f.title(), " → ", " to ", 1) + ": "
	switch {
	case added == 0 && removed == 0:
		return s + "no line changed"
	case added == 0:
		return s + plural.Of(removed, "line") + " removed"
	case removed == 0:
		return s + plural.Of(added, "line") + " added"
	}
	return s + fmt.Sprintf("%s added, %d removed", plural.Of(added, "line"), removed)
}

// body returns the rows of the file, to lay out.
func (f File) body(name string, o Options) body {
	var before, after strings.Builder
	a, b := map[int]string{}, map[int]string{}
	for _, h := range f.hunks {
		for _, l := range h.Lines {
			if l.A > 0 {
				a[l.A] = l.Text
				before.WriteString(l.Text)
			}
			if l.B > 0 {
				b[l.B] = l.Text
				after.WriteString(l.Text)
			}
		}
	}
	body := body{painter: newPainter(name, o, mapSource(a), mapSource(b)), rows: foldedRows(f.hunks, nil)}
	body.painter.showCR = mixedEndings(before.String(), after.String())
	return body
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func mapSource(lines map[int]string) source {
	return func(n int) (string, bool) {
		l, ok := lines[n]
		return l, ok
	}
}

package edit

import (
	"cmp"
	"fmt"
	"strings"
)

// Op is the operation of a patch on a file.
type Op int

// The operations.
const (
	Update Op = iota // or create, if the patch only adds lines
	Add
	Delete
)

// FilePatch is the part of a patch for one file.
type FilePatch struct {
	Op      Op
	Path    string // as in the patch; "" if it names none
	To      string // the path that an updated file moves to; "" if it stays
	Patch   Patch  // of an update
	Content string // of an added file
}

// ParseFiles reads a patch of any format: *** Begin Patch or SEARCH/REPLACE blocks for any number
// of files, or a unified diff of one.
func ParseFiles(s string) ([]FilePatch, error) {
	lines := textLines(strings.ReplaceAll(s, "\r\n", "\n"))
	for i, l := range lines {
		if isSearch(l) {
			return parseBlocks(lines)
		}
		if strings.HasPrefix(l, "@@") {
			p, err := parseUnified(lines)
			return []FilePatch{{Path: p.Name, To: p.To, Patch: p}}, err
		}
		if _, _, ok := fileHeader(l); ok || isMarker(l, beginMark) {
			return parseFiles(lines, i)
		}
	}
	return nil, fmt.Errorf("no hunk found: send a unified diff with @@ lines, or blocks of %s / %s / %s",
		searchMark, divideMark, replaceMark)
}

// The marks of a patch of several files.
const (
	beginMark = "*** Begin Patch"
	endMark   = "*** End Patch"
	eofMark   = "*** End of File"
	moveMark  = "*** Move to: "
)

// fileHeader parses a line that begins the part of a file.
func fileHeader(l string) (Op, string, bool) {
	for op, mark := range []string{Update: "*** Update File:", Add: "*** Add File:", Delete: "*** Delete File:"} {
		if name, ok := strings.CutPrefix(l, mark); ok {
			return Op(op), strings.TrimSpace(name), true
		}
	}
	return 0, "", false
}

// filesParser parses the lines of a patch of several files.
type filesParser struct {
	lines []string
	next  int
	files []FilePatch
}

// parseFiles parses the patch that begins at lines[start].
func parseFiles(lines []string, start int) ([]FilePatch, error) {
	p := filesParser{lines: lines, next: start}
	open := false
	for p.next < len(lines) {
		l := lines[p.next]
		op, path, isFile := fileHeader(l)
		var err error
		switch {
		case isFile:
			err = p.file(op, path)
		case isMarker(l, beginMark):
			open = true
			p.next++
		case isMarker(l, endMark):
			open = false
			p.next++
		case isFrame(l):
			p.next++
		default:
			err = p.stray()
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case open:
		return nil, fmt.Errorf("the patch has no %s: it may have been cut off, send all of it", endMark)
	case len(p.files) == 0:
		return nil, fmt.Errorf("the patch names no file: begin each with *** Update File: path, *** Add File: path or *** Delete File: path")
	}
	return p.files, nil
}

// isFrame reports whether l is one of the lines around a patch and its parts: a blank one, a
// fence, or the end of a shell's here document.
func isFrame(l string) bool {
	return strings.TrimSpace(l) == "" || strings.HasPrefix(l, "```") || strings.TrimSpace(l) == "EOF"
}

// isStray reports whether the next line, after those of a hunk, belongs to no part of the patch.
func (p *filesParser) isStray() bool {
	if p.next == len(p.lines) {
		return false
	}
	l := p.lines[p.next]
	_, _, isFile := fileHeader(l)
	marked := isMarker(l, beginMark) || isMarker(l, endMark) || isMarker(l, eofMark) || strings.HasPrefix(l, "@@")
	return !isFile && !marked && !isFrame(l)
}

// stray returns an error for a line that belongs to no part of the patch.
func (p *filesParser) stray() error {
	l := p.lines[p.next]
	if name, ok := strings.CutPrefix(l, moveMark); ok {
		return fmt.Errorf("line %d of the patch moves a file to %s: put it right below the line *** Update File: of that file", p.next+1, short(strings.TrimSpace(name)))
	}
	return fmt.Errorf("line %d of the patch belongs to no file or hunk: %q. Lines of a hunk begin with a blank, + or -, those of an added file with +", p.next+1, short(l))
}

// file parses the part of one file.
func (p *filesParser) file(op Op, path string) error {
	header := p.next
	p.next++
	if path == "" {
		return fmt.Errorf("line %d of the patch names no file", header+1)
	}
	f := FilePatch{Op: op, Path: path}
	switch op {
	case Add:
		var b strings.Builder
		for ; p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], "+"); p.next++ {
			b.WriteString(p.lines[p.next][1:] + "\n")
		}
		f.Content = b.String()
	case Update:
		if p.next < len(p.lines) {
			if to, ok := strings.CutPrefix(p.lines[p.next], moveMark); ok {
				f.To = strings.TrimSpace(to)
				p.next++
			}
		}
		for {
			h, ok, err := p.hunk(path, len(f.Patch.Hunks))
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			f.Patch.Hunks = append(f.Patch.Hunks, h)
		}
		if p.isStray() {
			return p.stray()
		}
		if len(f.Patch.Hunks) == 0 && f.To == "" {
			return fmt.Errorf("line %d of the patch updates %s without a hunk", header+1, short(path))
		}
	}
	return p.add(f)
}

// add adds the part of a file; a second update of a file continues the first.
func (p *filesParser) add(f FilePatch) error {
	for i := range p.files {
		first := &p.files[i]
		switch {
		case first.To != "" && first.To == cmp.Or(f.To, f.Path), f.To == first.Path:
			return fmt.Errorf("the patch moves a file to %s, which it also changes: send one part for it", short(cmp.Or(f.To, f.Path)))
		case first.Path != f.Path:
		case first.Op == Update && f.Op == Update && first.To == "" && f.To == "":
			for j := range f.Patch.Hunks {
				f.Patch.Hunks[j].Title = hunkTitle(f.Path, len(first.Patch.Hunks)+j)
			}
			f.Patch.Hunks[0].scope.first = true
			first.Patch.Hunks = append(first.Patch.Hunks, f.Patch.Hunks...)
			return nil
		default:
			return fmt.Errorf("the patch has two parts for %s that exclude each other: send one", short(f.Path))
		}
	}
	p.files = append(p.files, f)
	return nil
}

func hunkTitle(path string, index int) string {
	return fmt.Sprintf("hunk %d of %s", index+1, short(path))
}

// body takes the lines of a hunk below its header, without empty ones at the end.
func (p *filesParser) body() []string {
	start := p.next
	for p.next < len(p.lines) && (p.lines[p.next] == "" || strings.ContainsRune(" +-\\", rune(p.lines[p.next][0]))) {
		p.next++
	}
	body := p.lines[start:p.next]
	for len(body) > 0 && body[len(body)-1] == "" {
		body = body[:len(body)-1]
	}
	return body
}

// hunk parses the next hunk of a file. The first one may lack its @@.
func (p *filesParser) hunk(path string, index int) (h Hunk, ok bool, err error) {
	h = Hunk{Title: hunkTitle(path, index), scope: &scope{first: index == 0}}
	header := p.next
	for ; p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], "@@"); p.next++ {
		if h.setLine(p.lines[p.next]) < 0 {
			h.scope.add(p.lines[p.next])
		}
	}
	bare := header == p.next
	body := p.body()
	switch {
	case len(body) == 0 && bare:
		return h, false, nil
	case len(body) == 0 && p.isStray():
		return h, false, p.stray()
	case len(body) == 0:
		return h, false, fmt.Errorf("%s at line %d of the patch is empty", h.Title, header+1)
	}
	h.addLines(body)
	if p.next < len(p.lines) && isMarker(p.lines[p.next], eofMark) {
		h.scope.atEnd = true
		p.next++
	}
	return h, true, nil
}

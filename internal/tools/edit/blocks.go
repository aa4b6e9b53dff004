package edit

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// The marks of a SEARCH/REPLACE block, each alone on its line.
const (
	searchMark  = "<<<<<<< SEARCH"
	divideMark  = "======="
	replaceMark = ">>>>>>> REPLACE"
)

func isMarker(l, mark string) bool { return strings.TrimRight(l, " \t") == mark }

// searchLine matches the line that begins a block. Its number of < is that of = and > below.
var searchLine = lazyregexp.New(`^(<{5,9}) SEARCH>?\s*$`)

func isSearch(l string) bool { return searchLine.MatchString(l) }

// parseBlocks parses SEARCH/REPLACE blocks. Each is for the file that a line above it names, as in
// an answer in Markdown, or the file of the block before.
func parseBlocks(lines []string) ([]FilePatch, error) {
	var files []FilePatch
	name, blocks := "", 0
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch named := blockFile(lines, i); {
		case isSearch(l):
			h, next, err := parseBlock(lines, i)
			if err != nil {
				return nil, err
			}
			blocks++
			h.Title = fmt.Sprintf("block %d", blocks)
			f := fileOf(&files, name)
			f.Patch.Hunks = append(f.Patch.Hunks, h)
			i = next - 1
		case named != "":
			name = named
		case !isFence(l) && strings.TrimSpace(l) != "":
			return nil, fmt.Errorf("line %d of the diff is outside of any block: %q", i+1, short(l))
		}
	}
	return files, nil
}

// fileOf returns the part for a file, which it adds if it is new.
func fileOf(files *[]FilePatch, name string) *FilePatch {
	for i := range *files {
		if f := &(*files)[i]; f.Path == name {
			return f
		}
	}
	*files = append(*files, FilePatch{Path: name})
	return &(*files)[len(*files)-1]
}

func isFence(l string) bool {
	return strings.HasPrefix(strings.TrimSpace(l), "```") || strings.HasPrefix(strings.TrimSpace(l), "~~~")
}

// blockFile returns the file that lines[i] names for the block below it, with nothing but blank
// lines, fences and other names between them, or "".
func blockFile(lines []string, i int) string {
	l := lines[i]
	name := blockName(l)
	if isFence(l) {
		name = fenceName(l)
	}
	if name == "" {
		return ""
	}
	for i++; i < len(lines); i++ {
		switch l := lines[i]; {
		case isSearch(l):
			return name
		case strings.TrimSpace(l) != "" && !isFence(l) && blockName(l) == "":
			return ""
		}
	}
	return ""
}

var (
	quotedName = lazyregexp.New("^[^`]*`([^`]+)`[^`]*$")
	labelled   = lazyregexp.New(`(?i)^\W*(?:file ?name|file ?path|file|path)\b\W*?:[*\s]*`)
	plainName  = lazyregexp.New(`^[\pL\pN_.@+~\-/\\()\[\]$]*[\pL\pN_\])]$`)
	bareName   = lazyregexp.New(`^[\pL\pN_-]+$`)
)

// blockName returns the name in a line such as "### main.go", "**main.go**:" or "File: main.go",
// or "". A name with blanks has to be quoted or labelled.
func blockName(l string) string {
	s := strings.TrimSpace(l)
	if m := quotedName.FindStringSubmatch(s); m != nil {
		return strings.TrimSpace(m[1])
	}
	label := labelled.FindStringSubmatch(s)
	if label != nil {
		s = s[len(label[0]):]
	} else if m := comment.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	s = strings.Trim(strings.TrimRight(strings.Trim(s, "*\"' "), ":"), "*\"' ")
	switch {
	case label != nil, bareName.MatchString(s):
		return s
	case plainName.MatchString(s) && strings.ContainsAny(s, "./"):
		return s
	}
	return ""
}

// fenceName returns the name in a line that opens a fence, as in "```go src/main.go", or "".
func fenceName(l string) string {
	words := strings.Fields(strings.TrimLeft(strings.TrimSpace(l), "`~"))
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	if _, name, ok := strings.Cut(last, ":"); ok {
		last = name
	}
	for _, key := range []string{"title=", "file=", "filename=", "path="} {
		last = strings.TrimPrefix(last, key)
	}
	if name := blockName(last); strings.ContainsAny(name, "./") {
		return name
	}
	return ""
}

// parseBlock parses the block that begins at lines[i] and returns the index after it.
func parseBlock(lines []string, i int) (Hunk, int, error) {
	start, divide := i, -1
	size := len(searchLine.FindStringSubmatch(lines[i])[1])
	divider, end := strings.Repeat("=", size), strings.Repeat(">", size)+" REPLACE"
	for i++; i < len(lines); i++ {
		l := lines[i]
		switch {
		case isMarker(l, end) && divide >= 0:
			return newHunk(lines[start+1:divide], lines[divide+1:i]), i + 1, nil
		case isMarker(l, divider) && divide >= 0:
			return Hunk{}, 0, fmt.Errorf("the block at line %d of the diff has a second %s at line %d: use edit_file for text that holds this line", start+1, divider, i+1)
		case isMarker(l, divider):
			divide = i
		case isSearch(l):
			return Hunk{}, 0, fmt.Errorf("the block at line %d of the diff is not closed before the next begins at line %d", start+1, i+1)
		}
	}
	missing := end
	if divide < 0 {
		missing = divider
	}
	return Hunk{}, 0, fmt.Errorf("the block at line %d of the diff has no %s", start+1, missing)
}

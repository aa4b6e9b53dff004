package safecmd

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

// Limits up to which the patterns of a line are expanded.
const (
	maxMatches = 1000 // names in one place of a pattern
	maxFolders = 1000 // that are read, with one for each pattern
)

// globbing judges line, which was judged as j, if it is safe with the names that its
// patterns match now. They are in the form that Script returns, so it runs with the names that
// were judged.
func (p Place) globbing(line string, j Judgement) (Judgement, bool) {
	if j.Class != Ask || j.file == nil {
		return j, false
	}
	e := expansion{place: p, line: line, left: maxFolders}
	ok := true
	syntax.Walk(j.file, func(n syntax.Node) bool {
		if call, is := n.(*syntax.CallExpr); is && ok {
			ok = e.call(call)
		}
		return ok
	})
	if !ok || e.at == 0 {
		return j, false
	}
	inner := p.Judge(e.out.String() + line[e.at:])
	return inner, inner.Class == Safe
}

// expansion replaces the patterns of a line by the names that they match.
type expansion struct {
	place Place
	line  string
	out   strings.Builder // the line up to at, expanded
	at    int
	left  int // folders that may be read
}

// call expands the arguments of a command. It reports whether that was possible.
func (e *expansion) call(call *syntax.CallExpr) bool {
	if len(call.Args) == 0 || programs.Find(call.Args[0].Lit()).Is.Has(programs.Moves) {
		return false // the names may be others there
	}
	for _, w := range call.Args[1:] {
		pattern, has := globOf(w)
		if !has {
			continue
		}
		from, to := int(w.Pos().Offset()), int(w.End().Offset())
		names, found := e.place.expand(pattern, &e.left)
		if !found || from < e.at || e.out.Len() >= shellline.Max {
			return false
		}
		e.out.WriteString(e.line[e.at:from] + shellline.Line(names))
		e.at = to
	}
	return true
}

// globOf returns a word as a pattern for path.Match, if it has unquoted wildcards and nothing
// else that a shell expands.
func globOf(w *syntax.Word) (string, bool) {
	var b strings.Builder
	wild := false
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			one := syntax.Word{Parts: []syntax.WordPart{part}}
			text, ok := literal(&one)
			if !ok || strings.ContainsAny(text, `*?[]\`) {
				return "", false
			}
			b.WriteString(text)
			continue
		}
		if !unexpanded(strings.NewReplacer("*", "", "?", "", "[", "", "]", "", "{}", "").Replace(lit.Value)) || strings.Count(lit.Value, "[") != strings.Count(lit.Value, "]") || strings.Contains(lit.Value, "[^") || strings.Contains(lit.Value, "~") {
			return "", false
		}
		wild = wild || strings.ContainsAny(lit.Value, "*?[")
		b.WriteString(lit.Value)
	}
	return b.String(), wild
}

// expand returns the names that a shell in p.Dir puts in place of a pattern, sorted: the
// pattern itself if nothing matches. left is the number of folders that may still be read.
func (p Place) expand(pattern string, left *int) ([]string, bool) {
	if dir := path.Dir(pattern[:strings.IndexAny(pattern, "*?[")] + "x"); p.file(dir, true) != "" {
		return nil, false
	}
	names := []string{""}
	for i, piece := range strings.Split(pattern, "/") {
		var next []string
		for _, name := range names {
			if i > 0 {
				name += "/"
			}
			if !strings.ContainsAny(piece, "*?[") {
				next = append(next, name+piece)
				continue
			}
			if *left--; *left < 0 {
				return nil, false
			}
			entries, err := os.ReadDir(p.abs(cmp.Or(name, ".")))
			if err != nil {
				continue
			}
			for _, e := range entries {
				if ok, err := path.Match(piece, e.Name()); err != nil {
					return nil, false
				} else if ok && (e.Name()[0] != '.' || piece[0] == '.') {
					next = append(next, name+e.Name())
				}
			}
		}
		if names = next; len(names) > maxMatches {
			return nil, false
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, err := os.Lstat(p.abs(name)); return err != nil })
	if len(names) == 0 {
		return []string{pattern}, true
	}
	slices.Sort(names)
	return names, true
}

func (p Place) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

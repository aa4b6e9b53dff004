package safecmd

import (
	"path/filepath"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// entering judges line, which Classify judged as j, if it is cd FOLDER && REST with the
// absolute path of one of the folders that may be read, and REST, which has no cd, is safe there. The form
// that Script returns runs nothing if the folder cannot be entered.
func (p Place) entering(line string, j Judgement) (Judgement, bool) {
	dir, ok := entered(j.Parts)
	if !ok || !filepath.IsAbs(dir) || !p.isDir(dir) || p.file(dir, false) != "" {
		return j, false
	}
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return j, false
	}
	rest, ok := afterFirst(line, j.file)
	if !ok {
		return j, false
	}
	there := p
	there.Dir = target
	inner := there.Judge(rest)
	if inner.Class != Safe || inner.enters != "" {
		return j, false
	}
	first := j.Parts[0]
	first.Class, first.Reason = Safe, "cd enters a folder that may be read"
	inner.Parts = append([]Part{first}, inner.Parts...)
	inner.enters = target
	for i := range inner.steps {
		inner.steps[i].part++
	}
	return inner, true
}

// entered returns the folder that the first of several parts enters, if none of the others does or
// is dangerous.
func entered(parts []Part) (dir string, ok bool) {
	again := func(part Part) bool { return part.Class == Danger || len(part.Words) > 0 && part.Words[0] == "cd" }
	if len(parts) < 2 || parts[0].Class != Ask || len(parts[0].Words) != 2 || parts[0].Words[0] != "cd" || slices.ContainsFunc(parts[1:], again) {
		return "", false
	}
	return parts[0].Words[1], true
}

// afterFirst returns the text of a line, parsed as file, behind the && after its first
// command, if that is a plain one.
func afterFirst(line string, file *syntax.File) (string, bool) {
	s := file.Stmts[0]
	for {
		both, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return "", false
		}
		if s = both.X; isPlain(s) {
			return line[both.Y.Pos().Offset():], both.Op == syntax.AndStmt
		}
	}
}

// isPlain reports whether a statement is a command with nothing around it.
func isPlain(s *syntax.Stmt) bool {
	_, call := s.Cmd.(*syntax.CallExpr)
	return call && len(s.Redirs) == 0 && len(s.Comments) == 0 && !s.Negated && !s.Background && !s.Coprocess && !s.Disown
}

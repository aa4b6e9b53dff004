package safecmd

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
)

// isIndirect reports whether a command runs programs that its words do not name in
// their first place.
func isIndirect(words []string) bool {
	p, args := programs.Find(path.Base(words[0])), words[1:]
	lang := p.Language
	switch {
	case p.Is.Has(programs.Hides) || isOdd(words[0]):
		return true
	case path.Base(words[0]) == "git":
		return gitRuns(args)
	case p.Is.Has(programs.Evaluates):
		text := strings.Join(args, " ")
		return strings.Contains(text, "[") && strings.ContainsAny(text, "$`")
	case lang.RunsInput() && !lang.Shell:
		return len(args) == 0 || slices.ContainsFunc(args, isCode)
	}
	return p.Is.Has(programs.Starts) || slices.ContainsFunc(args, p.Runs.MatchString)
}

// isCode reports whether an argument of an interpreter is an option for a program in the
// next one.
func isCode(s string) bool {
	return s == "-" || short(s, "ceEprRn") || strings.HasPrefix(s, "--e") || strings.HasPrefix(s, "--p") || strings.HasPrefix(s, "--r")
}

// gitRuns reports whether git runs a program that its arguments name.
func gitRuns(args []string) bool {
	return slices.ContainsFunc(args, func(s string) bool {
		return short(s, "cx") && strings.IndexAny(s, "cx") == 1 || slices.Contains([]string{"foreach", "run", "filter-branch"}, s) ||
			short(s, "O") || slices.ContainsFunc([]string{"--config-env", "--exec", "--ext", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--tree-filter", "--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd", "--header-cmd", "--browser", "ext::"}, func(o string) bool { return strings.HasPrefix(s, o) })
	})
}

// substitutes reports whether a piece of a line runs a line in it.
func substitutes(n syntax.Node) bool { return contains(n, isSubstitution) }

func isSubstitution(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		return true
	}
	return false
}

// evaluates reports whether a construct computes with text that can name programs: the
// shell runs the $(...) in an index even if it is in quotes.
func evaluates(n syntax.Node) bool { return contains(n, isArithmetic) }

func isArithmetic(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.ArithmExp:
		return true
	case *syntax.Assign:
		return n.Name == nil || n.Index != nil
	}
	return false
}

func contains(n syntax.Node, test func(syntax.Node) bool) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		found = found || n != nil && test(n)
		return !found
	})
	return found
}

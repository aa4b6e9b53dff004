package safecmd

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// starters run others like wrappers, or make the shell run their arguments later.
var starters = strings.Fields("bind bunx compgen complete cross-env dotenv enable fc hash hyperfine mapfile npx pipx pnpx readarray uvx")

// evaluators are commands of the shell that run a substitution in the index of a variable.
var evaluators = strings.Fields("getopts printf read test unset wait")

// isIndirect reports whether a command runs programs that its words do not name in
// their first place.
func isIndirect(words []string) bool {
	name, args := path.Base(words[0]), words[1:]
	switch {
	case name == "git":
		return gitRuns(args)
	case slices.Contains(evaluators, name):
		text := strings.Join(args, " ")
		return strings.Contains(text, "[") && strings.ContainsAny(text, "$`")
	case name == "make" || name == "gmake":
		return slices.ContainsFunc(args, isMakeText)
	case slices.Contains([]string{"node", "perl", "php", "python", "python2", "python3", "ruby"}, name):
		return len(args) == 0 || slices.ContainsFunc(args, isCode)
	}
	return runsArgument(name, args) || isWrapper(words[0]) || slices.Contains(starters, name) || strings.HasPrefix(name, "ld-") || name == "ld.so"
}

// programArgs maps programs to the arguments with which they run another, or a line.
var programArgs = map[string]lazyregexp.Regexp{
	"emacs": editing, "ex": editing, "gvim": editing, "nvim": editing, "vi": editing, "view": editing, "vim": editing, "vimdiff": editing,
	"gsed": sedRuns, "sed": sedRuns,
	"man":     lazyregexp.New(`^(-\w*[HP]|--html|--pager)`),
	"psql":    lazyregexp.New(`\\!|\bprogram\b`),
	"rsync":   lazyregexp.New(`^(-\w*e|--rsh)`),
	"sort":    lazyregexp.New(`^--co`),
	"split":   lazyregexp.New(`^--f`),
	"sqlite3": lazyregexp.New(`^\s*\.(sh|sy)`),
}

// runsArgument reports whether an argument of a program names another program.
func runsArgument(name string, args []string) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(args, func(s string) bool { return slices.Contains(words, s) })
	}
	pattern, ok := programArgs[name]
	switch {
	case ok:
		return slices.ContainsFunc(args, pattern.MatchString)
	case slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name): // run starts a script of the project
		return has("exec", "x", "dlx")
	case slices.Contains(launchers, name):
		return has("run", "exec", "x")
	}
	return false
}

var editing = lazyregexp.New(`^(-[cfls]|-S|\+|--cmd|--e|--f|--l|--s)`)

// sedRuns matches the command e of sed, the flag e of its command s, and a file with commands.
var sedRuns = lazyregexp.New(`(^|[^a-zA-Z\\.])\s*e(\s|$)|[/|#,@!:~%][gpiImM0-9]*e[gpiImM0-9]*\s*($|[;}\n])|^(-\w*f|--fi)`)

// isMakeText reports whether an argument of make can hold a line to run, or names a file
// with such lines.
func isMakeText(s string) bool {
	return strings.ContainsAny(s, "=$`") || short(s, "fE") || strings.HasPrefix(s, "--f") || strings.HasPrefix(s, "--ev")
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
			short(s, "O") || slices.ContainsFunc([]string{"--config-env", "--exec", "--ext", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--tree-filter"}, func(o string) bool { return strings.HasPrefix(s, o) })
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

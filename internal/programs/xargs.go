package programs

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Options of xargs that only set how many words it passes on at once, and how it splits them.
var (
	xargsAlone  = lazyregexp.New(`^(-0|--null|-r|--no-run-if-empty|-[nPL][0-9]+|-I\{\}|-d\\n)$`)
	xargsValues = map[string]string{"-n": "", "-P": "", "-L": "", "-I": "{}", "-d": `\n`} // "": a number
)

// xargs judges xargs by the command that it starts. The files are those that a step before
// finds, see Reads.Passed.
func xargs(args []string) (Reads, string) {
	uses, at := Reads{Blanks: " \t\n\"'\\", Passed: true}, 0
	for ; at < len(args) && strings.HasPrefix(args[at], "-"); at++ {
		switch arg := args[at]; {
		case arg == "-0" || arg == "--null":
			uses.Blanks = ""
		case arg == `-d\n`, arg == "-d" && at+1 < len(args) && args[at+1] == `\n`:
			uses.Blanks = "\n"
		}
		if xargsAlone.MatchString(args[at]) {
			continue
		}
		value, ok := xargsValues[args[at]]
		if at++; !ok || at == len(args) || value != args[at] && (value != "" || strings.Trim(args[at], "0123456789") != "") {
			return uses, args[at-1] + " is not a read-only option"
		}
	}
	words, files := args[at:], []string{"./a", "./b", "./c"}
	if slices.ContainsFunc(args[:at], func(s string) bool { return strings.HasPrefix(s, "-I") }) {
		files = files[:1]
	} else {
		words = append(slices.Clone(words), "{}")
	}
	inner, why := perFile(words, files...)
	uses.Names, uses.Runs = inner.Names, []int{at}
	return uses, why
}

// ListsFiles reports whether grep with some arguments prints the names of files and nothing else, each with the
// folder in its arguments.
func ListsFiles(args []string) bool {
	c, _, why := grepSpec.search(args)
	patterns := 1
	if c.has("-e") || c.has("--regexp") {
		patterns = 0
	}
	list := c.has("-l") || c.has("--files-with-matches")
	return why == "" && list && len(c.rest) > patterns &&
		!slices.ContainsFunc(strings.Fields("-Z -z --null --color --colour"), c.has)
}

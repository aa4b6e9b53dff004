package safecmd

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
// finds, see reader.passOn.
func xargs(args []string) (reads, string) {
	uses, at := reads{blanks: " \t\n\"'\\", passed: true}, 0
	for ; at < len(args) && strings.HasPrefix(args[at], "-"); at++ {
		switch arg := args[at]; {
		case arg == "-0" || arg == "--null":
			uses.blanks = ""
		case arg == `-d\n`, arg == "-d" && at+1 < len(args) && args[at+1] == `\n`:
			uses.blanks = "\n"
		}
		if xargsAlone.MatchString(args[at]) {
			continue
		}
		value, ok := xargsValues[args[at]]
		if at++; !ok || at == len(args) || value != args[at] && (value != "" || strings.Trim(args[at], "0123456789") != "") {
			return uses, args[at-1] + " is not an option known to only read"
		}
	}
	words, files := args[at:], []string{"./a", "./b", "./c"}
	if slices.ContainsFunc(args[:at], func(s string) bool { return strings.HasPrefix(s, "-I") }) {
		files = files[:1]
	} else {
		words = append(slices.Clone(words), "{}")
	}
	inner, why := perFile(words, files...)
	uses.names, uses.runs = inner.names, []int{at}
	return uses, why
}

// passOn gives each xargs the files that the steps before it in its pipe find; without
// such steps it asks.
func (r *reader) passOn() {
	for i, s := range r.steps {
		if !s.reads.passed {
			continue
		}
		from, ok := r.source(i, s)
		if !ok || slices.ContainsFunc(from.files, isMoreThanName) {
			r.Parts[s.part].Class, r.Parts[s.part].Reason = Ask, "xargs: the files that it passes on are only known when it runs"
			continue
		}
		to := &r.steps[i].reads
		to.files, to.only = from.files, from.only
		to.deep, to.hidden, to.links = true, true, true
	}
}

// source returns the files whose names come to the step i, an xargs.
func (r *reader) source(i int, s step) (reads, bool) {
	for at := i - 2; s.in == "" && at >= 0 && r.steps[at+1].operator == "|"; at -= 2 {
		from := r.steps[at]
		if from.in != "" || slices.ContainsFunc(from.discard, func(d string) bool { return d != "2>/dev/null" }) {
			break
		}
		zero := s.reads.blanks == ""
		switch {
		case from.name == "find":
			odd := slices.ContainsFunc(from.args, func(a string) bool {
				return slices.Contains(strings.Fields("-printf -ls -L -H -follow"), a)
			})
			return from.reads, !odd && from.reads.runs == nil && slices.Contains(from.args, "-print0") == zero && !strings.HasPrefix(from.reads.files[0], "-")
		case from.name == "grep" && from.reads.deep && !zero:
			return from.reads, listsFiles(from)
		case zero || !filters(from):
			return reads{}, false
		}
	}
	return reads{}, false
}

// listsFiles reports whether a grep prints the names of files and nothing else, each with the
// folder in its arguments.
func listsFiles(s step) bool {
	c, _, why := grepSpec.search(s.args)
	patterns := 1
	if c.has("-e") || c.has("--regexp") {
		patterns = 0
	}
	list := c.has("-l") || c.has("--files-with-matches")
	return why == "" && list && len(c.rest) > patterns &&
		!slices.ContainsFunc(strings.Fields("-Z -z --null --color --colour"), c.has)
}

// isMoreThanName reports whether names below a folder may have a meaning of their own for a
// program: options, files with arguments, variables.
func isMoreThanName(dir string) bool {
	return strings.HasPrefix(dir, "-") || strings.ContainsAny(dir, "@=+")
}

// dropping matches options with which some programs leave out lines, or change their order.
var dropping = map[string]lazyregexp.Regexp{
	"grep": lazyregexp.New(`^-[viEFwx]+$`),
	"head": lazyregexp.New(`^-(n?[0-9]+|n)$`),
	"sort": lazyregexp.New(`^-[rufVn]+$`),
	"tail": lazyregexp.New(`^-(n?[0-9]+|n)$`),
	"uniq": lazyregexp.New(`^-i$`),
}

// filters reports whether a step prints some of the lines that it reads, each whole.
func filters(s step) bool {
	pattern, ok := dropping[s.name]
	return ok && len(s.reads.files) == 0 && !slices.ContainsFunc(s.args, func(a string) bool { return strings.HasPrefix(a, "-") && !pattern.MatchString(a) })
}

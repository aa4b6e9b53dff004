package safecmd

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/programs"
)

// passOn gives each xargs the files that the steps before it in its pipe find; without
// such steps it asks.
func (r *reader) passOn() {
	for i, s := range r.steps {
		if !s.reads.Passed {
			continue
		}
		from, ok := r.source(i, s)
		if !ok || slices.ContainsFunc(from.Files, isMoreThanName) {
			r.Parts[s.part].Class, r.Parts[s.part].Reason = Ask, "xargs: the files that it passes on are only known when it runs"
			continue
		}
		to := &r.steps[i].reads
		to.Files, to.Only = from.Files, from.Only
		to.Deep, to.Hidden, to.Links = true, true, true
	}
}

// source returns the files whose names come to the step i, an xargs.
func (r *reader) source(i int, s step) (programs.Reads, bool) {
	for at := i - 2; s.in == "" && at >= 0 && r.steps[at+1].operator == "|"; at -= 2 {
		from := r.steps[at]
		if from.in != "" || slices.ContainsFunc(from.discard, func(d string) bool { return d != "2>/dev/null" }) {
			break
		}
		zero := s.reads.Blanks == ""
		switch {
		case from.name == "find":
			odd := slices.ContainsFunc(from.args, func(a string) bool {
				return slices.Contains(strings.Fields("-printf -ls -L -H -follow"), a)
			})
			return from.reads, !odd && from.reads.Runs == nil && slices.Contains(from.args, "-print0") == zero && !strings.HasPrefix(from.reads.Files[0], "-")
		case from.name == "grep" && from.reads.Deep && !zero:
			return from.reads, programs.ListsFiles(from.args)
		case zero || !filters(from):
			return programs.Reads{}, false
		}
	}
	return programs.Reads{}, false
}

// isMoreThanName reports whether names below a folder may have a meaning of their own for a
// program: options, files with arguments, variables.
func isMoreThanName(dir string) bool {
	return strings.HasPrefix(dir, "-") || strings.ContainsAny(dir, "@=+")
}

// filters reports whether a step prints some of the lines that it reads, each whole.
func filters(s step) bool {
	p := programs.Find(s.name)
	return !p.Filter.IsZero() && len(s.reads.Files) == 0 && !slices.ContainsFunc(s.args, func(a string) bool { return strings.HasPrefix(a, "-") && !p.Filter.MatchString(a) })
}

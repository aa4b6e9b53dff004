package tools

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// env returns the environment of commands.
func (c commander) env() []string {
	if c.Env == nil {
		return shell.Environ(os.Environ(), nil)
	}
	return c.Env
}

// place returns where a command line would run.
func (c commander) place(dir string) safecmd.Place {
	place := safecmd.Place{Dir: dir, Roots: c.Root.Roots(), Home: c.Home}
	for _, kv := range c.env() {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			place.Path = value
		}
	}
	return place
}

// commandNotes returns the note for a reviewer of a command: why it is dangerous, not as
// harmless as its text, or unusual. An ordinary command has none.
func commandNotes(j safecmd.Judgement, place safecmd.Place) []caution.Note {
	why := strings.Join(j.Reasons(), "; ")
	if j.Misplaced {
		return caution.Notes("It only reads, but " + why + ".")
	}
	unusual := strings.Join(place.Unusual(j), "; ")
	switch {
	case j.Class == safecmd.Danger && unusual != "":
		return caution.Notes("Dangerous, so it is asked about each time: " + why + ". Also, " + unusual + ".")
	case j.Class == safecmd.Danger:
		return caution.Notes("Dangerous, so it is asked about each time: " + why + ".")
	case unusual != "":
		return caution.Notes("Unusual: " + unusual + ".")
	}
	return nil
}

// runGuarded runs the judged form of a command that a rule approved because it only reads.
func (c commander) runGuarded(ctx context.Context, opts shell.Options, judged safecmd.Judgement, v confirm.Verdict) (Result, error) {
	env := lookpath.Search{Dirs: c.Root.Roots()}.Environ(c.env()) // for programs that these start
	opts.Line, opts.Env, opts.Here = judged.Script(), slices.Concat(env, programs.Env), true
	out, res, err := c.run(ctx, opts, v)
	if out != nil {
		res.Rule = v.By
		res.ForUser += " · " + v.By
	}
	return res, err
}

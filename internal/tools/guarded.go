package tools

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
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

// judge classes a command line that is to run in dir.
func (c commander) judge(line, dir string) safecmd.Judgement {
	place := safecmd.Place{Dir: dir, Roots: c.Root.Roots(), Home: c.Home}
	for _, kv := range c.env() {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			place.Path = value
		}
	}
	return place.Judge(line)
}

// commandNotes returns the notes for a reviewer of a command: why it is dangerous, or not
// as harmless as its text.
func commandNotes(j safecmd.Judgement) []caution.Note {
	why := strings.Join(j.Reasons(), "; ")
	switch {
	case j.Class == safecmd.Danger:
		return caution.Notes("Dangerous, so it is asked about each time: " + why + ".")
	case j.Misplaced:
		return caution.Notes("It only reads, but " + why + ".")
	}
	return nil
}

// runGuarded runs the judged form of a command that a rule approved because it only reads.
func (c commander) runGuarded(ctx context.Context, opts shell.Options, judged safecmd.Judgement, v confirm.Verdict) (Result, error) {
	opts.Line, opts.Env, opts.Here = judged.Script(), slices.Concat(c.env(), safecmd.Env), true
	out, res, err := c.run(ctx, opts, v)
	if out != nil {
		res.Rule = v.By
		res.ForUser += " · " + v.By
	}
	return res, err
}

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
	place := safecmd.Place{Dir: dir, Roots: c.Root.Roots(), Home: c.Home, Env: c.env()}
	for _, kv := range place.Env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			place.Path = value
		}
	}
	return place
}

// commandNotes returns the note for a reviewer of a command: why it is dangerous, not as
// harmless as its text, or unusual. An ordinary command has none.
func commandNotes(j safecmd.Judgement, place safecmd.Place) []caution.Note {
	unusual := place.Unusual(j)
	switch {
	case j.Misplaced:
		return caution.Notes("Read-only, but " + strings.Join(j.Reasons(), "; ") + ".")
	case j.Class == safecmd.Danger:
		return caution.Notes("Dangerous (always asked): " + listed(append(j.Reasons(), unusual...)))
	case len(unusual) > 0:
		return caution.Notes("Unusual: " + listed(unusual))
	}
	return nil
}

// listed joins reasons that begin with "it".
func listed(reasons []string) string {
	for i, r := range reasons {
		reasons[i] = strings.TrimPrefix(strings.TrimPrefix(r, "it "), "is ")
	}
	return strings.Join(reasons, " · ")
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

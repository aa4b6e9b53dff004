// Package replay judges calls of tools by the permission policy of a session, without
// carrying them out: nothing is run, written or read for the model. It guarantees that
// the questions are those of the tools and the verdicts those of the policy, of which it
// has no copy.
package replay

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Options configures a Judge.
type Options struct {
	Root   *workspace.Root // without a home, so that nothing can be written
	Mode   permission.Mode
	Rules  permission.Rules
	Home   string   // the program's own folder
	Env    []string // the environment of commands
	AskAll bool     // ask about commands that only read too
	Trials bool     // commands first run in a copy if they can
}

// Judge judges the calls of one session, in order.
type Judge struct {
	root   *workspace.Root
	policy *permission.Policy
	set    *tools.Set
	held   []Answer // to the command that waits for the next question
}

// New returns the judge of a session that begins. A Root that several judges share must
// not have allowed reads, see workspace.Outside.
func New(o Options) *Judge {
	policy := permission.New(o.Mode, o.Rules...)
	deps := tools.Deps{
		Deps:  change.Deps{Files: access.Files{Root: o.Root, Home: o.Home, Withholds: policy.Withholds}},
		Shell: tools.Shell{Env: o.Env, AskAll: o.AskAll},
	}
	if o.Trials {
		deps.Trials = foreseen{}
	}
	set := tools.NewSet(deps)
	return &Judge{root: o.Root, policy: policy, set: set}
}

// foreseen are copies in which nothing is run either.
type foreseen struct{ tools.Trials }

// Missing implements tools.Trials.
func (foreseen) Missing(context.Context) string { return "" }

// Answer is the policy's answer to a question.
type Answer struct {
	tools.Foreseen
	Verdict confirm.Verdict
	Decided bool // without a person
	// Rules would allow it if they are added, each a part of it; empty if none can, or if
	// it is allowed.
	Rules []permission.Rule
}

// Asks reports whether a person is asked.
func (a Answer) Asks() bool { return !a.Decided }

// Refused reports whether the policy refuses it.
func (a Answer) Refused() bool { return a.Decided && a.Verdict.Decision != confirm.Approve }

// Call returns the answers to the questions of a call; none if it asks nothing. It takes
// a person to say yes, once: grants for the session are not counted.
func (j *Judge) Call(tool string, args json.RawMessage) []Answer {
	all := j.answers(tool, args)
	asks, tried := slices.ContainsFunc(all, Answer.Asks), false
	for _, a := range all {
		tried = tried || a.Verdict.Trial || a.Verdict.Guarded
		if a.Holds && a.Verdict.Trial {
			waits := a
			waits.Verdict, waits.Decided = confirm.Verdict{}, false
			defer func() { j.held = append(j.held, waits) }()
		}
	}
	switch runs := tool == "execute_command"; {
	case runs && asks: // about both
		j.held = nil
	case tools.ChangesFiles(tool), runs && !tried:
		all, j.held = append(j.Held(), all...), nil
	}
	return all
}

// Held returns the question about what still waits for another.
func (j *Judge) Held() []Answer { return j.held[:min(len(j.held), 1)] }

// answers is Call without what waits.
func (j *Judge) answers(tool string, args json.RawMessage) []Answer {
	var all []Answer
	for _, q := range j.set.Foresee(tool, args) {
		a := Answer{Foreseen: q}
		if q.Trial != nil {
			a.Verdict, a.Decided = j.policy.Decide(*q.Trial)
		}
		if !a.Decided {
			a.Verdict, a.Decided = j.policy.Decide(q.Request)
		}
		if a.Asks() || a.Refused() {
			a.Rules = j.policy.Proposals(q.Request)
		}
		if read, ok := q.Request.Subject.(*confirm.Read); ok && !a.Refused() {
			j.root.Outside().Allow(read.Path)
		}
		all = append(all, a)
	}
	return all
}

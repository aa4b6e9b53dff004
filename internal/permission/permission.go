// Package permission is the policy of the confirmation controller: what the
// mode of the session and the user's earlier answers settle without asking
// again. It guarantees that nothing but the bypass mode approves a request that
// forces a review, that the plan mode changes and runs nothing, and that a
// grant covers only what the person was shown: a tool's edits, one exact
// command line in one folder, one path.
package permission

import (
	"errors"
	"sync"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// errBypass explains why a session cannot slip into the mode that asks nothing.
var errBypass = errors.New("the bypass mode approves everything unseen, so it cannot be entered later: " +
	"start with --permission-mode bypass")

// Policy implements confirm.Policy. It is safe for concurrent use.
type Policy struct {
	bypass bool // started in Bypass

	mu     sync.Mutex
	mode   Mode
	grants map[grant]bool
}

// New returns a policy in the given mode. Bypass can be entered later only if
// the policy starts in it.
func New(mode Mode) *Policy {
	return &Policy{bypass: mode == Bypass, mode: mode, grants: map[grant]bool{}}
}

// Mode returns the current mode.
func (p *Policy) Mode() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// SetMode changes the mode. It fails for Bypass unless the policy started in
// it, and for values that are no mode.
func (p *Policy) SetMode(mode Mode) error {
	if _, err := ParseMode(mode.String()); err != nil {
		return err
	}
	if mode == Bypass && !p.bypass {
		return errBypass
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
	return nil
}

// Cycle enters the next mode (default, accept-edits, plan, and bypass if the
// policy started in it) and returns it.
func (p *Policy) Cycle() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = p.mode.next(p.bypass)
	return p.mode
}

// Decide implements confirm.Policy. Verdict.By names the rule.
func (p *Policy) Decide(req confirm.Request) (confirm.Verdict, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.mode == Bypass:
		return approve("bypass mode"), true
	case p.mode == Plan && req.Read == nil:
		return declineInPlan(req), true
	case req.Force:
		return confirm.Verdict{}, false
	case p.mode == AcceptEdits && req.Change != nil && !req.Change.Delete:
		return approve("accept-edits mode"), true
	}
	if g, ok := grantFor(req); ok && p.grants[g] {
		return approve("granted for this session"), true
	}
	return confirm.Verdict{}, false
}

// Grant implements confirm.Policy. A request that forces a review and a removal
// of a file grant nothing.
func (p *Policy) Grant(req confirm.Request) {
	g, ok := grantFor(req)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grants[g] = true
}

// grant is what a "yes for this session" covers. Fields that do not belong to
// the kind of request are empty.
type grant struct {
	tool       string // edits by this tool
	line, dir  string // this command line in this folder
	background bool
	path       string // reads of this file
}

// grantFor returns the grant that covers req; ok is false if none can.
func grantFor(req confirm.Request) (g grant, ok bool) {
	switch {
	case req.Force:
		return grant{}, false
	case req.Change != nil:
		return grant{tool: req.Tool}, req.Tool != "" && !req.Change.Delete
	case req.Command != nil:
		c := req.Command
		return grant{line: c.Line, dir: c.Dir, background: c.Background}, c.Line != ""
	case req.Read != nil:
		return grant{path: req.Read.Path}, req.Read.Path != ""
	}
	return grant{}, false
}

func approve(rule string) confirm.Verdict {
	return confirm.Verdict{Decision: confirm.Approve, By: rule, Rule: true}
}

// declineInPlan tells the model to go on planning: the turn does not stop.
func declineInPlan(req confirm.Request) confirm.Verdict {
	what := "No command is run"
	if req.Change != nil || req.Plan != nil || req.Save != nil {
		what = "No file is changed"
	}
	return confirm.Verdict{By: "plan mode", Rule: true, Feedback: "plan mode: " + what +
		" until the user leaves it. Go on reading, and describe what you would do."}
}

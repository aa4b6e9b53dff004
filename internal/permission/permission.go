// Package permission is the policy of the confirmation controller: what the
// mode of the session and the user's earlier answers settle without asking
// again. It guarantees that nothing but the bypass mode approves a request that
// forces a review, that the plan mode changes and runs nothing, and that a
// grant covers only what the person was shown: a tool's edits, one exact
// command line in one folder, one path.
package permission

import (
	"errors"
	"fmt"
	"slices"
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
	grants []Grant
}

// New returns a policy in the given mode. Bypass can be entered later only if
// the policy starts in it.
func New(mode Mode) *Policy {
	return &Policy{bypass: mode == Bypass, mode: mode}
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
	if g, ok := grantFor(req); ok && slices.Contains(p.grants, g) {
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
	if !slices.Contains(p.grants, g) {
		p.grants = append(p.grants, g)
	}
}

// Grants returns what was granted and not taken back, the oldest first.
func (p *Policy) Grants() []Grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.grants)
}

// Revoke takes a grant back; false if it is not there.
func (p *Policy) Revoke(g Grant) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.grants, g)
	if i < 0 {
		return false
	}
	p.grants = slices.Delete(p.grants, i, i+1)
	return true
}

// Forget takes all grants back: they are of the session that ends.
func (p *Policy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grants = nil
}

// Grant is what a "yes for this session" covers. Fields that do not belong to
// the kind of request are empty.
type Grant struct {
	Tool       string // edits by this tool
	Line, Dir  string // this command line in this folder
	Background bool
	Path       string // reads of this file
}

// String says what g covers. It is not sanitised.
func (g Grant) String() string {
	switch {
	case g.Tool != "":
		return "edits by " + g.Tool
	case g.Path != "":
		return "reading " + g.Path
	case g.Background:
		return fmt.Sprintf("the command %q in the background, in %s", g.Line, g.Dir)
	}
	return fmt.Sprintf("the command %q in %s", g.Line, g.Dir)
}

// grantFor returns the grant that covers req; ok is false if none can.
func grantFor(req confirm.Request) (g Grant, ok bool) {
	switch {
	case req.Force:
		return Grant{}, false
	case req.Change != nil:
		return Grant{Tool: req.Tool}, req.Tool != "" && !req.Change.Delete
	case req.Command != nil:
		c := req.Command
		return Grant{Line: c.Line, Dir: c.Dir, Background: c.Background}, c.Line != ""
	case req.Read != nil:
		return Grant{Path: req.Read.Path}, req.Read.Path != ""
	}
	return Grant{}, false
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

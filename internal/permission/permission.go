// Package permission is the policy of the confirmation controller: which requests the
// mode of the session and the user's earlier answers decide without asking again. It
// guarantees that only the bypass mode approves a request that forces a review, that the
// plan mode changes nothing and runs only commands that only read, and that a grant covers only the things that the person was
// shown: a tool's edits, one exact command line in one folder as long as it runs the same
// programs and scripts, or one path.
package permission

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// errBypass is returned for entering the bypass mode later.
var errBypass = errors.New("the bypass mode approves everything unseen, so it cannot be entered later: " +
	"start with --permission-mode bypass")

// Policy implements confirm.Policy. It is safe for concurrent use.
type Policy struct {
	bypass bool // started in Bypass

	mu     sync.Mutex
	mode   Mode
	rules  Rules
	grants []heldGrant
	lapsed map[Grant]string // why a grant ended
	unseen map[string]bool  // files that were changed without being shown, by path
}

// heldGrant is a grant and, for a command, its footprint at that time.
type heldGrant struct {
	Grant
	runs *footprint
}

// New returns a policy in the given mode with the given rules. Bypass can be entered later
// only if the policy starts in it.
func New(mode Mode, rules ...Rule) *Policy {
	return &Policy{bypass: mode == Bypass, mode: mode, rules: rules, lapsed: map[Grant]string{}, unseen: map[string]bool{}}
}

// Mode returns the current mode.
func (p *Policy) Mode() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// SetMode changes the mode. It fails for an unknown mode, and for Bypass unless the
// policy started in it.
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

// Decide implements confirm.Policy. Verdict.By names the rule. If a grant has lapsed, the
// Feedback of the undecided verdict explains why.
func (p *Policy) Decide(req confirm.Request) (confirm.Verdict, bool) {
	mode, rules, c := p.Mode(), p.Rules(), req.Command
	by := rules.answer(req)
	if v, refused := by.refuse(mode); refused {
		return v, true
	}
	switch {
	case c != nil && c.Unconfined:
		return decideUnconfined(req, mode)
	case c != nil && c.ReadOnly && !req.Force && mode != Bypass:
		if v, decided := decideReadOnly(by, rules); decided || mode == Plan {
			return v, decided // in plan mode, no rule or grant runs it unguarded
		}
	}
	v, decided := p.decide(req, by, mode)
	switch {
	case decided || c == nil || req.Force || by.effect == Ask:
		return v, decided
	case by.effect == Allow:
		return p.decideRuled(req, by.rule)
	}
	return p.decideCommand(req)
}

// decideReadOnly approves a command that only reads. Its files are not compared with
// rules about reading.
func decideReadOnly(by answer, rules Rules) (confirm.Verdict, bool) {
	switch {
	case by.effect == Ask:
		return confirm.Verdict{Feedback: by.reason()}, false
	case len(rules.withheld()) > 0:
		return confirm.Verdict{Feedback: "You are asked because a rule denies or asks about reading certain files, and what a command reads is not compared with it."}, false
	}
	v := approve(OnlyReads)
	v.Guarded = true
	return v, true
}

// decideUnconfined leaves it to a person whether a command leaves the sandbox: no grant
// and no mode approves that.
func decideUnconfined(req confirm.Request, mode Mode) (confirm.Verdict, bool) {
	if mode == Plan {
		return declineInPlan(req), true
	}
	return confirm.Verdict{}, false
}

// Withholds reports whether a rule denies or asks about reading a certain file. name is
// relative to the workspace or absolute, abs is the resolved path.
func (p *Policy) Withholds(name, abs string) bool {
	return p.Rules().withheld().file(reads, file{name, abs}).effect > Allow
}

// Proposals returns the rules that ProposeRules returns for req if, with the rules in
// force, they would allow it: not if a stricter rule counts.
func (p *Policy) Proposals(req confirm.Request) []Rule {
	all := ProposeRules(req)
	if slices.Concat(p.Rules(), all).answer(req).effect != Allow {
		return nil
	}
	return all
}

// decideRuled approves a command that a rule allows, unless it runs a file that was
// changed in this session without being shown, or may do so.
func (p *Policy) decideRuled(req confirm.Request, r Rule) (confirm.Verdict, bool) {
	runs, err := footprintOf(req.Command.Line, req.Command.Dir)
	p.mu.Lock()
	defer p.mu.Unlock()
	why := ""
	if err != nil && len(p.unseen) > 0 {
		why = err.Error() + ", and files were changed without being shown"
	}
	if err == nil {
		defer runs.close()
		for _, path := range runs.order {
			if p.unseen[path] {
				why = runs.short(path) + " was changed without being shown"
				break
			}
		}
	}
	if why != "" {
		return confirm.Verdict{Feedback: "The " + r.by() + " allows this command; you are asked because " + why + "."}, false
	}
	return approve(r.by()), true
}

// decide is Decide without the commands that a grant or a rule allows.
func (p *Policy) decide(req confirm.Request, by answer, mode Mode) (v confirm.Verdict, decided bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := grantFor(req)
	switch {
	case mode == Bypass:
		v, decided = approve("bypass mode"), true
	case mode == Plan && req.Read == nil:
		return declineInPlan(req), true
	case req.Force:
		return confirm.Verdict{}, false
	case by.effect == Ask:
		return confirm.Verdict{Feedback: by.reason()}, false
	case by.effect == Allow && req.Command == nil:
		v, decided = approve(by.rule.by()), true
	case mode == AcceptEdits && req.Change != nil && !req.Change.Delete:
		v, decided = approve("accept-edits mode"), true
	case ok && req.Command == nil && p.find(g) >= 0:
		v, decided = approve("granted for this session"), true
	}
	if decided {
		p.unshown(req)
	}
	return v, decided
}

// unshown notes that the files of req are changed without being shown.
func (p *Policy) unshown(req confirm.Request) {
	switch {
	case req.Change != nil:
		p.unseen[req.Change.Path] = true
		p.lapseCommands(req.Change.Name + " was changed without being shown")
	case req.Plan != nil:
		for _, c := range req.Plan.Changes {
			p.unseen[c.Path] = true
		}
		p.lapseCommands("files were changed without being shown")
	}
}

// decideCommand approves a granted command that still runs the same.
func (p *Policy) decideCommand(req confirm.Request) (confirm.Verdict, bool) {
	g, ok := grantFor(req)
	if !ok {
		return confirm.Verdict{}, false
	}
	p.mu.Lock()
	why, i := p.lapsed[g], p.find(g)
	var was *footprint
	if i >= 0 {
		was = p.grants[i].runs
	}
	p.mu.Unlock()
	if was == nil {
		return confirm.Verdict{Feedback: why}, false
	}
	now, err := footprintOf(g.Line, g.Dir) // without the lock: it reads files
	if err != nil {
		why = err.Error()
	} else {
		why = was.changes(now)
		now.close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i = p.find(g)
	switch {
	case i < 0 || p.grants[i].runs != was: // revoked meanwhile
		return confirm.Verdict{Feedback: p.lapsed[g]}, false
	case why == "":
		return approve("granted for this session"), true
	}
	p.drop(i)
	p.lapsed[g] = askedAgain + why + "."
	return confirm.Verdict{Feedback: p.lapsed[g]}, false
}

// askedAgain begins the note on a command whose grant lapsed.
const askedAgain = "You allowed this command for the session; you are asked again because "

// lapseCommands ends all grants for commands: they may run something else now.
func (p *Policy) lapseCommands(why string) {
	for i := len(p.grants) - 1; i >= 0; i-- {
		if g := p.grants[i].Grant; g.Line != "" {
			p.drop(i)
			p.lapsed[g] = askedAgain + why + "."
		}
	}
}

func (p *Policy) find(g Grant) int {
	return slices.IndexFunc(p.grants, func(have heldGrant) bool { return have.Grant == g })
}

func (p *Policy) drop(i int) {
	if r := p.grants[i].runs; r != nil {
		r.close()
	}
	p.grants = slices.Delete(p.grants, i, i+1)
}

// Grant implements confirm.Policy. It ignores requests that force a review or remove a
// file, and commands whose line does not reveal their footprint.
func (p *Policy) Grant(req confirm.Request) {
	g, ok := grantFor(req)
	if !ok {
		return
	}
	var now *footprint
	var err error
	if g.Line != "" {
		now, err = footprintOf(g.Line, g.Dir)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lapsed, g)
	if i := p.find(g); i >= 0 {
		p.drop(i)
	}
	if err != nil {
		p.lapsed[g] = "You allowed this command for the session, but you are asked each time: " + err.Error() + "."
		return
	}
	p.grants = append(p.grants, heldGrant{g, now})
}

// Grants returns the current grants, oldest first.
func (p *Policy) Grants() []Grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Grant
	for _, g := range p.grants {
		out = append(out, g.Grant)
	}
	return out
}

// Rules returns the rules in force, which must not be changed.
func (p *Policy) Rules() Rules {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rules
}

// AddRule puts a rule in force.
func (p *Policy) AddRule(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(slices.Clone(p.rules), r) // callers of Rules may read the old ones
}

// Revoke removes a grant and reports whether there was one.
func (p *Policy) Revoke(g Grant) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(g)
	if i < 0 {
		return false
	}
	p.drop(i)
	return true
}

// Forget removes all grants, at the end of a session.
func (p *Policy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.grants) > 0 {
		p.drop(len(p.grants) - 1)
	}
	clear(p.lapsed)
}

// Grant is the scope of a "yes for this session". Fields that do not belong to the kind
// of request are empty.
type Grant struct {
	Edits      bool   // edits by all tools
	Line, Dir  string // this command line in this folder
	Background bool
	Path       string // reads of this file
}

// String describes the scope of g. It is not sanitised.
func (g Grant) String() string {
	switch {
	case g.Edits:
		return "edits"
	case g.Path != "":
		return "reading " + g.Path
	case g.Background:
		return fmt.Sprintf("the command %q in the background, in %s", g.Line, g.Dir)
	}
	return fmt.Sprintf("the command %q in %s", g.Line, g.Dir)
}

// grantFor returns the grant that would cover req; ok is false if none could.
func grantFor(req confirm.Request) (g Grant, ok bool) {
	switch {
	case req.Force:
		return Grant{}, false
	case req.Change != nil:
		return Grant{Edits: true}, req.Tool != "" && !req.Change.Delete
	case req.Command != nil:
		c := req.Command
		return Grant{Line: c.Line, Dir: c.Dir, Background: c.Background}, c.Line != "" && !c.Unconfined
	case req.Read != nil:
		return Grant{Path: req.Read.Path}, req.Read.Path != ""
	}
	return Grant{}, false
}

// OnlyReads is the rule for commands that only read.
const OnlyReads = "safe: only reads"

func approve(rule string) confirm.Verdict {
	return confirm.Verdict{Decision: confirm.Approve, By: rule, Rule: true}
}

// declineInPlan lets the model go on planning: the turn does not stop.
func declineInPlan(req confirm.Request) confirm.Verdict {
	what := "No command is run, except those that only read,"
	if req.Change != nil || req.Plan != nil || req.Save != nil {
		what = "No file is changed"
	}
	return confirm.Verdict{By: "plan mode", Rule: true, Feedback: "plan mode: " + what +
		" until the user leaves it. You can still read; describe what you would do."}
}

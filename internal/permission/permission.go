// Package permission is the policy of the confirmation controller: which requests the
// mode of the session and the user's earlier answers decide without asking again. It
// guarantees that only the bypass mode approves a request that forces a review, and no mode
// one that a hook wants a person to look at, that the plan mode changes nothing and runs only
// commands that only read, and that a rule which a person made with an answer covers only
// requests that its shown words cover, and commands only as long as they run the same
// programs and scripts.
package permission

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/footprint"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// errBypass is returned for entering the bypass mode later.
var errBypass = errors.New("bypass mode can only be turned on at the start: agent --permission-mode bypass")

// Policy implements confirm.Policy. It is safe for concurrent use.
type Policy struct {
	bypass bool // started in Bypass
	now    func() time.Time

	mu       sync.Mutex
	mode     Mode
	rules    Rules                     // in force; never changed in place
	made     int                       // rules made by answers so far
	ran      map[int]*footprint.Record // what commands ran, by Rule.id
	defined  map[int]map[string]string // descriptions of tools, by Rule.id and tool
	lapsed   []lapse                   // rules that were made by answers and have ended
	approved footprint.Contents
	unseen   map[string]int // files that were changed without being shown: the number of the change by path
	changed  int            // changes without being shown so far
	watched  []*Watched     // lines that run by themselves
}

// New returns a policy in the given mode with the given rules. Bypass can be entered later
// only if the policy starts in it.
func New(mode Mode, rules ...Rule) *Policy {
	return &Policy{bypass: mode == Bypass, now: time.Now, mode: mode, rules: rules, ran: map[int]*footprint.Record{}, defined: map[int]map[string]string{}, approved: footprint.Contents{}, unseen: map[string]int{}}
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

// Decide implements confirm.Policy. Verdict.By names the rule. If a rule that a person made
// with an answer has ended, the Feedback of the undecided verdict explains why.
func (p *Policy) Decide(req confirm.Request) (confirm.Verdict, bool) {
	switch s := req.Subject.(type) {
	case *confirm.Limit, *confirm.Document, *confirm.Choice:
		return confirm.Verdict{}, false // in every mode: a person decides
	case *confirm.Command:
		if s.Trial {
			return p.judgeTrial(req, s)
		}
	default:
	}
	return p.judge(req)
}

// judge is Decide for tools.
func (p *Policy) judge(req confirm.Request) (confirm.Verdict, bool) {
	mode, rules := p.Mode(), p.Rules()
	c, runs := req.Subject.(*confirm.Command)
	by := rules.answer(req)
	if v, refused := by.refuse(mode); refused {
		return v, true
	}
	withheld := "" // why a command that only reads asks
	switch {
	case runs && c.Unconfined:
		return decideUnconfined(req, mode)
	case runs && c.ReadOnly && !req.Force && mode != Bypass:
		v, decided := decideReadOnly(by, rules)
		if decided || mode == Plan {
			return v, decided // in plan mode, no rule or grant runs it unguarded
		}
		withheld = v.Feedback
	}
	v, decided := p.decide(req, by, mode)
	switch {
	case decided || req.Force || by.effect == Ask:
		return v, decided
	case by.effect == Allow && runs:
		return p.decideRuled(c, by)
	}
	return confirm.Verdict{Feedback: cmp.Or(p.whyAgain(req), withheld)}, false
}

// decideReadOnly approves a command that only reads. Its files are not compared with
// rules about reading.
func decideReadOnly(by answer, rules Rules) (confirm.Verdict, bool) {
	switch {
	case by.effect == Ask:
		return confirm.Verdict{Feedback: by.reason()}, false
	case len(rules.withheld()) > 0:
		return confirm.Verdict{Feedback: "You are asked because a rule denies or asks about reading certain files, and this command might read them."}, false
	}
	v := approve(OnlyReads)
	v.Guarded = true
	return v, true
}

// judgeTrial approves that a command runs in a copy first, unless a rule or the mode lets it run
// at once, or a person wants to be asked. A rule about reading a file that it names counts too.
func (p *Policy) judgeTrial(req confirm.Request, c *confirm.Command) (confirm.Verdict, bool) {
	mode, rules := p.Mode(), p.Rules()
	by := rules.answer(req)
	if v, refused := by.refuse(mode); refused {
		return v, true
	}
	names := func(part confirm.CommandPart) bool {
		return slices.ContainsFunc(part.Words, func(word string) bool {
			return rules.withheld().file(reads, file{word, filepath.Join(c.Dir, word)}).effect > Allow
		})
	}
	if req.Force || mode == Bypass || by.effect == Ask || by.hides > Allow || by.effect == Allow && mode != Plan || slices.ContainsFunc(c.Parts, names) {
		return confirm.Verdict{}, false
	}
	v := approve(InCopy)
	v.Trial = true
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

// Proposals returns the rules that req lacks (see Rules.Missing) if, with those in force, they
// would allow it: not if a stricter rule counts.
func (p *Policy) Proposals(req confirm.Request) []Rule {
	rules := p.Rules()
	all := rules.Missing(req)
	if slices.Concat(rules, all).answer(req).effect != Allow {
		return nil
	}
	return all
}

// decide is Decide without the commands that a rule allows.
func (p *Policy) decide(req confirm.Request, by answer, mode Mode) (v confirm.Verdict, decided bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, runs := req.Subject.(*confirm.Command)
	c := req.File()
	switch {
	case mode == Bypass && !req.Person:
		v, decided = approve("bypass mode"), true
	case mode == Plan && !reading(req.Subject):
		return declineInPlan(req), true
	case req.Force:
		return confirm.Verdict{}, false
	case by.effect == Ask:
		return confirm.Verdict{Feedback: by.reason()}, false
	case by.effect == Allow && !runs && p.use(req, by.allows):
		v, decided = approve(by.rule.by()), true
	case mode == AcceptEdits && c != nil && !c.Removes():
		v, decided = approve("accept-edits mode"), true
	}
	if decided {
		p.unshown(req)
	}
	return v, decided
}

// reading reports whether a subject changes nothing.
func reading(s confirm.Subject) bool {
	switch s.(type) {
	case *confirm.Read, *confirm.Fetch:
		return true
	default:
		return false
	}
}

// unshown notes that the files of req are changed without being shown.
func (p *Policy) unshown(req confirm.Request) {
	e, ok := req.Subject.(*confirm.Edits)
	if !ok {
		return
	}
	for _, c := range e.Changes {
		p.hide(c)
	}
	what := "files were"
	if e.One() {
		what = e.Changes[0].Name + " was"
	}
	p.endCommands(what + " changed without being shown")
}

// hide notes that the files of a change are changed without being shown.
func (p *Policy) hide(c workspace.Change) {
	p.changed++
	for _, path := range c.Paths() {
		p.unseen[path] = p.changed
	}
}

// Rules returns the rules in force, oldest first, which must not be changed.
func (p *Policy) Rules() Rules {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for _, r := range p.rules {
		if !r.Life.Until.IsZero() && !now.Before(r.Life.Until) {
			p.end(r, "its time is over")
		}
	}
	return p.rules
}

// Grants returns the rules that a person made for the session, oldest first.
func (p *Policy) Grants() Rules {
	return slices.DeleteFunc(slices.Clone(p.Rules()), func(r Rule) bool { return r.Kept != InSession })
}

// AddRule puts a rule in force, in place of an equal one.
func (p *Policy) AddRule(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(r)
	p.add(r, nil)
}

// The rules for commands that change nothing.
const (
	OnlyReads = "safe: read-only"
	InCopy    = "trial: in a copy of the folder"
)

func approve(rule string) confirm.Verdict {
	return confirm.Verdict{Decision: confirm.Approve, By: rule, Rule: true}
}

// declineInPlan lets the model go on planning: the turn does not stop.
func declineInPlan(req confirm.Request) confirm.Verdict {
	what := "Only read-only commands run,"
	switch req.Subject.(type) {
	case *confirm.Call:
		what = "No tool of an MCP server is called"
	case *confirm.Edits, *confirm.Save:
		what = "No file is changed"
	default:
	}
	return confirm.Verdict{By: "plan mode", Rule: true, Feedback: "plan mode: " + what +
		" until the user leaves it. You can still read; describe what you would do."}
}

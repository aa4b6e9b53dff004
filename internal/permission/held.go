package permission

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/footprint"
)

// Kept is the place where a rule is kept.
type Kept int

// The places.
const (
	Written   Kept = iota // a file of settings or a flag
	OwnFile               // the user's own file about this folder
	InSession             // only the memory of this session
)

// Life is how long a rule of a session counts. The zero value is until the session ends.
type Life struct {
	Uses  int       // left; 0 is any number
	Until time.Time // zero for any time
}

// String describes the rest of l.
func (l Life) String() string {
	switch {
	case l.Uses == 1:
		return "1 more time"
	case l.Uses > 1:
		return fmt.Sprintf("%d more times", l.Uses)
	case !l.Until.IsZero():
		return "until " + l.Until.Format("15:04")
	}
	return "this session"
}

// only is the one request that a rule covers if a person made it without words of their
// own. It is zero for the other rules.
type only struct {
	line       string // of a command in Rule.Dir
	background bool
	path       string // of a file to read, absolute
}

// lapse is a rule that has ended, and why.
type lapse struct {
	rule Rule
	why  string
}

// note explains to a person why a request that the rule covers is asked about.
func (l lapse) note() string {
	what := l.rule.String()
	if l.rule.only.line != "" {
		what = "this command"
	}
	return "You allowed " + what + " for the session; you are asked again because " + l.why + "."
}

// Grant implements confirm.Policy: it makes a rule for exactly req, or for all edits, until
// the session ends. It ignores requests that force a review or remove a file.
func (p *Policy) Grant(req confirm.Request) {
	r, ok := grantFor(req)
	if !ok {
		return
	}
	if err := p.Hold(req, r); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.forget(r)
		p.lapsed = append(p.lapsed, lapse{r, err.Error()})
	}
}

// Granted returns the rule in force that Grant made for req; ok is false without one.
func (p *Policy) Granted(req confirm.Request) (r Rule, ok bool) {
	if r, ok = grantFor(req); !ok {
		return r, false
	}
	return r, slices.ContainsFunc(p.Rules(), r.same)
}

// grantFor returns the rule for exactly req; ok is false if none may cover it.
func grantFor(req confirm.Request) (r Rule, ok bool) {
	r = Rule{Effect: Allow, Kept: InSession, Source: "your answer"}
	if req.Force {
		return r, false
	}
	switch s := req.Subject.(type) {
	case *confirm.Edits:
		r.kind = edits
		return r, req.Tool != "" && !req.Once()
	case *confirm.Command:
		r.kind, r.Dir, r.only = runs, s.Dir, only{line: s.Line, background: s.Background}
		return r, s.Line != "" && !s.Unconfined
	case *confirm.Call:
		r.kind, r.tool = calls, req.Tool
		return r, true
	case *confirm.Fetch:
		r.kind, r.host = fetches, s.Host
		return r, s.Host != ""
	case *confirm.Read:
		return Reading(s.Path), s.Path != ""
	default:
		return r, false
	}
}

// Reading returns the rule of a session for reading one file.
func Reading(path string) Rule {
	return Rule{Effect: Allow, Kept: InSession, Source: "your answer", kind: reads, only: only{path: path}}
}

// Hold puts a rule in force that a person made with the answer to req, for r.Life. It
// replaces an equal one. It fails if the footprint of a command is not known: a rule for the
// session ends when that changes.
func (p *Policy) Hold(req confirm.Request, r Rule) error {
	var h *footprint.Record
	if c, ok := req.Subject.(*confirm.Command); ok {
		what := footprint.Command{Line: withoutData(c), Dir: c.Dir}
		now := footprint.Of(what)
		if err := now.Unknown(); err != nil {
			now.Close()
			return err
		}
		h = footprint.NewRecord(what, now, footprint.Sources)
	}
	r.Kept = InSession
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(r)
	p.add(r, h)
	if c, ok := req.Subject.(*confirm.Call); ok {
		p.defined[p.made] = map[string]string{req.Tool: c.Definition}
	}
	return nil
}

// redefined ends the rules of the session among allows that were made for a call of the tool when
// its server said something else about it, and reports whether there was one.
func (p *Policy) redefined(req confirm.Request, allows []Rule) (ended bool) {
	c, ok := req.Subject.(*confirm.Call)
	if !ok {
		return false
	}
	for _, r := range allows {
		known := p.defined[r.id]
		if known == nil {
			continue // a rule of a file is for whatever the server offers
		}
		if was, ok := known[req.Tool]; ok && was != c.Definition {
			p.end(r, "the server "+c.Server+" describes the tool differently now")
			ended = true
		}
		known[req.Tool] = c.Definition
	}
	return ended
}

// add puts r in force; h is what its command ran, nil if that may change.
func (p *Policy) add(r Rule, h *footprint.Record) {
	if r.Kept == InSession {
		p.made++
		r.id = p.made
	}
	if h != nil {
		p.ran[r.id] = h
	}
	p.rules = append(slices.Clone(p.rules), r) // callers of Rules may read the old ones
}

// same reports whether two rules differ at most in the rest of their lives.
func (r Rule) same(other Rule) bool {
	return r.Effect == other.Effect && r.Kept == other.Kept && r.Dir == other.Dir && r.only == other.only && r.String() == other.String()
}

// drop takes a rule out of force and reports whether it was.
func (p *Policy) drop(r Rule) bool {
	i := slices.IndexFunc(p.rules, r.same)
	if i < 0 {
		return false
	}
	id := p.rules[i].id
	if h := p.ran[id]; h != nil {
		h.Close()
		delete(p.ran, id)
	}
	delete(p.defined, id)
	p.rules = slices.Delete(slices.Clone(p.rules), i, i+1)
	return true
}

// forget drops a rule, and why it has ended.
func (p *Policy) forget(r Rule) {
	p.drop(r)
	p.lapsed = slices.DeleteFunc(p.lapsed, func(l lapse) bool { return l.rule.same(r) })
}

// end drops a rule and notes why.
func (p *Policy) end(r Rule, why string) {
	if p.drop(r) {
		p.lapsed = append(p.lapsed, lapse{r, why})
	}
}

// Approved notes the contents that a person approved, so that no rule ends because of them.
// It ignores the answers of rules.
func (p *Policy) Approved(req confirm.Request, v confirm.Verdict) {
	if v.Decision != confirm.Approve || v.Rule {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range req.Final(v) {
		was, is := "", footprint.Hash([]byte(c.After)) // other than that of the file unless it is in UTF-8
		if c.Exists {
			was = hex.EncodeToString(c.Hash[:])
		}
		if c.RawAfter != nil {
			is = footprint.Hash(c.RawAfter)
		}
		if c.Moves() {
			p.approve(c.To, "", is)
		}
		if c.Removes() {
			is = ""
		}
		p.approve(c.Path, was, is)
	}
}

// approve notes a change of a file that a person approved, which is not written yet.
func (p *Policy) approve(path, before, after string) {
	p.approved.Add(path, before, after)
	for _, h := range p.records() {
		h.Approving(path, before, after)
	}
}

// endCommands ends the rules for exactly one command: it may do something else now.
func (p *Policy) endCommands(why string) {
	for _, r := range p.rules {
		if r.only.line != "" {
			p.end(r, why)
		}
	}
}

// whyAgain explains why req is asked about if a rule that covered it has ended.
func (p *Policy) whyAgain(req confirm.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range slices.Backward(p.lapsed) {
		if (Rules{l.rule}).answer(req).effect == Allow {
			return l.note()
		}
	}
	return ""
}

// use is spend, unless a server redefined the tool of req.
func (p *Policy) use(req confirm.Request, allows []Rule) bool {
	return !p.redefined(req, allows) && p.spend(allows)
}

// spend uses the rules that allow a request, and reports whether all are still in force.
func (p *Policy) spend(allows []Rule) bool {
	for _, r := range allows {
		if !slices.ContainsFunc(p.rules, func(have Rule) bool { return have.id == r.id && have.same(r) }) {
			return false
		}
	}
	rules := slices.Clone(p.rules)
	var ended []Rule
	for i, r := range rules {
		if r.Life.Uses == 0 || !slices.ContainsFunc(allows, func(a Rule) bool { return a.id == r.id }) {
			continue
		}
		if rules[i].Life.Uses--; rules[i].Life.Uses == 0 {
			ended = append(ended, r)
		}
	}
	p.rules = rules
	for _, r := range ended {
		p.end(r, "it is used up")
	}
	return true
}

// Revoke takes back a rule that the user made, and reports whether it was in force.
func (p *Policy) Revoke(r Rule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.Kept != Written && p.drop(r)
}

// Forget removes the rules of the session, at its end.
func (p *Policy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		if r.Kept == InSession {
			p.drop(r)
		}
	}
	p.lapsed = nil
}

// decideRuled approves a command that rules allow, unless it runs something else than when
// a person made them, or a file that was changed in this session without being shown.
func (p *Policy) decideRuled(c *confirm.Command, by answer) (confirm.Verdict, bool) {
	what := footprint.Command{Line: withoutData(c), Dir: c.Dir}
	now := footprint.Of(what) // without the lock: it reads files
	defer now.Close()
	held := p.heldBy(by.allows)
	first := map[int]*footprint.Footprint{} // of the lines that the rules were made for
	for id, h := range held {
		first[id] = now
		if h.Command.Line != what.Line {
			first[id] = footprint.Of(h.Command)
			defer first[id].Close()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range by.allows {
		h := held[r.id]
		why := p.whyNot(now, first[r.id], h)
		switch {
		case why == "":
		case h != nil && now.Unknown() == nil:
			p.end(r, why)
			return confirm.Verdict{Feedback: lapse{r, why}.note()}, false
		default:
			return confirm.Verdict{Feedback: "The " + r.by() + " allows this command; you are asked because " + why + "."}, false
		}
	}
	if !p.spend(by.allows) { // revoked meanwhile
		return confirm.Verdict{}, false
	}
	for _, h := range held {
		h.Add(now)
	}
	return approve(by.rule.by()), true
}

// whyNot explains why a rule must not allow a command with the footprint now; "" if it may. h is
// nil for a rule that a person wrote: it is meant for sources of any content.
func (p *Policy) whyNot(now, first *footprint.Footprint, h *footprint.Record) string {
	whole := footprint.Anything
	if h != nil {
		whole = footprint.Sources
		if err := now.Unknown(); err != nil {
			return err.Error()
		}
		if err := first.Unknown(); err != nil {
			return err.Error()
		}
	}
	if why := p.unseenIn(now, whole, 0); why != "" {
		return why
	}
	if h == nil {
		return ""
	}
	return h.Differs(now, first, p.approved)
}

// heldBy returns what commands ran under the given rules, by Rule.id.
func (p *Policy) heldBy(rules []Rule) map[int]*footprint.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := map[int]*footprint.Record{}
	for _, r := range rules {
		if h := p.ran[r.id]; h != nil {
			held[r.id] = h
		}
	}
	return held
}

// unseenIn explains which file that a command runs was changed without being shown, or
// that it may run one, as it reaches at least as far as whole. Only changes after the first since
// ones count.
func (p *Policy) unseenIn(now *footprint.Footprint, whole footprint.Reach, since int) string {
	if err := now.Unknown(); err != nil && p.changed > since {
		return err.Error() + ", and files were changed without being shown"
	}
	for _, path := range now.Files() {
		if p.unseen[path] > since {
			return now.Short(path) + " was changed without being shown"
		}
	}
	reach, program := now.Reach()
	if reach < whole {
		return ""
	}
	for _, path := range slices.Sorted(maps.Keys(p.unseen)) {
		if now.Holds(path) && p.unseen[path] > since {
			return now.Short(path) + " was changed without being shown, and " + program + " may run it"
		}
	}
	return ""
}

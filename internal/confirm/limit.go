package confirm

import "github.com/bb2d0cf4/agent/internal/sanitize"

// Limit asks whether to go on at a limit: an approval allows one more request, one for the
// session raises the limit. No rule and no mode approves it.
type Limit struct {
	Reached string // the limit and the consumption, for people
	Step    string // the amount that the limit is raised by, for people
}

func (l *Limit) facts(Request) Facts {
	return Facts{Title: sanitize.Line(l.Reached) + ". Continue?", Line: sanitize.Line(l.Reached), Kind: "limit", About: l.Reached}
}

func (*Limit) fits(v Verdict) error { return v.bare() }

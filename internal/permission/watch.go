package permission

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/footprint"
)

// Watched is a line that runs unprompted, such as a hook: a person allowed it with the files that it ran. It
// is safe for concurrent use.
type Watched struct {
	policy *Policy
	what   footprint.Command
	whole  footprint.Reach
	why    string // why nothing is allowed yet; "" if it is. Guarded by policy.mu, as are the following.
	yes    allowed
	asked  allowed // the state that a person is asked about
}

// allowed is the state of the files that a line ran at a time.
type allowed struct {
	record *footprint.Record // nil if none
	since  int               // the number of the last change without being shown until then
}

// Watch notes that a person allows a line with the present files; if why is not empty, they do not,
// for that reason. If the line has at least the reach whole, its folder counts, too.
func (p *Policy) Watch(what footprint.Command, whole footprint.Reach, why string) *Watched {
	w := &Watched{policy: p, what: what, whole: whole, why: why}
	w.yes = w.look()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = append(p.watched, w)
	return w
}

// look returns the present state.
func (w *Watched) look() allowed {
	w.policy.mu.Lock()
	since := w.policy.changed
	w.policy.mu.Unlock()
	return allowed{footprint.NewRecord(w.what, footprint.Of(w.what), w.whole), since}
}

// Changed explains why the line may run something else than a person allowed; "" if it does not.
func (w *Watched) Changed() string {
	now := w.look()
	p := w.policy
	p.mu.Lock()
	defer p.mu.Unlock()
	why := w.why
	if why == "" {
		why = p.unseenIn(now.record.First(), w.whole, w.yes.since)
	}
	if why == "" {
		why = w.yes.record.Differs(now.record.First(), now.record.First(), p.approved)
	}
	if why == "" {
		now.record.Close()
		return ""
	}
	if w.asked.record != nil {
		w.asked.record.Close()
	}
	w.asked = now
	return why
}

// Accept notes that a person allows the line with the files of the last call of Changed.
func (w *Watched) Accept() {
	w.policy.mu.Lock()
	defer w.policy.mu.Unlock()
	if w.asked.record != nil {
		w.yes.record.Close()
		w.yes, w.asked, w.why = w.asked, allowed{}, ""
	}
}

// Ran notes that the line has run: its own changes, such as those of a formatter, are no reason to
// ask.
func (w *Watched) Ran() {
	now := w.look()
	w.policy.mu.Lock()
	defer w.policy.mu.Unlock()
	w.yes.record.Close()
	w.yes.record = now.record
}

// records returns the records of the commands of rules and of the watched lines.
func (p *Policy) records() []*footprint.Record {
	var all []*footprint.Record
	for _, h := range p.ran {
		all = append(all, h)
	}
	for _, w := range p.watched {
		all = append(all, w.yes.record)
		if w.asked.record != nil {
			all = append(all, w.asked.record)
		}
	}
	return slices.Clip(all)
}

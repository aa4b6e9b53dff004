package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Review is the name under which changes that were gathered are asked about and
// written.
const Review = "review"

// gathers reports whether a person is asked about the changes later.
func (r *review) gathers(edits *confirm.Edits) bool {
	return r.Pending != nil && !r.lists() && !r.Hides(edits.Changes[0].Path)
}

// stage adds an edit to the pending changes, with the notes that v has besides those of req.
func (r *review) stage(req confirm.Request, v confirm.Verdict) *toolcall.Result {
	change := *req.File()
	r.Pending.Stage(change, r.edit.Stage, r.call.ID)
	if later := v.Later; later != nil {
		added := slices.DeleteFunc(slices.Clone(later.Notes), func(n caution.Note) bool { return slices.Contains(req.Notes, n) })
		r.Pending.Mark(change.Path, added, later.Force, later.Person)
	}
	fc := toolcall.Changed(change)
	said := fc.Counts()
	res := &toolcall.Result{
		ForModel: fmt.Sprintf("%s is %s, pending the user's review of all changes at the end of the turn: %d added, %d removed (lines). "+
			"You see it so in all tools but commands. It is on disk only once you are told that the user approved it.%s", change.Label(), verbOf(change), fc.Added, fc.Removed, matched(r.edit.Stage)),
		ForUser: said + " · waits for your review",
		Record:  toolcall.Record{Result: said + ", pending the review of the turn"},
	}
	return res
}

// verbOf describes what happens to the file of a change.
func verbOf(c workspace.Change) string {
	switch {
	case c.Moves():
		return "moved"
	case c.Delete:
		return "deleted"
	}
	return "changed"
}

// Settle asks about all pending changes in one review and writes the approved ones
// together: all or none. It returns nil without any. After an answer with words the
// refused changes stay pending, for the model to go on from; otherwise they are dropped.
func (d Deps) Settle(ctx context.Context, call toolcall.Call, title string) (*toolcall.Result, error) {
	if d.Pending.Len() == 0 {
		return nil, nil
	}
	r := review{Writer: Writer{Deps: d, Tool: Review}, call: call, title: title, set: d.Pending}
	res, err := r.run(ctx)
	if d.Settled != nil && err == nil && res != nil && len(res.Changes) > 0 {
		d.Settled(ctx, call, res)
	}
	return res, err
}

// First settles the pending changes before a call that sees only the disk, and makes the call
// unless that forbids it.
func (d Deps) First(ctx context.Context, call toolcall.Call, do func() (toolcall.Result, error)) (toolcall.Result, error) {
	return d.settleFirst(ctx, call, true, do)
}

// settleFirst is First if the call needs that.
func (d Deps) settleFirst(ctx context.Context, call toolcall.Call, needed bool, do func() (toolcall.Result, error)) (toolcall.Result, error) {
	var settled *toolcall.Result
	if needed && d.Pending != nil {
		var err error
		if settled, err = d.settleOnce(ctx, call); err != nil {
			return toolcall.Result{}, err
		}
	}
	switch {
	case !settled.Forbids():
	case settled.Failed:
		settled.ForModel += "\nSo this call was not carried out: it sees only what is on the disk."
		return *settled, nil
	default:
		settled.ForModel += "\nSo this call was not carried out."
		return *settled, nil
	}
	res, err := do()
	res.After(settled)
	return res, err
}

// settleOnce is Settle for calls that run at the same time, as tasks do.
func (d Deps) settleOnce(ctx context.Context, call toolcall.Call) (*toolcall.Result, error) {
	defer d.Pending.Settling()()
	return d.Settle(ctx, call, "The next step needs these changes saved first")
}

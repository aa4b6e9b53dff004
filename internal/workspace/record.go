package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"iter"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// Effect is a change that a command made.
type Effect struct {
	Path          string // absolute, symlinks resolved
	Name          string // for people
	Before, After State
	Content       []byte // of Before
	// ContentAfter is that of After if an undo may have to be merged with later changes, else
	// nil.
	ContentAfter []byte
	// Unkept is the reason why the content before or after is unknown.
	Unkept string
}

// entry returns the entry of the journal for e.
func (e Effect) entry(by Origin) *journal.Entry {
	out := &journal.Entry{
		Origin: by, Path: e.Path, Name: e.Name, Before: e.Before.Hash, After: e.After.Hash,
		Mode: e.Before.Mode, ModeAfter: &e.After.Mode, Unkept: e.Unkept,
	}
	switch {
	case e.Before.Exists():
	case e.After.Exists():
		out.Mode = e.After.Mode
	default: // the undo of changes without an effect, which has no mode
		out.ModeAfter = nil
	}
	return out
}

// Record writes changes that were made already to the undo journal, durably.
func (r *Root) Record(effects iter.Seq[Effect], by Origin) error {
	if r.journal == nil {
		return errors.New("this workspace was opened without an undo journal")
	}
	r.committing.Lock()
	defer r.committing.Unlock()
	found := false
	for e := range effects {
		found = true
		if err := r.record(e, by); err != nil {
			return fmt.Errorf("the undo journal: %w", err)
		}
	}
	if !found {
		return nil
	}
	return r.journal.Sync()
}

// sawEffect notes the texts before and after e for a host that still shows them.
func (r *Root) sawEffect(e Effect) {
	if r.host.Buffer == nil {
		return
	}
	if e.Before.Exists() && e.Unkept == "" {
		r.saw(e.Path, e.Content)
	}
	if e.After.Exists() {
		r.past.add(e.Path, *e.After.Hash) // its text may be unknown
	}
}

func (r *Root) record(e Effect, by Origin) error {
	r.sawEffect(e)
	entry := e.entry(by)
	if err := r.begin(entry, e.Content, e.ContentAfter); err != nil {
		return err
	}
	return r.journal.End(entry, true)
}

// begin writes the contents before and after a change, if that is not nil, and the entry to the
// journal, not yet durably.
func (r *Root) begin(e *journal.Entry, before, after []byte) error {
	if err := r.at(stepBlob); err != nil {
		return err
	}
	if e.Before != nil && e.Unkept == "" {
		if err := r.journal.Keep(*e.Before, before); err != nil {
			return err
		}
		if e.After != nil && after != nil {
			if err := r.journal.KeepAfter(*e.After, after); err != nil {
				return err
			}
		}
	}
	if err := r.at(stepJournal); err != nil {
		return err
	}
	return r.journal.Begin(e)
}

// tempName returns a unique name that recovery recognizes.
func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

const (
	tempPrefix = ".agent-"
	tempSuffix = ".tmp"
)

package undo

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// With returns p with other texts for the files at these indexes of Changes: the person
// takes back only a part of their changes. The rest stays in effect.
func (p Plan) With(texts map[int]string) (Plan, error) {
	out := p.Without(nil)
	for i, after := range texts {
		if i < 0 || i >= len(out.Changes) {
			return Plan{}, errors.New("the answer is about another plan")
		}
		c, s := out.Changes[i], out.steps[i]
		now, _, err := p.root.Raw(c.Path)
		switch {
		case err != nil || now.Hash != c.Hash:
			return Plan{}, fmt.Errorf("%s: %w", c.Name, errors.Join(errChangedSince, err))
		case !c.Editable() || !c.Exists:
			return Plan{}, fmt.Errorf("%s can only be undone as a whole", c.Name)
		}
		c.After, c.Mode = after, now.Mode
		s.part, c.States = true, nil
		if err := s.aim(c); err != nil {
			return Plan{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		out.Changes[i], out.steps[i] = c, s
	}
	return out, nil
}

// aim makes the text of c the content to restore.
func (s *step) aim(c workspace.Change) error {
	data, err := text.Encode(c.After, c.Format)
	if err != nil {
		return err
	}
	sum := workspace.Hash(sha256.Sum256(data))
	s.target = &sum
	return nil
}

// errOverlaps is the reason why no hunk of a change can be taken back.
const errOverlaps stale = "its lines were changed since"

// beside plans to undo c in a file that was changed after it, and keeps the later changes.
// With hunks set it leaves out the hunks that they conflict with. why is the reason why c
// cannot be undone as a whole.
func (p *Plan) beside(l *Log, c chain, why error, hunks bool) (workspace.Change, step, error) {
	last := c[len(c)-1]
	s := step{session: c[0].Session, undoes: c.ids()}
	file, now, err := l.root.Raw(last.Path)
	if err != nil || !file.Exists || !c.ofFile() || !c.whole() || !hunks && !c.keepsMode() {
		return workspace.Change{}, s, errors.Join(why, err)
	}
	after, err := l.base(last)
	if err != nil {
		return workspace.Change{}, s, why
	}
	change := workspace.Change{File: file}
	change.Name = last.Name
	m, err := c.takeBack(&change, now, after)
	switch {
	case err != nil:
		return workspace.Change{}, s, err
	case m.kept > 0 && !hunks:
		return workspace.Change{}, s, m.conflict
	case change.After == change.Text:
		return workspace.Change{}, s, errOverlaps
	case m.kept > 0:
		p.Kept = append(p.Kept, fmt.Sprintf("%s: %d of its hunks cannot be undone, as their lines were changed since", last.Name, m.kept))
	default:
		p.Merged = append(p.Merged, last.Name)
	}
	s.part = m.kept > 0 || !c.keepsMode()
	return change, s, s.aim(change)
}

// MergeNotes explains for people which files of p are merged with later changes.
func (p Plan) MergeNotes() []string {
	var out []string
	for _, name := range p.Merged {
		out = append(out, name+" was changed since: this is merged with the later changes, which stay")
	}
	return out
}

// base returns the content after e for a merge.
func (l *Log) base(e journal.Past) ([]byte, error) {
	if data, err := e.ContentAfter(); err == nil {
		return data, nil
	}
	data, others, err := l.leftBy(e)
	if others {
		err = errors.Join(errChangedSince, err)
	}
	return data, err
}

// ids returns the ids of the entries.
func (c chain) ids() []string {
	var out []string
	for _, e := range c {
		out = append(out, e.ID)
	}
	return out
}

// whole reports whether nobody else changed the file between the entries.
func (c chain) whole() bool {
	for i := range c[1:] {
		if !same(c[i].After, c[i+1].Before) {
			return false
		}
	}
	return true
}

// ofFile reports whether a file was at the path before and after c.
func (c chain) ofFile() bool {
	first, last := c[0], c[len(c)-1]
	return first.Before != nil && last.After != nil && first.Mode.Type() == 0 && typeAfter(last) == 0
}

// takeBack sets the texts of change, whose file holds now, and held after once c was made.
func (c chain) takeBack(change *workspace.Change, now, after []byte) (m merged, err error) {
	before, err := c[0].Content()
	if err != nil {
		return m, err
	}
	var base, ours string
	if change.Format, change.Text, base, err = workspace.InOneFormat(now, after, formatOf(c[len(c)-1]), formatOf(c[0])); err != nil {
		return m, err
	}
	if ours, err = workspace.DecodeAs(before, change.Format); err != nil {
		return m, err
	}
	m.takeBack(base, ours, change.Text)
	change.After = m.text
	return m, nil
}

// merged is a text without changes that were made to it before later ones.
type merged struct {
	text     string
	kept     int      // hunks that conflict with later changes, and stay
	conflict conflict // the first one, if kept is not zero
}

// takeBack makes m the text now, which was made from base, with the changes from base to
// before where both can be.
func (m *merged) takeBack(base, before, now string) {
	all := diff.Merge(base, before, now)
	if m.text = all.Text; len(all.Conflicts) == 0 {
		return
	}
	m.conflict = conflict(all.Conflicts[0].Line)
	d := diff.Lines(base, before)
	m.text = now
	for i := range d.Edits {
		one := d.Compose(func(edit int) bool { return edit == i })
		if merge := diff.Merge(base, one, m.text); len(merge.Conflicts) == 0 {
			m.text = merge.Text
		} else {
			m.kept++
		}
	}
}

// conflict is a workspace.ErrStale: the number of a line that was changed since, of those
// that an undo would change.
type conflict int

func (c conflict) Error() string {
	return fmt.Sprintf("it was changed since, and the later change of line %d conflicts with this undo", int(c))
}

func (c conflict) Unwrap() error { return workspace.ErrStale }

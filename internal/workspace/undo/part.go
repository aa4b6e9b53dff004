package undo

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
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
		case c.Delete || !c.Exists || s.restore != nil && (s.restore.From.Mode.Type() != 0 || s.restore.To.Mode.Type() != 0):
			return Plan{}, fmt.Errorf("%s can only be taken back as a whole", c.Name)
		}
		c.After, c.Mode = after, now.Mode
		s.part, s.restore = true, nil
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
// It leaves out the hunks whose lines they changed. why is the reason why c cannot be
// undone as a whole.
func (p *Plan) beside(l *Log, c chain, why error) (workspace.Change, step, error) {
	last := c[len(c)-1]
	s := step{session: c[0].Session, part: true}
	for i, e := range c {
		if i > 0 && !same(c[i-1].After, e.Before) {
			return workspace.Change{}, s, why
		}
		s.undoes = append(s.undoes, e.ID)
	}
	file, now, err := l.root.Raw(last.Path)
	if err != nil || !file.Exists || !c.ofFile() {
		return workspace.Change{}, s, errors.Join(why, err)
	}
	after, others, err := l.leftBy(last)
	if err != nil || others {
		return workspace.Change{}, s, errors.Join(why, err)
	}
	change := workspace.Change{File: file}
	change.Name = last.Name
	kept, err := c.takeBack(&change, now, after)
	switch {
	case err != nil:
		return workspace.Change{}, s, err
	case change.After == change.Text:
		return workspace.Change{}, s, errOverlaps
	case kept > 0:
		p.Kept = append(p.Kept, fmt.Sprintf("%s: %d of its hunks cannot be taken back, as their lines were changed since", last.Name, kept))
	}
	return change, s, s.aim(change)
}

// ofFile reports whether a file was at the path before and after c.
func (c chain) ofFile() bool {
	first, last := c[0], c[len(c)-1]
	return first.Before != nil && last.After != nil && first.Mode.Type() == 0 && typeAfter(last) == 0
}

// takeBack sets the texts of change, whose file holds now, and held after once c was made.
// kept is the number of hunks that cannot be taken back.
func (c chain) takeBack(change *workspace.Change, now, after []byte) (kept int, err error) {
	before, err := c[0].Content()
	if err != nil {
		return 0, err
	}
	var base, ours string
	if change.Format, change.Text, base, err = decode(now, after, formatOf(c[len(c)-1]), formatOf(c[0])); err != nil {
		return 0, err
	}
	if ours, err = decodeOne(before, change.Format); err != nil {
		return 0, err
	}
	change.After, kept = takeBack(base, ours, change.Text)
	return kept, nil
}

// takeBack returns the text now, which was made from base, with the changes from base to
// before where both can be; kept is the number of hunks that cannot.
func takeBack(base, before, now string) (after string, kept int) {
	if m := diff.Merge(base, before, now); len(m.Conflicts) == 0 {
		return m.Text, 0
	}
	d := diff.Lines(base, before)
	after = now
	for i := range d.Edits {
		one := d.Compose(func(edit int) bool { return edit == i })
		if m := diff.Merge(base, one, after); len(m.Conflicts) == 0 {
			after = m.Text
		} else {
			kept++
		}
	}
	return after, kept
}

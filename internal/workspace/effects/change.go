package effects

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// change is a delta with the states before and after.
type change struct {
	delta
	table  *table
	effect workspace.Effect // without Content

	added, removed int // lines
}

// maxCounted is the number of bytes of a command's changes in which lines are counted, and
// whose texts after it are kept.
const maxCounted = 4 << 20

// examine finds the states of a change, and reports whether it is one: not if only a time
// differs, or the program itself wrote the file. It counts the lines of up to counted bytes, which it
// takes off, and keeps their text after the change.
func (t *Tracker) examine(c *change, counted *int64) bool {
	e := &c.effect
	e.Path = filepath.Join(c.table.abs, filepath.FromSlash(c.name))
	e.Name = c.name
	if c.table != t.tables[0] {
		e.Name = filepath.ToSlash(e.Path)
	}
	var before []byte
	now, after, err := t.root.Look(e.Path)
	e.After = now
	if err != nil {
		e.After = c.now.unknown()
		e.Unkept = "its new content is unknown: " + err.Error()
		if errors.Is(err, workspace.ErrTooLarge) {
			e.Unkept = fmt.Sprintf("it is larger than %d MB", maxFile>>20)
		}
	}
	if t.wroteItself(e.Path, e.After) {
		return false
	}
	if c.before != nil {
		if before, err = t.store.content(c.before); err != nil {
			e.Before, e.Unkept = c.before.unknown(), err.Error()
			return c.now == nil || c.now.stat != c.before.stat
		}
		e.Before = workspace.StateOf(c.before.mode, before)
	}
	if *counted -= int64(len(before) + len(after)); *counted > 0 && e.Unkept == "" {
		c.added, c.removed = diff.Count(string(before), string(after))
		if e.Before.Mode.IsRegular() && e.After.Mode.IsRegular() && e.Before.Exists() && bytes.IndexByte(after, 0) < 0 {
			e.ContentAfter = after
		}
	}
	return e.Unkept != "" || !e.Before.Equal(e.After)
}

// unknown returns the state of something whose content is unknown.
func (it *item) unknown() workspace.State {
	if it == nil {
		return workspace.State{}
	}
	return workspace.State{Mode: it.mode, Hash: new(workspace.Hash)}
}

// wroteItself reports whether the program itself left the path like this.
func (t *Tracker) wroteItself(abs string, now workspace.State) bool {
	t.ownMu.Lock()
	defer t.ownMu.Unlock()
	for _, wrote := range []map[string]workspace.State{t.before, t.own} {
		own, ok := wrote[abs]
		if ok && (own.Hash == nil) == (now.Hash == nil) && (own.Hash == nil || *own.Hash == *now.Hash) {
			return true
		}
	}
	return false
}

// content returns the content of an item.
func (s *store) content(it *item) ([]byte, error) {
	switch {
	case it.mode.IsDir():
		return nil, nil
	case it.kept.why != "":
		return nil, errors.New(it.kept.why)
	case !it.kept.kept:
		return nil, errors.New("its old content could not be read")
	}
	data, err := s.read(it.kept, it.size)
	if err != nil {
		return nil, fmt.Errorf("its old content was lost: %w", err)
	}
	return data, nil
}

// maxRecorded is the number of bytes that the journal takes for one command.
const maxRecorded = 100 << 20

// contents yields the effects with the contents before.
func (s *store) contents(all []change) iter.Seq[workspace.Effect] {
	return func(yield func(workspace.Effect) bool) {
		var size int64
		for _, c := range all {
			e := c.effect
			if e.Before.Exists() && e.Unkept == "" {
				size += c.before.size
				var err error
				if e.Content, err = s.content(c.before); err != nil {
					e.Unkept = err.Error()
				}
				if size > maxRecorded {
					e.Unkept = fmt.Sprintf("the command changed more than %d MB, so its old content was not kept", maxRecorded>>20)
				}
				if e.Unkept != "" {
					e.Content, e.ContentAfter, e.Before.Hash = nil, nil, new(workspace.Hash)
				}
			}
			if !yield(e) {
				return
			}
		}
	}
}

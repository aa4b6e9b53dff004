package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// UndoScope says what to undo.
type UndoScope int

// The scopes.
const (
	LastChange UndoScope = iota // the last change that is not undone
	LastTurn                    // all changes of the turn of the last change
	LastUndo                    // the last undo, if nothing was changed after it
)

// ErrNothingToUndo is returned by UndoPlan.
var ErrNothingToUndo = errors.New("nothing to undo")

// Plan is what an undo would do.
type Plan struct {
	// Changes has one change for each file. Text is what the file holds now,
	// After what it held before; Delete is set for a file that was created.
	Changes []Change

	steps []undoStep // one for each change
	redo  bool       // what is taken back is an undo
}

// The tools that undo and its undo have in the journal.
const (
	undoTool = "undo"
	redoTool = "redo"
)

// undoStep is what the journal knows about a change of a Plan.
type undoStep struct {
	undoes []string // entries
	target *Hash    // of the content to bring back; nil: no file
	dirs   []string // made for the file
}

// UndoPlan returns what an undo would change; nothing is changed yet. Errors:
// ErrNothingToUndo, and ErrStale if a file is not what the journal says it was
// left as.
func (r *Root) UndoPlan(ctx context.Context, scope UndoScope) (Plan, error) {
	if err := ctx.Err(); err != nil {
		return Plan{}, err
	}
	if r.journal == nil {
		return Plan{}, ErrNothingToUndo
	}
	h, err := r.journal.history()
	if err != nil {
		return Plan{}, fmt.Errorf("read the undo journal: %w", err)
	}
	plan := Plan{redo: scope == LastUndo}
	for _, chain := range h.pick(scope, r.session) {
		change, s, err := r.undoOf(chain)
		if err != nil {
			return Plan{}, fmt.Errorf("%s cannot be undone: %w", chain[0].Name, err)
		}
		plan.Changes = append(plan.Changes, change)
		plan.steps = append(plan.steps, s)
	}
	if len(plan.Changes) == 0 {
		return Plan{}, ErrNothingToUndo
	}
	return plan, nil
}

// pick returns the entries to undo, as a chain for each file, oldest first.
func (h *history) pick(scope UndoScope, session string) [][]past {
	last := -1
	for i, e := range slices.Backward(h.entries) {
		if h.undone[e.ID] || e.Tool == redoTool || session != "" && e.Session != session {
			continue
		}
		if isUndo := e.Undoes != nil; isUndo == (scope == LastUndo) {
			last = i
			break
		}
		if scope == LastUndo {
			return nil // something was changed since
		}
	}
	if last < 0 {
		return nil
	}
	newest := h.entries[last]
	if scope == LastChange || newest.Turn == "" {
		return [][]past{{newest}}
	}
	var chains [][]past
	for _, e := range h.entries[:last+1] {
		if h.undone[e.ID] || e.Session != newest.Session || e.Turn != newest.Turn {
			continue
		}
		i := slices.IndexFunc(chains, func(c []past) bool { return c[0].Path == e.Path })
		if i < 0 {
			i = len(chains)
			chains = append(chains, nil)
		}
		chains[i] = append(chains[i], e)
	}
	return chains
}

// undoOf returns the change that takes back the entries of one file.
func (r *Root) undoOf(chain []past) (Change, undoStep, error) {
	first, last := chain[0], chain[len(chain)-1]
	s := undoStep{target: first.Before}
	for i, e := range chain {
		if i > 0 && !same(chain[i-1].After, e.Before) {
			return Change{}, s, fmt.Errorf("%w: someone else changed it between two changes of this turn", ErrStale)
		}
		s.undoes = append(s.undoes, e.ID)
		s.dirs = append(s.dirs, e.Dirs...)
	}
	file, now, err := r.asLeft(last)
	if err != nil {
		return Change{}, s, err
	}
	change := Change{File: file, Delete: first.Before == nil}
	var then []byte
	if !change.Delete {
		change.Mode = first.Mode
		if then, err = first.content(); err != nil {
			return Change{}, s, err
		}
	}
	for _, format := range []Format{first.Format, last.Format, {Encoding: Latin1, EOL: "\n"}} {
		change.Format = format
		if change.Text, change.After, err = decodeBoth(now, then, format); err == nil {
			break
		}
	}
	return change, s, err
}

// decodeBoth decodes two contents in one format; nil is no file. Contents may
// differ in their encodings where someone else wrote one of them.
func decodeBoth(now, then []byte, f Format) (textNow, textThen string, err error) {
	if now != nil {
		if textNow, err = decodeAs(now, f); err != nil {
			return "", "", err
		}
	}
	if then != nil {
		textThen, err = decodeAs(then, f)
	}
	return textNow, textThen, err
}

// asLeft returns the file that e left and its content, if it is still that; nil
// if there is none.
func (r *Root) asLeft(e past) (File, []byte, error) {
	file := File{Path: e.Path, Name: e.Name, Mode: e.Mode}
	p, err := r.resolve(e.Path)
	if err != nil {
		return File{}, nil, err
	}
	if p.abs != e.Path {
		return File{}, nil, fmt.Errorf("%w: there is a symlink on its way now", ErrStale)
	}
	if p.info == nil {
		if e.After != nil {
			return File{}, nil, fmt.Errorf("%w: it is gone", ErrStale)
		}
		return file, nil, nil
	}
	f, info, err := r.open(p)
	if err != nil {
		return File{}, nil, errors.Join(ErrStale, err)
	}
	data, err := readAll(f, info.Size())
	if err = errors.Join(err, f.Close()); err != nil {
		return File{}, nil, err
	}
	file.Exists, file.Mode, file.Size, file.Hash = true, info.Mode(), int64(len(data)), sha256.Sum256(data)
	if !same(&file.Hash, e.After) {
		return File{}, nil, ErrStale
	}
	return file, data, nil
}

// Undo carries out p as it was shown. A file that was changed since the plan is
// ErrStale; what was undone before that stays undone, and is journalled. It also
// removes folders that were made for the files, if they are empty.
func (r *Root) Undo(ctx context.Context, p Plan) error {
	r.committing.Lock()
	defer r.committing.Unlock()
	for i, c := range p.Changes {
		if err := p.steps[i].confirm(c); err != nil {
			return fmt.Errorf("%s was not undone: %w", c.Name, err)
		}
	}
	by := entry{Session: r.session, Turn: rand.Text(), Tool: undoTool}
	if p.redo {
		by.Tool = redoTool
	}
	var dirs []string
	var err error
	for i, c := range p.Changes {
		by.Undoes = p.steps[i].undoes
		if _, err = r.commit(ctx, c, by); err != nil {
			break
		}
		if c.Delete {
			dirs = append(dirs, p.steps[i].dirs...)
		}
	}
	r.removeDirs(dirs)
	return err
}

// confirm makes sure that c is what the journal has, and that the file is still
// what was shown.
func (s undoStep) confirm(c Change) error {
	var target *Hash
	if !c.Delete {
		data, err := encode(c.After, c.Format)
		if err != nil {
			return err
		}
		sum := Hash(sha256.Sum256(data))
		target = &sum
	}
	if !same(target, s.target) {
		return errors.New("the change is not the one that was planned")
	}
	now, err := hashOf(c.Path)
	if err != nil {
		return errors.Join(ErrStale, err)
	}
	if (now != nil) != c.Exists || now != nil && *now != c.Hash {
		return ErrStale
	}
	return nil
}

// removeDirs removes the folders that are empty, the innermost ones first.
func (r *Root) removeDirs(dirs []string) {
	slices.SortFunc(dirs, func(a, b string) int { return len(a) - len(b) })
	for i := range r.folders {
		r.folders[i].removeEmpty(dirs)
	}
}

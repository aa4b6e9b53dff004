package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
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
	past, err := r.journal.History(onDisk)
	if err != nil {
		return Plan{}, fmt.Errorf("read the undo journal: %w", err)
	}
	plan := Plan{redo: scope == LastUndo}
	for _, chain := range pick(past, scope, r.session) {
		change, s, err := r.files.undoOf(chain)
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
func pick(entries []journal.Past, scope UndoScope, session string) [][]journal.Past {
	last := newest(entries, scope, session)
	if last < 0 {
		return nil
	}
	of := entries[last]
	if scope == LastChange || of.Turn == "" {
		return [][]journal.Past{{of}}
	}
	var chains [][]journal.Past
	for _, e := range entries[:last+1] {
		if e.Undone || e.Session != of.Session || e.Turn != of.Turn {
			continue
		}
		i := slices.IndexFunc(chains, func(c []journal.Past) bool { return c[0].Path == e.Path })
		if i < 0 {
			i = len(chains)
			chains = append(chains, nil)
		}
		chains[i] = append(chains[i], e)
	}
	return chains
}

// newest returns the index of the newest entry that scope means; -1 if there is
// none. An undo can be taken back only while nothing was changed after it.
func newest(entries []journal.Past, scope UndoScope, session string) int {
	for i, e := range slices.Backward(entries) {
		if e.Undone || e.Tool == redoTool || session != "" && e.Session != session {
			continue
		}
		if isUndo := e.Undoes != nil; isUndo == (scope == LastUndo) {
			return i
		}
		if scope == LastUndo {
			return -1
		}
	}
	return -1
}

// undoOf returns the change that takes back the entries of one file.
func (fl *files) undoOf(chain []journal.Past) (Change, undoStep, error) {
	first, last := chain[0], chain[len(chain)-1]
	s := undoStep{target: first.Before}
	for i, e := range chain {
		if i > 0 && !same(chain[i-1].After, e.Before) {
			return Change{}, s, fmt.Errorf("%w: someone else changed it between two changes of this turn", ErrStale)
		}
		s.undoes = append(s.undoes, e.ID)
		s.dirs = append(s.dirs, e.Dirs...)
	}
	file, now, err := fl.asLeft(last)
	if err != nil {
		return Change{}, s, err
	}
	change := Change{File: file, Delete: first.Before == nil}
	var then []byte
	if !change.Delete {
		change.Mode = first.Mode
		if then, err = first.Content(); err != nil {
			return Change{}, s, err
		}
	}
	for _, format := range []Format{formatOf(first), formatOf(last), {Encoding: Latin1, EOL: "\n"}} {
		change.Format = format
		if change.Text, change.After, err = decodeBoth(now, then, format); err == nil {
			break
		}
	}
	return change, s, err
}

func formatOf(e journal.Past) Format {
	return Format{Encoding: Encoding(e.Encoding), BOM: e.BOM, EOL: e.EOL}
}

// decodeBoth decodes two contents in one format; nil is no file. Contents may
// differ in their encodings where someone else wrote one of them.
func decodeBoth(now, then []byte, f Format) (textNow, textThen string, err error) {
	if now != nil {
		if textNow, err = text.DecodeAs(now, f); err != nil {
			return "", "", err
		}
	}
	if then != nil {
		textThen, err = text.DecodeAs(then, f)
	}
	return textNow, textThen, err
}

// asLeft returns the file that e left and its content, if it is still that; nil
// if there is none.
func (fl *files) asLeft(e journal.Past) (File, []byte, error) {
	file := File{Path: e.Path, Name: e.Name, Mode: e.Mode}
	p, err := fl.resolve(e.Path)
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
	f, info, err := fl.open(p)
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
// ErrStale; what was undone before that stays undone, is journalled, and is
// named by the error. It also removes folders that were made for the files, if
// they are empty.
func (r *Root) Undo(ctx context.Context, p Plan) error {
	r.committing.Lock()
	defer r.committing.Unlock()
	for i, c := range p.Changes {
		if err := p.steps[i].confirm(c); err != nil {
			return fmt.Errorf("%s was not undone: %w", c.Name, err)
		}
	}
	by := journal.Origin{Session: r.session, Turn: rand.Text(), Tool: undoTool}
	if p.redo {
		by.Tool = redoTool
	}
	var dirs []string
	var err error
	for i, c := range p.Changes {
		by.Undoes = p.steps[i].undoes
		if _, err = r.commit(ctx, c, by); err != nil {
			if errors.Is(err, ErrUnsettled) {
				i++ // it is undone; but what the disk refuses once it may refuse again
			}
			err = stopped(p.Changes[:i], c, err)
			break
		}
		if c.Delete {
			dirs = append(dirs, p.steps[i].dirs...)
		}
	}
	r.files.removeDirs(dirs)
	return err
}

// stopped says how far an undo came.
func stopped(done []Change, at Change, err error) error {
	if len(done) == 0 {
		return fmt.Errorf("nothing was undone: %w", err)
	}
	names := make([]string, len(done))
	for i, c := range done {
		names[i] = c.Name
	}
	return fmt.Errorf("%s is undone already; the undo stopped at %s: %w", strings.Join(names, ", "), at.Name, err)
}

// confirm makes sure that c is what the journal has, and that the file is still
// what was shown.
func (s undoStep) confirm(c Change) error {
	var target *Hash
	if !c.Delete {
		data, err := text.Encode(c.After, c.Format)
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
func (fl *files) removeDirs(dirs []string) {
	slices.SortFunc(dirs, func(a, b string) int { return len(a) - len(b) })
	for i := range fl.folders {
		fl.folders[i].removeEmpty(dirs)
	}
}

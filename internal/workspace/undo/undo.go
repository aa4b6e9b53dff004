// Package undo undoes changes of files and reports their net effect. It guarantees that
// only the changes that a Plan showed are undone, that a file which somebody else changed
// meanwhile is named, and left alone unless asked for, that each file gets exactly its old
// bytes and mode, and that an undo can be undone.
package undo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// ErrNothing is returned by Find if there is nothing to undo.
var ErrNothing = errors.New("nothing to undo")

// Plan is the effect of an undo before it is made.
type Plan struct {
	// Changes has one change for each file. Text is the current content, After the one
	// before; Delete is set for a file that was created.
	Changes []workspace.Change
	// Refused lists the files that cannot be undone, with the reasons.
	Refused []Refused
	// Others names the files of Changes for which changes by somebody else are undone
	// too.
	Others []string
	// Merged names the files of Changes that were changed since: After keeps the later
	// changes.
	Merged []string
	// Kept describes what stays of the changes of a file, as it was changed since.
	Kept []string
	// Command is the line of the only command whose changes are undone; else empty.
	Command string

	root  *workspace.Root
	steps []step // one for each change
	voids []void
	redo  bool // it undoes an undo
}

// Refused is a file that an undo leaves alone.
type Refused struct {
	Name string // for people
	Err  error
}

// Reason explains for people why the file cannot be done: "undone".
func (r Refused) Reason(done string) error {
	if errors.Is(r.Err, errAlready) { // nothing would be lost, so it is no ErrStale
		return errors.New(r.Name + " needs no change: " + r.Err.Error())
	}
	return fmt.Errorf("%s cannot be %s: %w", r.Name, done, r.Err)
}

// The tools under which the journal has an undo and its undo.
const (
	undoTool = "undo"
	redoTool = "redo"
)

// step is the journal's view of a change of a Plan.
type step struct {
	session string
	undoes  []string        // ids of entries
	target  *workspace.Hash // of the content to restore; nil for no file
	others  bool            // what somebody else changed goes too
	part    bool            // only a part of the entries is undone
}

// Find plans an undo; it changes nothing yet. If no file can be undone, the error is
// ErrNothing, or workspace.ErrStale if the files have been changed since.
func Find(ctx context.Context, root *workspace.Root, s Scope) (Plan, error) {
	log, err := Read(ctx, root)
	if err != nil {
		return Plan{}, err
	}
	return log.Plan(s)
}

// Log is the history of a workspace's files at the time of Read.
type Log struct {
	root *workspace.Root
	past []journal.Past // oldest first
}

// Read reads the history.
func Read(ctx context.Context, root *workspace.Root) (*Log, error) {
	past, err := root.Past()
	if err == nil {
		err = ctx.Err()
	}
	return &Log{root, past}, err
}

// Plan is Find.
func (l *Log) Plan(s Scope) (Plan, error) {
	p := Plan{root: l.root, redo: s.Range == LastUndo}
	for _, c := range chains(l.past, s) {
		if c.isVoid() {
			p.voids = append(p.voids, c.void())
			continue
		}
		change, st, err := c.undo(l.root, s.Others)
		if s.Merge && errors.Is(err, workspace.ErrStale) && !errors.Is(err, errAlready) {
			change, st, err = p.beside(l, c, err, s.Hunks)
		}
		if err != nil {
			p.Refused = append(p.Refused, Refused{c[0].Name, err})
			continue
		}
		if change.Delete {
			change.Dirs = madeFor(change.Path, l.past)
		}
		if s.Session != "" {
			st.session = s.Session
		}
		if st.others {
			p.Others = append(p.Others, change.Name)
		}
		p.Changes = append(p.Changes, change)
		p.steps = append(p.steps, st)
	}
	p.order()
	p.Command = l.command(p)
	switch {
	case len(p.Changes) > 0:
		return p, nil
	case len(p.Refused) > 0:
		return p, p.Err()
	}
	return p, ErrNothing
}

// command returns the line of the command that made all changes that p undoes, or "".
func (l *Log) command(p Plan) string {
	undoes := map[string]bool{}
	for _, s := range p.steps {
		for _, id := range s.undoes {
			undoes[id] = true
		}
	}
	line, run := "", ""
	for _, e := range l.past {
		if !undoes[e.ID] {
			continue
		}
		if e.Run == "" || run != "" && e.Run != run {
			return ""
		}
		line, run = e.Command, e.Run
	}
	return line
}

// Err returns the reasons in Refused as one error, or nil.
func (p Plan) Err() error {
	var errs []error
	for _, r := range p.Refused {
		errs = append(errs, r.Reason("undone"))
	}
	return errors.Join(errs...)
}

// Without returns p without the files at these indexes of Changes.
func (p Plan) Without(except []int) Plan {
	out := p
	out.Changes, out.steps = nil, nil
	for i, c := range p.Changes {
		if !slices.Contains(except, i) {
			out.Changes = append(out.Changes, c)
			out.steps = append(out.steps, p.steps[i])
		}
	}
	return out
}

// Refuse returns p with the files for which why returns a reason moved to Refused.
func (p Plan) Refuse(why func(workspace.Change) error) Plan {
	var except []int
	refused := slices.Clone(p.Refused)
	for i, c := range p.Changes {
		if err := why(c); err != nil {
			except, refused = append(except, i), append(refused, Refused{c.Name, err})
		}
	}
	out := p.Without(except)
	out.Refused = refused
	isRefused := func(name string) bool {
		return slices.ContainsFunc(refused, func(r Refused) bool { return r.Name == name })
	}
	out.Others = slices.DeleteFunc(slices.Clone(p.Others), isRefused)
	out.Merged = slices.DeleteFunc(slices.Clone(p.Merged), isRefused)
	return out
}

// Diff returns the plan as a unified diff.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		b.WriteString(Net{Name: c.Name, Before: c.Text, After: c.After, Created: !c.Exists, Deleted: c.Delete}.Diff())
	}
	return b.String()
}

// madeFor returns the folders on the way to path that some change has made, outermost
// first.
func madeFor(path string, past []journal.Past) []string {
	var dirs []string
	for _, e := range past {
		for _, dir := range e.Dirs {
			if strings.HasPrefix(path, dir+string(filepath.Separator)) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, func(a, b string) int { return len(a) - len(b) })
	return dirs
}

// undo returns the change that undoes the entries of one file; with others set, also
// changes that somebody else made meanwhile.
func (c chain) undo(root *workspace.Root, others bool) (workspace.Change, step, error) {
	first, last := c[0], c[len(c)-1]
	s := step{target: first.Before, session: first.Session}
	var foreign error
	for i, e := range c {
		if i > 0 && !same(c[i-1].After, e.Before) {
			foreign = errChangedBetween
		}
		s.undoes = append(s.undoes, e.ID)
	}
	if c.byCommand() {
		return c.restore(root, s, foreign, others)
	}
	file, now, err := root.Raw(last.Path)
	if err != nil {
		return workspace.Change{}, s, err
	}
	if !matches(file, last.After) {
		foreign = staleReason(file)
	}
	if err := c.refusal(foreign, matches(file, first.Before), others); err != nil {
		return workspace.Change{}, s, err
	}
	s.others = foreign != nil
	change := workspace.Change{File: file, Delete: first.Before == nil}
	change.Name = last.Name
	var then []byte
	if !change.Delete {
		change.Mode = first.Mode
		if then, err = first.Content(); err != nil {
			return workspace.Change{}, s, err
		}
	}
	change.Format, change.Text, change.After, err = workspace.InOneFormat(now, then, formatOf(first), formatOf(last))
	if change.Format.Encoding == workspace.Binary {
		change.Raw, change.RawAfter = now, then
	}
	return change, s, err
}

// refusal returns the reason to leave the path of c alone, if any. foreign is the reason to
// think that somebody else changed it; already means that it is as before c.
func (c chain) refusal(foreign error, already, others bool) error {
	switch {
	case foreign == nil:
		return nil
	case already && (!others || c[0].Before == nil):
		return errAlready
	case others:
		return nil
	}
	return foreign
}

// stale is a workspace.ErrStale with a reason.
type stale string

const (
	errChangedSince   stale = "somebody else has changed it since"
	errChangedBetween stale = "somebody else has changed it between two of the changes"
	errGone           stale = "it is gone"
	errAlready        stale = "it already has its earlier content" // somebody else put it back
)

func (s stale) Error() string { return string(s) }

func (s stale) Unwrap() error { return workspace.ErrStale }

// staleReason explains why a file is not in its expected state.
func staleReason(now workspace.File) error {
	if !now.Exists {
		return errGone
	}
	return errChangedSince
}

// matches reports whether the file has the hash; nil means no file.
func matches(now workspace.File, hash *workspace.Hash) bool {
	if !now.Exists {
		return hash == nil
	}
	return hash != nil && now.Hash == *hash
}

func same(a, b *workspace.Hash) bool { return a == b || a != nil && b != nil && *a == *b }

func formatOf(e journal.Past) workspace.Format {
	return workspace.Format{Encoding: workspace.Encoding(e.Encoding), BOM: e.BOM, EOL: e.EOL}
}

// Do executes p as shown. If a file was changed since the plan, Do changes nothing and
// returns workspace.ErrStale. If that happens between two of the files, the first ones
// stay undone, are journalled, and are named in the error.
func (p Plan) Do(ctx context.Context) error {
	for i, c := range p.Changes {
		if err := p.confirm(c, p.steps[i]); err != nil {
			return fmt.Errorf("%s was not undone: %w", c.Name, err)
		}
	}
	by := workspace.Origin{Turn: rand.Text(), Tool: undoTool, Of: len(p.Changes)}
	if p.redo {
		by.Tool = redoTool
	}
	if err := p.recordVoids(by); err != nil {
		return err
	}
	changes := slices.Clone(p.Changes)
	for i := range changes {
		origin := p.steps[i].origin(by)
		changes[i].By = &origin
	}
	files, err := p.root.Commit(ctx, workspace.UntilFailure, by, changes...)
	if err == nil {
		return nil
	}
	done := p.Changes[:len(files)]
	at := min(len(files), len(p.Changes)-1)
	if errors.Is(err, workspace.ErrNotDurable) && len(files) > 0 {
		at = len(files) - 1 // it is undone; but the disk may refuse again
	}
	return stopped(done, p.Changes[at], err)
}

// origin returns by for one change.
func (s step) origin(by workspace.Origin) workspace.Origin {
	by.Session, by.Undoes, by.Part = s.session, s.undoes, s.part
	return by
}

// stopped returns an error that names the files already undone.
func stopped(done []workspace.Change, at workspace.Change, err error) error {
	if len(done) == 0 {
		return fmt.Errorf("nothing was undone: %w", err)
	}
	names := make([]string, len(done))
	for i, c := range done {
		names[i] = c.Name
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("it was cancelled") // and the user must learn that it did something
	}
	return fmt.Errorf("%s is undone already; the undo stopped at %s: %w", strings.Join(names, ", "), at.Name, err)
}

// confirm ensures that c matches the journal and that the file is still as shown.
func (p Plan) confirm(c workspace.Change, s step) error {
	if c.States != nil {
		return stillThere(p.root, c)
	}
	var target *workspace.Hash
	data, err := c.Content()
	if err != nil {
		return err
	}
	if !c.Delete {
		sum := workspace.Hash(sha256.Sum256(data))
		target = &sum
	}
	if !same(target, s.target) {
		return errors.New("the change differs from the plan")
	}
	now, _, err := p.root.Raw(c.Path)
	if err != nil {
		return errors.Join(workspace.ErrStale, err)
	}
	if now.Exists != c.Exists || now.Hash != c.Hash {
		return staleReason(now)
	}
	return nil
}

package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// merge makes the approved changes the set, each merged with its file if that has changed since:
// a new proposal, about which another question is asked. It gives up those in conflict.
func (r *review) merge(ctx context.Context, a approval) {
	r.moved, r.force = nil, r.force || r.lists() || !a.verdict.Rule
	var all []pending.Change
	before := len(r.given)
	for _, c := range a.final {
		if r.lists() && r.unmoved(c) {
			all = append(all, r.set.Marked(c))
			continue
		}
		now, refused := r.again(c)
		if refused != nil {
			r.giveUp(*refused)
			continue
		}
		r.merged = true
		all = append(all, r.set.Marked(now))
	}
	words := a.unwritten(toolcall.Result{})
	if (r.lists() || len(all) > 0) && words.ForModel != "" {
		r.told = append(r.told, strings.TrimPrefix(words.ForModel, "\n"))
		r.words += words.Record.Words + "\n"
	}
	if len(r.given) > before {
		last := &r.given[len(r.given)-1]
		if r.lists() {
			r.notWritten(ctx, a, toolcall.Failed("files changed while they were reviewed: nothing was written"))
		} else {
			r.notWritten(ctx, a, *last)
			*last = a.unwritten(*last)
		}
	}
	r.set.Set(all)
}

// giveUp notes that a change is given up, with the reason.
func (r *review) giveUp(why toolcall.Result) {
	if r.given = append(r.given, why); r.lists() {
		r.told = append(r.told, why.ForModel)
		r.moved = append(r.moved, toolcall.OneLine(why.ForUser, toolcall.MaxFailure))
	}
}

// unmoved reports whether the files of a change are as they were when it was computed, also in
// the program that hosts the session.
func (r *review) unmoved(c workspace.Change) bool {
	if c.States != nil {
		now, _, err := r.Root.Look(c.Path)
		return err == nil && now.Equal(c.States.Before)
	}
	now, _, err := r.Root.Raw(c.Path)
	switch {
	case c.Moves():
		if _, _, err := r.Root.Place(c.Path, c.To); err != nil {
			return false
		}
	case !c.Removes() && c.Raw == nil && c.RawAfter == nil:
		var held workspace.Change
		held, err = r.Root.Propose(c.Path, func(workspace.File) (string, error) { return c.After, nil })
		now = held.File
	}
	return err == nil && now.Exists == c.Exists && now.Hash == c.Hash
}

// again merges an approved change with the file's text now, and notes that for the model and the
// next reviewer. If there can be no such change, it returns a result with the reason.
func (r *review) again(approved workspace.Change) (workspace.Change, *toolcall.Result) {
	if approved.Moves() {
		if _, _, err := r.Root.Place(approved.Path, approved.To); err != nil {
			return workspace.Change{}, refusal("%s was not moved: %w", approved.Name, err)
		}
	}
	now, refused := r.redo(approved)
	if refused != nil {
		return now, refused
	}
	note := now.Name + " was replaced by another file with the same text while you looked: look again."
	told := now.Name + " changed while the edit was being reviewed: the edit was merged with the new text and shown again."
	if now.Text != approved.Text {
		added, removed := diff.Count(approved.Text, now.Text)
		note = fmt.Sprintf("%s changed while you looked (+%d −%d): merged, look again.", now.Name, added, removed)
		if !r.Hides(now.Path) {
			told += " This is what had changed:\n" + clipPatch(diff.Unified(now.Name, now.Name, approved.Text, now.Text))
		}
	}
	r.moved, r.told = append(r.moved, note), append(r.told, told)
	return now, nil
}

// redo makes an approved change again on the file's text now, or returns a result with the
// reason why that cannot be.
func (r *review) redo(approved workspace.Change) (workspace.Change, *toolcall.Result) {
	again := refusal("%s changed while the edit was being reviewed: nothing was written. Read the file again and repeat the edit on its current content.", approved.Name)
	if approved.Removes() || approved.States != nil {
		return workspace.Change{}, again
	}
	var merged diff.Merged
	var lines []string
	now, err := r.Root.Propose(approved.Path, func(f workspace.File) (string, error) {
		merged, lines = threeWay(approved, f)
		return merged.Text, nil
	})
	switch conflict := len(merged.Conflicts) > 0; {
	case err == nil && now.Path == approved.Path && !now.Exists:
		return workspace.Change{}, refusal("%s was deleted while the edit was being reviewed: nothing was written. Use write_file if it should exist again.", approved.Name)
	case err != nil || now.Path != approved.Path || conflict && r.Hides(now.Path):
		return workspace.Change{}, again
	case conflict:
		return workspace.Change{}, conflicted(now.Name, lines, merged.Conflicts)
	case now.After == now.Text:
		return workspace.Change{}, &toolcall.Result{
			ForModel: now.Name + " changed while the edit was being reviewed, and already holds the edit: nothing was written.",
			ForUser:  "changed while you looked: it already holds the edit",
		}
	}
	return now, nil
}

// threeWay merges an approved change with the file as it is now, in the file's line
// endings. lines are those of the file now.
func threeWay(approved workspace.Change, now workspace.File) (m diff.Merged, lines []string) {
	from, to := approved.Format.EOL, now.Format.EOL
	convert := func(text string) string {
		if from == to {
			return text
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), from, "\n")
		return strings.ReplaceAll(text, "\n", to)
	}
	plain := func(text string) string { // lines end in \n or \r\n
		if to == "\r" {
			return strings.ReplaceAll(text, "\r", "\n")
		}
		return text
	}
	theirs := plain(now.Text)
	m = diff.Merge(plain(convert(approved.Text)), plain(convert(approved.After)), theirs)
	if to == "\r" {
		m.Text = strings.ReplaceAll(m.Text, "\n", "\r")
	}
	return m, slices.Collect(strings.Lines(theirs))
}

// Bounds of a conflict's description.
const (
	conflictAround = 3 // lines of the file around it
	conflictsShown = 5 // for the user
)

// conflicted returns the result of an edit of places that somebody else has changed; lines
// are those of the file now.
func conflicted(name string, lines []string, all []diff.Conflict) *toolcall.Result {
	var model strings.Builder
	fmt.Fprintf(&model, "%s changed while the edit was being reviewed: nothing was written. That change and the edit conflict. "+
		"Repeat the edit on the file's current content. Read the file again if you need more of it than this:\n", name)
	user := []string{"conflict: " + name + " changed while you looked, in the same place; not written"}
	for i, c := range all {
		fmt.Fprintf(&model, "\nThe file now, around line %d:\n", c.Line)
		end := min(len(lines), c.Line-1+strings.Count(c.Theirs, "\n")+conflictAround)
		for i := max(0, c.Line-1-conflictAround); i < end; i++ {
			fmt.Fprintf(&model, "%6d\t%s\n", i+1, strings.TrimRight(lines[i], "\r\n"))
		}
		fmt.Fprintf(&model, "Before both changes:\n%sIn the edit:\n%s", block(c.Base), block(c.Ours))
		if i < conflictsShown {
			user = append(user, fmt.Sprintf("line %d: was %s, is %s, the edit has %s", c.Line, glance(c.Base), glance(c.Theirs), glance(c.Ours)))
		}
	}
	if more := len(all) - conflictsShown; more > 0 {
		user = append(user, fmt.Sprintf("%d more conflicts", more))
	}
	return &toolcall.Result{
		ForModel: clipPatch(model.String()) + "\n", ForUser: strings.Join(user, "\n"), Failed: true,
		Record: toolcall.Record{Result: "not written: " + name + " changed meanwhile in the same place"},
	}
}

// block returns the lines of a side of a conflict for the model.
func block(side string) string {
	if side == "" {
		return "(nothing)\n"
	}
	return strings.TrimRight(strings.ReplaceAll(side, "\r\n", "\n"), "\n") + "\n"
}

// glance returns a side of a conflict on one line.
func glance(side string) string {
	const room = 40
	first, rest, _ := strings.Cut(side, "\n")
	switch more := strings.Count(strings.TrimSuffix(rest, "\n")+"\n", "\n"); {
	case side == "":
		return "nothing"
	case rest == "":
		return "`" + toolcall.OneLine(first, room) + "`"
	default:
		return fmt.Sprintf("`%s` and %d more", toolcall.OneLine(first, room), more)
	}
}

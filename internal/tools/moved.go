package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// maxMerges is the number of times that one edit is merged with a file that keeps
// changing.
const maxMerges = 10

// moved keeps track of a file that changed while an edit of it was reviewed.
type moved struct {
	merges int
	byUser bool   // a person approved a text that the file has moved away from
	note   string // for the next reviewer; empty if the file did not change
	told   string // for the model, to follow its result
	words  string // for the record
}

// merge merges an approved change, which was not written since the file has changed, with
// the file's text now. The merged change is a new proposal: another question is asked
// about it. If there can be no such proposal, merge returns a result with the reason.
func (m *moved) merge(w writer, proposed, approved workspace.Change, v confirm.Verdict) (workspace.Change, *Result) {
	m.merges++
	if approved.Moves() {
		if _, _, err := w.Root.Vacant(approved.To); err != nil {
			res := failed("%s was not moved: %w", approved.Name, err)
			return workspace.Change{}, &res
		}
	}
	now, res := m.redo(w, approved)
	if res != nil {
		return workspace.Change{}, res
	}
	m.note = now.Name + " was replaced by another file with the same text while you looked: look again."
	if now.Text != approved.Text {
		added, removed := diff.Count(approved.Text, now.Text)
		m.note = fmt.Sprintf("%s changed while you looked (+%d −%d): merged, look again.", now.Name, added, removed)
	}
	m.remember(proposed, approved, v)
	m.told += "\n" + now.Name + " changed while the edit was being reviewed: the edit was merged with the new text, and asked about again."
	if now.Text != approved.Text && !w.hides(now.Path) {
		m.told += " This is what had changed:\n" + clipPatch(diff.Unified(now.Name, now.Name, approved.Text, now.Text))
	}
	return now, nil
}

// redo makes an approved change again on the file's text now, or returns a result with the
// reason why that cannot be.
func (m *moved) redo(w writer, approved workspace.Change) (workspace.Change, *Result) {
	again := failed("%s changed while the edit was being reviewed: nothing was written. Read the file again and repeat the edit on its current content.", approved.Name)
	if approved.Removes() || m.merges > maxMerges {
		return workspace.Change{}, &again
	}
	var merged diff.Merged
	var lines []string
	now, err := w.Root.Propose(approved.Path, func(f workspace.File) (string, error) {
		merged, lines = threeWay(approved, f)
		return merged.Text, nil
	})
	switch conflict := len(merged.Conflicts) > 0; {
	case err == nil && now.Path == approved.Path && !now.Exists:
		res := failed("%s was deleted while the edit was being reviewed: nothing was written. Use write_file if it should exist again.", approved.Name)
		return workspace.Change{}, &res
	case err != nil || now.Path != approved.Path || conflict && w.hides(now.Path):
		return workspace.Change{}, &again
	case conflict:
		res := conflicted(now.Name, lines, merged.Conflicts)
		return workspace.Change{}, &res
	case now.After == now.Text:
		return workspace.Change{}, &Result{
			ForModel: now.Name + " changed while the edit was being reviewed, and already holds the edit: nothing was written.",
			ForUser:  "changed while you looked: it already holds the edit",
		}
	}
	return now, nil
}

// remember keeps the reviewer's edits and words in the approval v for the final result.
func (m *moved) remember(proposed, approved workspace.Change, v confirm.Verdict) {
	m.byUser = m.byUser || !v.Rule
	patch := ""
	if approved.After != proposed.After {
		patch = diff.Unified(approved.Name, approved.Name, proposed.After, approved.After)
		m.told += "\nThe user changed the proposal before approving it:\n" + strings.TrimSuffix(clipPatch(patch), "\n")
	}
	m.told += feedbackForModel(v)
	if words := feedbackForRecord(v, patch); words != "" {
		m.words += words + "\n"
	}
}

// notes returns the notes for the next question; lost explains that an earlier edit is
// gone from the file, if it is not empty.
func (m *moved) notes(lost string) []caution.Note {
	var out []caution.Note
	for _, text := range []string{m.note, lost} {
		if text != "" {
			out = append(out, caution.Notes(text)...)
		}
	}
	return out
}

// tell adds the merges to the final result.
func (m *moved) tell(res Result) Result {
	if m.merges == 0 || m.told == "" {
		return res
	}
	res.ForModel += m.told
	res.Record.Words = strings.TrimSuffix(m.words+res.Record.Words, "\n")
	if len(res.Changes) > 0 {
		res.ForUser += ", merged with what had changed"
	}
	return res
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
func conflicted(name string, lines []string, all []diff.Conflict) Result {
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
	return Result{
		ForModel: clipPatch(model.String()), ForUser: strings.Join(user, "\n"), Failed: true,
		Record: Record{Result: "not written: " + name + " changed meanwhile in the same place"},
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
		return "`" + oneLine(first, room) + "`"
	default:
		return fmt.Sprintf("`%s` and %d more", oneLine(first, room), more)
	}
}

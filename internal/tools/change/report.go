package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// names returns the names of the files of a list.
func (a approval) names() (all []string) {
	if a.edits.One() {
		return nil
	}
	for _, c := range a.edits.Changes {
		all = append(all, c.Name)
	}
	return all
}

// patch returns the patch from the proposed texts to the reviewer's own, or "".
func (a approval) patch() string {
	var b strings.Builder
	for i, c := range a.edits.Changes {
		if text, ok := a.verdict.Texts[i]; ok && text != c.After {
			b.WriteString(diff.Unified(c.Name, c.Name, c.After, text))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// written returns the result if the approved changes were written.
func (r *review) written(a approval) toolcall.Result {
	names, patch := a.names(), a.patch()
	res := toolcall.Result{Record: toolcall.Record{Words: toolcall.Words(a.verdict, names...)}, ForUser: "no change"}
	words := toolcall.Feedback(a.verdict, names...)
	if len(a.final) == 0 && !r.lists() {
		res.ForModel = "The user changed the proposal back to the current content of " + a.edits.Changes[0].Name + ": nothing was written." + words
		res.Record.Result = "nothing was written: the user changed the proposal back to the file's content"
		return res
	}
	var said, left []string
	added, removed := 0, 0
	for _, c := range a.final {
		fc := toolcall.Changed(c)
		added, removed = added+fc.Added, removed+fc.Removed
		res.Changes = append(res.Changes, fc)
		done := fc.Done(c)
		if r.edit.Places > 1 {
			done += fmt.Sprintf(", %d places", r.edit.Places)
		}
		said = append(said, done+"."+matched(r.edit.Stage))
		res.ForUser = fc.Counts()
	}
	if len(said) == 0 {
		said = []string{"Nothing was written."}
	}
	for _, i := range a.verdict.Except {
		left = append(left, names[i])
	}
	if len(left) > 0 {
		said = append(said, fmt.Sprintf("The user left out, and the disk keeps as before: %s.", strings.Join(left, ", ")))
	}
	if r.lists() {
		res.ForUser = fmt.Sprintf("%d of %d files, +%d −%d", len(a.final), len(names), added, removed)
		res.GoOn = words != ""
	}
	if patch != "" {
		hold, patched := "file holds", clipPatch(patch)+"\n"
		if r.lists() {
			hold, patched = "files hold", clipPatch(patch)
		}
		said = append(said, "The user changed the proposal before approving it. The "+hold+" the user's version, which is final. From your proposal to it:\n"+patched)
		res.Record = toolcall.Record{
			Result: res.ForUser + ", changed by the user before it was written",
			Words:  "From the proposal to what was written:\n" + patch + words,
		}
		res.ForUser += ", changed by you"
	}
	res.ForModel = strings.Join(said, "\n") + words
	return res
}

// matched tells the model about an inexact match; "" after an exact one.
func matched(stage edit.Stage) string {
	if stage == edit.Exact {
		return ""
	}
	return fmt.Sprintf(" It matched only after %s.", stage)
}

// unwritten adds the reviewer's own texts and words to res, the result if nothing was written:
// they are nowhere else.
func (a approval) unwritten(res toolcall.Result) toolcall.Result {
	words, patch := toolcall.Feedback(a.verdict, a.names()...), a.patch()
	record := words
	if patch != "" {
		res.ForModel += "\nThe user had changed the proposal before approving it. If you propose the edit again, propose the user's version. From your proposal to it:\n" + patch
		record = "From the proposal to what was approved:\n" + patch + words
	}
	res.ForModel += words
	res.Record.Words = strings.TrimPrefix(record, "\n")
	return res
}

// unwritten drops the changes and returns the result of a review without any left, or whose files
// changed each time. It is nil if no change was given up.
func (r *review) unwritten() *toolcall.Result {
	left := r.set.Drop()
	switch {
	case len(left) > 0:
		res := toolcall.Failed("%s was not written: a file changed again each time that the changes were reviewed (%d times). Read the files again and repeat the edits.", strings.Join(left, ", "), maxReviews)
		res.ForUser = fmt.Sprintf("files changed during each of %d reviews; nothing was written", maxReviews)
		return &res
	case len(r.given) == 0:
		return nil
	case !r.lists():
		return &r.given[0]
	}
	return &toolcall.Result{ForModel: "Nothing was written.", ForUser: "nothing was written: " + r.reasons(), Failed: true}
}

// nothingChanged is the effect of a declined edit.
const nothingChanged = "Nothing was changed."

// declined returns the result of changes that were not approved. Nobody denied a change that only
// a loose match kept from being written.
func (r *review) declined(a approval) *toolcall.Result {
	v, c := a.verdict, a.edits.Changes[0]
	if r.lists() {
		return r.listDeclined(a)
	}
	hidden := r.Hides(c.Path)
	if v.Unasked && r.edit.Stage.Loose() && !hidden {
		if _, force := r.changeNotes(c, edit.Exact); !force {
			return inexact(c, r.edit)
		}
	}
	res := toolcall.Declined(r.Tool, "edit", nothingChanged, v)
	if (v.Unasked || v.Rule) && hidden {
		res.ForModel = r.unexplained(c.Path)
	}
	return &res
}

// listDeclined is declined for a list of files.
func (r *review) listDeclined(a approval) *toolcall.Result {
	v := a.verdict
	res := toolcall.Declined(r.Tool, "review of the changes", "None of them was written.", v, a.names()...)
	switch {
	case r.Tool != Review:
	case v.Unasked || v.Rule || v.Feedback == "" && len(v.Comments) == 0:
		res.ForModel += "\nThe changes are dropped: the files are unchanged on disk."
		r.set.Drop()
	default:
		res.ForModel += "\nThe changes are still pending: revise them by further edits. The user is asked again."
	}
	return &res
}

// compare sets the patch to the texts that the editor saved instead, as it does if it formats
// files.
func (p *put) compare(final []workspace.Change, files []workspace.File) {
	added, removed := 0, 0
	for _, c := range final {
		i := slices.IndexFunc(files, func(f workspace.File) bool { return f.Path == c.Path && f.Exists })
		if i < 0 || c.Removes() || files[i].Text == c.After {
			continue
		}
		d := diff.Lines(c.After, files[i].Text)
		a, r := d.Counts()
		added, removed = added+a, removed+r
		p.differs += d.Unified(c.Name, c.Name)
	}
	p.counts = fmt.Sprintf("+%d −%d", added, removed)
}

// tell adds the result to that of the call. An editor in which v was given saves the text itself; otherwise
// somebody else has written the same one.
func (p put) tell(res *toolcall.Result, v confirm.Verdict) {
	who := "another program"
	if !v.Rule && v.By != "" && v.By != confirm.Terminal {
		who = "the editor"
	}
	if p.held {
		res.ForUser += ", already saved by " + who + p.endings + ": not in /undo"
	}
	if p.endings != "" {
		res.ForModel += "\nIt was saved by " + who + p.endings + "."
	}
	if p.warning != "" {
		res.ForModel += "\nWarning: " + p.warning
	}
	switch {
	case p.differs != "":
		res.Differs = p.differs
		res.ForModel += ". From the approved text to the file's:\n" + clipPatch(p.differs)
		res.ForUser += "; your editor saved another text than you approved (" + p.counts + ")"
		res.Record.Result = "written by the editor, which saved another text than was approved"
	case p.warning != "":
		res.ForUser += "; " + p.warning
	}
}

// inexact returns the result of an edit that matched only loosely while nobody could be
// asked. The model gets the file's own text, so that it can repeat the call exactly.
func inexact(c workspace.Change, out edit.Result) *toolcall.Result {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: nothing was changed: the text matched only after %s, which a person has to see, and nobody could be asked. ", c.Name, out.Stage)
	switch out.Stage {
	case edit.MixedEndings:
		if out.Line > 0 {
			fmt.Fprintf(&b, "Use edit_lines from line %d on, or edit_file with a part of one line.", out.Line)
		} else {
			b.WriteString("Use edit_file with a part of one line, or with the cell's whole new source as new_string.")
		}
		return &toolcall.Result{Failed: true, ForModel: b.String(), ForUser: "no exact match"}
	case edit.MissingAnchor:
		b.WriteString("Send each @@ line exactly as in the file, or a bare @@ and more lines of context.")
		return &toolcall.Result{Failed: true, ForModel: b.String(), ForUser: "no exact match"}
	}
	b.WriteString("Repeat the call with exactly this text of the file")
	for _, text := range out.Matched {
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "\n%s\n%s\n%s", fence, strings.TrimSuffix(text, "\n"), fence)
	}
	return &toolcall.Result{Failed: true, ForModel: clipPatch(b.String()), ForUser: "no exact match"}
}

// maxPatch is the largest patch in a result, in bytes.
const maxPatch = 10_000

// clipPatch returns patch, or its first lines if it is too long.
func clipPatch(patch string) string {
	if len(patch) <= maxPatch {
		return strings.TrimSuffix(patch, "\n")
	}
	cut := strings.LastIndexByte(patch[:maxPatch], '\n') + 1
	return patch[:cut] + "[the rest is left out: read the file]"
}

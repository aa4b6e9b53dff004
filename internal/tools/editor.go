package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Buffers knows what a connected editor holds unsaved.
type Buffers interface {
	// Unsaved says whether the editor holds changes of the file at the absolute path
	// that are not on disk, and what people call the editor.
	Unsaved(ctx context.Context, path string) (name string, unsaved bool)
	Save(ctx context.Context, path string) error
}

// Reports knows the findings of a connected editor on the file at an absolute path,
// or on all files if path is empty, after it has looked for wait at most. known is
// false if it cannot tell; editor.ErrNone says that there is no editor.
type Reports interface {
	Report(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error)
}

// Writes follows what becomes of the files that are written.
type Writes interface {
	// Wrote takes note of a write.
	Wrote(ctx context.Context, done editor.Write)
	// Lost says why the file at the absolute path, which holds text, may no longer hold
	// what was written last; "" if nothing speaks for that.
	Lost(path, text string) string
}

// How long an edit waits for the editor's findings.
const (
	reportBefore = 500 * time.Millisecond // before the question
	reportQuiet  = 1500 * time.Millisecond
	reportAfter  = 3 * time.Second // in all, after the commit
)

// newFindings is the number of new findings that a result lists.
const newFindings = 20

// settle has a file saved that is unsaved in the editor, if the user agrees: a
// proposal is never made from a text that is not the newest. A result says why the
// edit cannot go on.
func (w writer) settle(ctx context.Context, call Call, path string) (*Result, error) {
	if w.Buffers == nil {
		return nil, nil
	}
	abs, name, err := w.Root.Resolve(path)
	in, unsaved := "", false
	if err == nil { // else the proposal says what is wrong
		in, unsaved = w.Buffers.Unsaved(ctx, abs)
	}
	if !unsaved {
		return nil, nil
	}
	verdict, err := w.Ask.Ask(ctx, confirm.Request{
		Tool: w.tool, Description: call.Description, Batch: call.Batch, Force: true,
		Save: &confirm.Save{Path: abs, Name: name, Editor: in},
	})
	if err != nil {
		return nil, UnansweredError{err}
	}
	if verdict.Decision != confirm.Approve {
		res := declined(w.tool, "edit", nothingChanged, verdict)
		res.ForModel = name + " has unsaved changes in the user's editor, so it cannot be edited. " + res.ForModel
		return &res, nil
	}
	if err := w.Buffers.Save(ctx, abs); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		res := failed("%s has unsaved changes in the user's editor, which could not be saved (%w): nothing was changed.", name, err)
		return &res, nil
	}
	return nil, nil
}

// reported is what the editor says about a file at one time.
type reported struct {
	all   []editor.Diagnostic
	known bool
	err   error
}

// lost says that an earlier edit of a file is gone from it.
func (w writer) lost(c workspace.Change) string {
	if w.Writes == nil {
		return ""
	}
	return w.Writes.Lost(c.Path, c.Text)
}

// wrote tells the editor of a change that was written as v approved it.
func (w writer) wrote(ctx context.Context, c workspace.Change, v confirm.Verdict) {
	if w.Writes == nil {
		return
	}
	if v.Text != nil {
		c.After = *v.Text
	}
	w.Writes.Wrote(ctx, editor.Write{Path: c.Path, Before: c.Text, After: c.After, By: v.By})
}

// report asks the editor about a file, within limit.
func (w writer) report(ctx context.Context, path string, wait, limit time.Duration) reported {
	if w.Reports == nil {
		return reported{err: editor.ErrNone}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var f reported
	f.all, f.known, f.err = w.Reports.Report(ctx, path, wait)
	return f
}

// news tells the model what the editor finds wrong with a file since an edit.
func (w writer) news(ctx context.Context, path string, before reported) string {
	if errors.Is(before.err, editor.ErrNone) {
		return ""
	}
	before = w.late.base(path, before)
	after := w.report(ctx, path, reportQuiet, reportAfter)
	switch {
	case errors.Is(after.err, editor.ErrNone):
		return ""
	case after.err != nil || !after.known:
		w.late.watch(path, before)
		return "\nThe editor's diagnostics of the file are not known."
	}
	w.late.watch(path, after)
	found, what := after.all, "Diagnostics of the file now (those before the edit are not known)"
	if before.err == nil && before.known {
		found, what = editor.NewSince(before.all, after.all), "New diagnostics since the edit"
	}
	if told := w.list(what, found); told != "" {
		return told
	}
	return "\nNo new errors or warnings in the editor so far."
}

// list is the errors and warnings among findings, below what they are; empty if
// there are none.
func (w writer) list(what string, found []editor.Diagnostic) string {
	found = slices.DeleteFunc(slices.Clone(found), func(d editor.Diagnostic) bool { return d.Severity > editor.SeverityWarning })
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b editor.Diagnostic) int { return int(a.Severity - b.Severity) })
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s:", what)
	for _, f := range found[:min(len(found), newFindings)] {
		b.WriteString("\n" + describe(w.Root, f))
	}
	if n := len(found) - newFindings; n > 0 {
		fmt.Fprintf(&b, "\n%d more; get_diagnostics lists them.", n)
	}
	return b.String()
}

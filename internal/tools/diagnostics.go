package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// How long an edit waits for the editor's diagnostics.
const (
	reportBefore = 500 * time.Millisecond // before the question
	reportQuiet  = 1500 * time.Millisecond
	reportAfter  = 3 * time.Second // in all, after the commit
)

// newFindings is the number of new diagnostics that a result lists.
const newFindings = 20

// Bounds of late diagnostics.
const (
	lateLimit   = 200 * time.Millisecond // for one file at one result
	lateResults = 8                      // after which a file is dropped
	lateFiles   = 16
)

// diagnostics reports the editor's diagnostics of edited files to the model: those at
// hand with the result of the edit, later ones with the next results.
type diagnostics struct {
	root     *workspace.Root
	reports  Reports // nil if there can be no editor
	files    []watchedFile
	toldMute bool // the model knows that the editor does not answer
}

// watchedFile is an edited file whose diagnostics may still change.
type watchedFile struct {
	path  string
	known report // reported to the model
	left  int    // results until the file is dropped
	fresh bool   // its own result is not out yet
}

// report is the editor's answer about a file at one time.
type report struct {
	all   []editor.Diagnostic
	known bool
	err   error
}

// report asks the editor about a file, within limit. It does not wait for one that has left the last
// question unanswered.
func (d *diagnostics) report(ctx context.Context, path string, wait, limit time.Duration) report {
	if d.reports == nil {
		return report{err: editor.ErrNone}
	}
	if d.reports.Mute() {
		limit = 0
	} else {
		d.toldMute = false
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var r report
	r.all, r.known, r.err = d.reports.Report(ctx, path, wait)
	return r
}

// edited asks about a file before an edit; since describes the report after it for the model.
func (d *diagnostics) edited(ctx context.Context, path string) (since func(context.Context) string) {
	before := d.report(ctx, path, 0, reportBefore)
	return func(ctx context.Context) string { return d.sinceEdit(ctx, path, before) }
}

// sinceEdit returns, for the model, the diagnostics of a file that are new since the
// edit.
func (d *diagnostics) sinceEdit(ctx context.Context, path string, before report) string {
	if errors.Is(before.err, editor.ErrNone) {
		return ""
	}
	before = d.base(path, before)
	after := d.report(ctx, path, reportQuiet, reportAfter)
	switch {
	case errors.Is(after.err, editor.ErrNone):
		return ""
	case d.reports.Mute():
		d.watch(path, before)
		if d.toldMute {
			return ""
		}
		d.toldMute = true
		return "\nThe editor did not answer when it was asked for the file's diagnostics. Edits do not wait for it again until it answers."
	case after.err != nil || !after.known:
		d.watch(path, before)
		return "\nThe editor's diagnostics of the file are not known."
	}
	d.watch(path, after)
	found, header := after.all, "Diagnostics of the file now (those before the edit are not known)"
	if before.err == nil && before.known {
		found, header = editor.NewSince(before.all, after.all), "New diagnostics since the edit"
	}
	if list := d.list(header, found); list != "" {
		return list
	}
	return "\nNo new errors or warnings in the editor so far."
}

// watch adds a file that was just edited. known was reported to the model.
func (d *diagnostics) watch(path string, known report) {
	d.files = slices.DeleteFunc(d.files, func(f watchedFile) bool { return f.path == path })
	d.files = append(d.files, watchedFile{path: path, known: known, left: lateResults, fresh: true})
	if len(d.files) > lateFiles {
		d.files = d.files[1:]
	}
}

// base returns the diagnostics of a file that were reported to the model, or otherwise if
// the file is not watched.
func (d *diagnostics) base(path string, otherwise report) report {
	for _, f := range d.files {
		if f.path == path {
			return f.known
		}
	}
	return otherwise
}

// late returns the new diagnostics of files that were edited before.
func (d *diagnostics) late(ctx context.Context) string {
	if len(d.files) > 0 && d.reports.Mute() {
		return ""
	}
	var b strings.Builder
	var keep []watchedFile
	for _, f := range d.files {
		if f.fresh {
			f.fresh = false
			keep = append(keep, f)
			continue
		}
		now := d.report(ctx, f.path, 0, lateLimit)
		if now.err != nil {
			continue // the editor is gone, or too slow to ask each time
		}
		if now.known {
			b.WriteString(d.since(f, now))
			f.known = now
		}
		if f.left--; f.left > 0 {
			keep = append(keep, f)
		}
	}
	d.files = keep
	return b.String()
}

func (d *diagnostics) since(f watchedFile, now report) string {
	name := f.path
	if _, rel, err := d.root.Resolve(f.path); err == nil {
		name = rel
	}
	found, header := now.all, "Diagnostics of %s now (those before its edit are not known)"
	if f.known.known {
		found, header = editor.NewSince(f.known.all, now.all), "New diagnostics of %s, found after the result of its edit"
	}
	return d.list(fmt.Sprintf(header, name), found)
}

// list returns the errors and warnings of found below a header, or "" if found has
// neither.
func (d *diagnostics) list(header string, found []editor.Diagnostic) string {
	found = slices.DeleteFunc(slices.Clone(found), func(d editor.Diagnostic) bool { return d.Severity > editor.SeverityWarning })
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b editor.Diagnostic) int { return int(a.Severity - b.Severity) })
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s:", header)
	for _, f := range found[:min(len(found), newFindings)] {
		b.WriteString("\n" + describe(d.root, f))
	}
	if n := len(found) - newFindings; n > 0 {
		fmt.Fprintf(&b, "\n%d more; get_diagnostics lists them.", n)
	}
	return b.String()
}

// severities names the editor's severities, from SeverityError on.
var severities = []string{"error", "warning", "info", "hint"}

// describe formats a finding on one line.
func describe(root *workspace.Root, f editor.Diagnostic) string {
	name := f.Path
	if _, rel, err := root.Resolve(f.Path); err == nil {
		name = rel
	}
	return fmt.Sprintf("[%s] %s:%d — %s", severityName(f.Severity), name, f.Line, sanitize.Line(toolcall.OneLine(f.Message, 300)))
}

func severityName(s editor.Severity) string {
	if i := int(s - editor.SeverityError); i >= 0 && i < len(severities) {
		return severities[i]
	}
	return "info"
}

// Reports returns the connected editor's diagnostics for the file at an absolute path,
// or for all files if path is empty. It gives the editor up to wait to look at the file.
// known is false if the editor has no diagnostics for it yet; the error is
// editor.ErrNone if no editor is connected.
type Reports interface {
	Report(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error)
	// Mute reports whether the editor has left such a question unanswered, and answered none since.
	Mute() bool
}

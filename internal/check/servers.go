package check

import (
	"context"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// byServer returns the plan to have the running language server of a file try a change. It cannot try one without
// some file of its languages.
func (r *Runner) byServer(c workspace.Change, all []workspace.Change) (p plan, ok bool) {
	if r.opt.Servers == nil {
		return p, false
	}
	name := r.opt.Servers.Tries(c.Path)
	if name == "" || slices.ContainsFunc(all, func(c workspace.Change) bool { return c.Delete && r.opt.Servers.Tries(c.Path) == name }) {
		return p, false
	}
	return plan{title: name, server: true}, true
}

// served has a language server try changes.
func (r *Runner) served(ctx context.Context, name string, all []workspace.Change) (confirm.CheckResult, error) {
	var proposals []langserver.Proposal
	for _, c := range all {
		if r.opt.Servers.Tries(c.Path) == name {
			proposals = append(proposals, langserver.Proposal{Path: c.Path, Before: c.Text, After: c.After, New: !c.Exists})
		}
	}
	before, after, err := r.opt.Servers.Try(ctx, name, proposals)
	if err != nil {
		return confirm.CheckResult{}, err
	}
	was, is := told(before), told(after)
	if len(is.problems) == 0 {
		return confirm.CheckResult{Gone: len(was.problems)}, nil
	}
	return compare(is, was), nil
}

// told returns the findings of a server as the outcome of a command that fails if it finds anything.
func told(found []editor.Diagnostic) (o outcome) {
	for _, d := range found {
		if d.Severity > editor.SeverityWarning || len(o.problems) == mostProblems {
			continue
		}
		text, _, _ := strings.Cut(d.Message, "\n") // the rest names lines, which move
		text = sanitize.Line(text)
		o.problems = append(o.problems, confirm.Problem{Path: d.Path, Line: d.Line, Column: d.Column, Warning: d.Severity == editor.SeverityWarning, Text: text})
		o.output += d.Path + ": " + text + "\n"
	}
	o.failed = len(o.problems) > 0
	return o
}

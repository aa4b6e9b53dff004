package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// diagnosticsLimit is the number of findings that get_diagnostics returns.
const diagnosticsLimit = 200

type getDiagnosticsArgs struct {
	Path     string `json:"path"`
	Severity string `json:"severity"`
}

var getDiagnosticsFacts = Facts{Name: "get_diagnostics", Kind: KindRead, Names: []string{"mcp__ide__getDiagnostics"}}

func getDiagnostics(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text},
		{Name: "severity", Schema: `{"type":"string","enum":["error","warning","info","hint"],"description":"minimum"}`},
	}
	return newTool(getDiagnosticsFacts.Name, params,
		func(a getDiagnosticsArgs) string { return "Diagnostics" + withPath("of", a.Path) },
		func(ctx context.Context, _ Call, a getDiagnosticsArgs) (Result, error) { return diagnose(ctx, d, a) })
}

func diagnose(ctx context.Context, d Deps, a getDiagnosticsArgs) (Result, error) {
	least := editor.SeverityHint
	if a.Severity != "" {
		i := slices.Index(severities, a.Severity)
		if i < 0 {
			return toolcall.Failed("severity is one of %s.", strings.Join(severities, ", ")), nil
		}
		least = editor.SeverityError + editor.Severity(i)
	}
	if d.Reports == nil {
		return toolcall.Failed("no editor connected"), nil
	}
	path, wait := "", time.Duration(0)
	if a.Path != "" {
		abs, _, err := d.Root.Resolve(a.Path)
		if err != nil {
			return toolcall.Failed("%w.", err), nil
		}
		path, wait = abs, reportQuiet
	}
	found, known, err := d.Reports.Report(ctx, path, wait)
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, editor.ErrNone):
		return toolcall.Failed("no editor connected"), nil
	case err != nil:
		return toolcall.Failed("The editor did not answer: %w.", err), nil
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f editor.Diagnostic) bool { return f.Severity > least })
	switch {
	case len(found) > 0:
		return diagnosticsResult(d, found), nil
	case path == "":
		return Result{ForModel: "No diagnostics are known. The editor may have checked only its open files: give a path to have that file checked.", ForUser: "none known"}, nil
	case !known:
		return Result{ForModel: "Not known: the file is not open in the editor, or the editor has not checked it since it was written.", ForUser: "not known"}, nil
	}
	return Result{ForModel: "No diagnostics.", ForUser: "none"}, nil
}

func diagnosticsResult(d Deps, found []editor.Diagnostic) Result {
	slices.SortStableFunc(found, func(a, b editor.Diagnostic) int { return int(a.Severity - b.Severity) })
	var b strings.Builder
	for _, f := range found[:min(len(found), diagnosticsLimit)] {
		b.WriteString(describe(d.Root, f) + "\n")
	}
	if len(found) > diagnosticsLimit {
		fmt.Fprintf(&b, "truncated: %d of %d shown\n", diagnosticsLimit, len(found))
	}
	return Result{ForModel: strings.TrimSuffix(b.String(), "\n"), ForUser: fmt.Sprintf("%d found", len(found))}
}

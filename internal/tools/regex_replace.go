package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type regexReplaceArgs struct {
	Path        string `json:"path"`
	Pattern     string `json:"pattern"`
	Replacement string `json:"replacement"`
	Count       int    `json:"count"`
	IgnoreCase  bool   `json:"ignore_case"`
	Multiline   bool   `json:"multiline"`
}

var regexReplaceFacts = Facts{Name: "regex_replace", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}

func regexReplace(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "pattern", Kind: args.Text, Required: true},
		{Name: "replacement", Kind: args.Text, Doc: "$1 and ${name} are groups", Required: true},
		{Name: "count", Kind: args.Integer},
		{Name: "ignore_case", Kind: args.Boolean},
		{Name: "multiline", Kind: args.Boolean, Doc: "^ and $ match at lines"},
	}
	w := d.writer(regexReplaceFacts.Name)
	return newTool(w.Tool, params,
		func(a regexReplaceArgs) string { return fmt.Sprintf("Replace /%s/ in %s", a.Pattern, a.Path) },
		func(ctx context.Context, call Call, a regexReplaceArgs) (Result, error) {
			return w.Apply(ctx, call, a.part())
		}).foresees(func(a regexReplaceArgs) []Foreseen { return foreseen(w, a.part(), a.Replacement) })
}

func (a regexReplaceArgs) part() change.Part {
	return change.Part{Path: a.Path, Edit: change.Existing(a.replace)}
}

func (a regexReplaceArgs) replace(f workspace.File) (edit.Result, error) {
	if a.Count < 0 {
		return edit.Result{}, errors.New("count is negative: leave it out to replace all")
	}
	return edit.Regex(f.Text, edit.Pattern{
		Expr: a.Pattern, Replacement: a.Replacement, Count: a.Count,
		IgnoreCase: a.IgnoreCase, Multiline: a.Multiline, EOL: f.Format.EOL,
	})
}

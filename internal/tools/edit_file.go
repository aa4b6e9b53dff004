package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type editFileArgs struct {
	Path       string `json:"path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

func editFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "old_string", Kind: args.Text, Required: true},
		{Name: "new_string", Kind: args.Text, Required: true},
		{Name: "replace_all", Kind: args.Boolean},
	}
	w := writer{d, "edit_file"}
	return newTool(w.tool, params,
		func(a editFileArgs) string { return "Edit " + a.Path },
		func(ctx context.Context, call Call, a editFileArgs) (Result, error) {
			return w.apply(ctx, call, a.Path, existing(a.replace))
		})
}

func (a editFileArgs) replace(f workspace.File) (edit.Result, error) {
	if a.OldString == "" {
		return edit.Result{}, errors.New("old_string is empty: use write_file to replace a whole file, append_file to add to its end")
	}
	if a.OldString == a.NewString {
		return edit.Result{}, errors.New("old_string and new_string are the same")
	}
	out, err := edit.Replace(f.Text, a.OldString, a.NewString, edit.Options{All: a.ReplaceAll, EOL: f.Format.EOL})
	if err != nil {
		return out, fmt.Errorf("old_string was %w", err)
	}
	return out, nil
}

package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type editFileArgs struct {
	Path       string        `json:"path"`
	OldString  *string       `json:"old_string"`
	NewString  *string       `json:"new_string"`
	ReplaceAll bool          `json:"replace_all"`
	Edits      []replacement `json:"edits"`
	Cell       string        `json:"cell"`
}

// replacement is one of several edits of a file.
type replacement struct {
	OldString  *string `json:"old_string"`
	NewString  *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
}

var editFileFacts = Facts{Name: "edit_file", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys, Mistaken: []string{"multiedit", "replace", "strreplace", "strreplaceeditor"}}

func editFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "old_string", Kind: args.Text},
		{Name: "new_string", Kind: args.Text},
		{Name: "replace_all", Kind: args.Boolean},
		{
			Name: "edits", Members: []string{"old_string", "new_string", "replace_all"},
			Schema: `{"type":"array","items":{"type":"object","properties":{"old_string":{"type":"string"},"new_string":{"type":"string"}}}}`,
		},
		{Name: "cell", Kind: args.Text},
	}
	w := d.writer(editFileFacts.Name)
	return newTool(w.Tool, params, editFileArgs.title,
		func(ctx context.Context, call Call, a editFileArgs) (Result, error) {
			return w.Apply(ctx, call, a.part())
		}).foresees(func(a editFileArgs) []Foreseen { return foreseen(w, a.part(), a.added()) })
}

func (a editFileArgs) part() change.Part {
	return change.Part{Path: a.Path, Edit: change.Existing(a.replace)}
}

func (a editFileArgs) title() string {
	if a.Cell != "" {
		return "Edit " + a.Path + ", cell " + a.Cell
	}
	return "Edit " + a.Path
}

// added returns the new texts.
func (a editFileArgs) added() string {
	texts := []string{orDefault(a.NewString, "")}
	for _, r := range a.Edits {
		texts = append(texts, orDefault(r.NewString, ""))
	}
	return strings.Join(texts, "\n")
}

// replace makes the edits in order, all of them or none.
func (a editFileArgs) replace(f workspace.File) (edit.Result, error) {
	if a.Cell != "" {
		return a.changeCell(f)
	}
	one := replacement{a.OldString, a.NewString, a.ReplaceAll}
	if len(a.Edits) == 0 {
		return one.make(f.Text, f.Format.EOL)
	}
	if !one.isEmpty() {
		return edit.Result{}, errors.New("send either old_string and new_string, or edits")
	}
	out := edit.Result{Text: f.Text}
	var faults []error
	for i, r := range a.Edits {
		next, err := r.make(out.Text, f.Format.EOL)
		if err != nil {
			faults = append(faults, fmt.Errorf("edit %d: %w", i+1, err))
			continue
		}
		out.Text = next.Text
		out.Stage = max(out.Stage, next.Stage)
		out.Places += next.Places
		out.Matched = append(out.Matched, next.Matched...)
		if i == 0 {
			out.Line = next.Line
		}
	}
	if len(faults) > 0 {
		return edit.Result{}, fmt.Errorf("%d of %d edits do not apply, each to the text that the ones before it leave.%s",
			len(faults), len(a.Edits), edit.Faults(faults))
	}
	return out, nil
}

// isEmpty reports whether r holds no text: some models send every key.
func (r replacement) isEmpty() bool {
	return orDefault(r.OldString, "")+orDefault(r.NewString, "") == ""
}

// make makes one edit of text.
func (r replacement) make(text, eol string) (edit.Result, error) {
	switch {
	case r.OldString == nil || r.NewString == nil:
		return edit.Result{}, errors.New("old_string or new_string is missing: send both, an empty new_string to delete")
	case *r.OldString == "":
		return edit.Result{}, errors.New("old_string is empty: use write_file to replace a whole file, append_file to add to its end")
	case *r.OldString == *r.NewString:
		return edit.Result{}, errors.New("old_string and new_string are the same")
	}
	out, err := edit.Replace(text, *r.OldString, *r.NewString, edit.Options{All: r.ReplaceAll, EOL: eol})
	if err != nil {
		return out, fmt.Errorf("old_string was %w", err)
	}
	return out, nil
}

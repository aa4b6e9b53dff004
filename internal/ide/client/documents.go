package client

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// Documents handles the editor's files.
type Documents struct{ c *Client }

// Open brings a file to the front of the editor. Lines are 1-based and inclusive; 0
// selects nothing.
func (d *Documents) Open(ctx context.Context, path string, startLine, endLine int) error {
	args := map[string]any{"filePath": path, "preview": true, "makeFrontmost": true}
	if startLine > 0 {
		args["startLine"], args["endLine"] = startLine, max(startLine, endLine)
	}
	_, err := d.c.call(ctx, "openFile", args)
	return err
}

// Diagnostics returns the diagnostics of path, or of all files if path is empty. The
// editor waits up to wait for its language servers to settle. If known is false, the
// editor cannot tell (the file is not shown, or the servers did not settle): an empty
// list then does not mean that there are no problems.
func (d *Documents) Diagnostics(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error) {
	args := map[string]any{}
	if path != "" {
		args["uri"] = toURI(path)
	}
	if wait > 0 && d.c.Info().Ours {
		args["waitMs"] = wait.Milliseconds()
	}
	a, err := d.c.call(ctx, "getDiagnostics", args)
	var refused *ToolError
	switch {
	case errors.As(err, &refused) && !refused.unsupported:
		return nil, false, nil // the file is not open there
	case err != nil:
		return nil, false, err
	}
	found, ok := readDiagnostics(a.first(), path, d.c.emacs)
	return found, ok && settled(a), nil
}

// settled reads the second item of our own extension.
func settled(a answer) bool {
	if len(a.items) < 2 {
		return true
	}
	told := struct {
		Settled *bool `json:"settled"`
	}{}
	if strict.Unmarshal([]byte(a.items[1]), &told) != nil || told.Settled == nil {
		return true
	}
	return *told.Settled
}

// CurrentSelection returns the selection in the active editor.
func (d *Documents) CurrentSelection(ctx context.Context) (Selection, error) {
	return d.selection(ctx, "getCurrentSelection")
}

// LatestSelection returns the last selection, even if it has lost the focus.
func (d *Documents) LatestSelection(ctx context.Context) (Selection, error) {
	return d.selection(ctx, "getLatestSelection")
}

func (d *Documents) selection(ctx context.Context, tool string) (Selection, error) {
	a, err := d.c.call(ctx, tool, struct{}{})
	if err != nil {
		return Selection{}, err
	}
	return readSelection([]byte(a.first()), d.c.emacs), nil
}

// maxTabs bounds a list of tabs or folders.
const maxTabs = 1000

// Tabs returns the open files.
func (d *Documents) Tabs(ctx context.Context) ([]editor.Tab, error) {
	a, err := d.c.call(ctx, "getOpenEditors", struct{}{})
	if err != nil {
		return nil, err
	}
	var tabs []editor.Tab
	for _, raw := range list(a.first(), "tabs") {
		var t struct {
			located
			Active bool `json:"isActive"`
			Dirty  bool `json:"isDirty"`
		}
		_ = strict.Unmarshal(raw, &t) // missing fields stay empty
		if path := t.path(raw); path != "" && !isTab(path) && len(tabs) < maxTabs {
			tabs = append(tabs, editor.Tab{Path: path, Active: t.Active, Dirty: t.Dirty})
		}
	}
	return tabs, nil
}

// Lines returns the number of lines of a file that the editor holds unchanged, or 0 if
// it does not report it.
func (d *Documents) Lines(ctx context.Context, path string) int {
	a, err := d.c.call(ctx, "getOpenEditors", struct{}{})
	if err != nil {
		return 0
	}
	for _, raw := range list(a.first(), "tabs") {
		var t struct {
			located
			Dirty bool    `json:"isDirty"`
			Lines float64 `json:"lineCount"`
		}
		if strict.Unmarshal(raw, &t) == nil && !t.Dirty && t.path(raw) == path {
			return whole(t.Lines)
		}
	}
	return 0
}

// Folders returns the workspace's folders.
func (d *Documents) Folders(ctx context.Context) ([]string, error) {
	a, err := d.c.call(ctx, "getWorkspaceFolders", struct{}{})
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, raw := range list(a.first(), "folders") {
		var f located
		_ = strict.Unmarshal(raw, &f) // missing fields stay empty
		if path := f.path(raw); path != "" && len(folders) < maxTabs {
			folders = append(folders, filepath.Clean(path))
		}
	}
	return folders, nil
}

// Buffer is the editor's state of a file.
type Buffer struct {
	Open  bool
	Dirty bool // it has unsaved changes
	// Text and SHA256 (hex) are set on request, by editors that speak our whole protocol.
	Text   *string
	SHA256 string
}

// Buffer reports whether a file has unsaved changes in the editor.
func (d *Documents) Buffer(ctx context.Context, path string, withText bool) (Buffer, error) {
	args := map[string]any{"filePath": path}
	if withText && d.c.Info().Ours {
		args["includeText"] = true
	}
	a, err := d.c.call(ctx, "checkDocumentDirty", args)
	var refused *ToolError
	if errors.As(err, &refused) && !refused.unsupported {
		return Buffer{}, nil // the file is not open there
	}
	if err != nil {
		return Buffer{}, err
	}
	var told struct {
		Success *bool   `json:"success"`
		IsDirty *bool   `json:"isDirty"`
		Dirty   *bool   `json:"dirty"`
		Text    *string `json:"text"`
		SHA256  string  `json:"sha256"`
	}
	if strict.Unmarshal([]byte(a.first()), &told) != nil {
		return Buffer{}, &ToolError{Message: "its answer cannot be read"}
	}
	b := Buffer{Text: told.Text, SHA256: told.SHA256}
	for _, flag := range []*bool{told.IsDirty, told.Dirty} {
		if flag != nil {
			b.Open, b.Dirty = true, b.Dirty || *flag
		}
	}
	if told.Success != nil && !*told.Success {
		return Buffer{}, nil
	}
	return b, nil
}

// Save saves a file in the editor.
func (d *Documents) Save(ctx context.Context, path string) error {
	a, err := d.c.call(ctx, "saveDocument", map[string]string{"filePath": path})
	if err != nil {
		return err
	}
	var told struct {
		Success *bool  `json:"success"`
		Saved   *bool  `json:"saved"`
		Message string `json:"message"`
	}
	if strict.Unmarshal([]byte(a.first()), &told) != nil {
		if strings.EqualFold(strings.Trim(a.first(), `"`), "ok") {
			return nil
		}
		return &ToolError{Message: "its answer cannot be read"}
	}
	for _, flag := range []*bool{told.Success, told.Saved} {
		if flag != nil && !*flag {
			return (&ToolError{Message: told.Message}).bounded()
		}
	}
	return nil
}

// Removed tells the editor that the file at path is gone, or has moved to the path to, so
// that it closes its tabs. It returns ErrUnsupported for an editor that does not speak our whole protocol.
func (d *Documents) Removed(ctx context.Context, path, to string) error {
	if !d.c.Info().Ours {
		return ErrUnsupported
	}
	args := map[string]string{"filePath": path}
	if to != "" {
		args["movedTo"] = to
	}
	_, err := d.c.call(ctx, "fileRemoved", args)
	return err
}

// NotWritten has the editor tell the person that a change approved there was not written.
func (d *Documents) NotWritten(ctx context.Context, path, why string) error {
	if !d.c.Info().Ours {
		return ErrUnsupported
	}
	return d.c.conn.Notify(ctx, "not_written", map[string]string{"filePath": path, "reason": why})
}

// Reload has the editor read again a file that it holds without changes. It returns
// false if the editor did not, or has no such tool.
func (d *Documents) Reload(ctx context.Context, path string) bool {
	const tool = "reloadBuffer" // of Emacs
	if !slices.Contains(d.c.Info().Tools, tool) {
		return false
	}
	// It would discard unsaved changes.
	if buf, err := d.Buffer(ctx, path, false); err != nil || buf.Dirty {
		return false
	}
	a, err := d.c.call(ctx, tool, map[string]string{"file_path": path})
	return err == nil && strings.Contains(a.first(), "reloaded")
}

// list returns the elements of a JSON array, bare or in a field.
func list(text, field string) []jsontext.Value {
	var bare []jsontext.Value
	if strict.Unmarshal([]byte(text), &bare) == nil {
		return bare
	}
	var wrapped map[string]jsontext.Value
	if strict.Unmarshal([]byte(text), &wrapped) != nil {
		return nil
	}
	if strict.Unmarshal(wrapped[field], &bare) != nil {
		return nil
	}
	return bare
}

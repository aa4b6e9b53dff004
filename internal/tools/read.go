package tools

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// reader reads outside the workspace if a person agrees.
type reader struct {
	Deps
	tool string
}

// allowed calls open. If path is outside the workspace, it asks first; refused is set if
// the answer is no.
func (r reader) allowed(ctx context.Context, call Call, path string, open func() error) (refused *Result, err error) {
	abs, _, err := r.Root.Resolve(path)
	if !errors.Is(err, workspace.ErrOutside) || r.wasAllowed(abs) {
		return nil, open()
	}
	if why := permission.NeverRead(abs, r.Home); why != "" {
		res := failed("%s is never read: %s.", path, why)
		return &res, nil
	}
	_, _, err = r.Root.FS(path)
	remarks, force := readNotes(abs, errors.Is(err, workspace.ErrOutside))
	verdict, err := r.Ask.Ask(ctx, confirm.Request{
		Tool: r.tool, Description: call.Description, Batch: call.Batch, Notes: remarks, Force: force, Read: &confirm.Read{Path: abs},
	})
	if err != nil {
		return nil, UnansweredError{err}
	}
	if verdict.Decision != confirm.Approve {
		res := declined(r.tool, "read outside the workspace", "Nothing was read.", verdict)
		return &res, nil
	}
	r.Root.Outside().Allow(abs)
	return nil, open()
}

// wasAllowed reports whether a person has agreed to read abs. Agreeing to a folder does
// not cover places in it that usually hold keys.
func (r reader) wasAllowed(abs string) bool {
	by := r.Root.Outside().By(abs)
	return by != "" && !permission.Secret(strings.TrimPrefix(abs, by))
}

// folder opens the folder at path for searching; an empty path is the main folder. name
// is its name for the model.
func (r reader) folder(ctx context.Context, call Call, path string) (f search.Folder, name string, refused *Result, err error) {
	if path == "" {
		path = "."
	}
	refused, err = r.allowed(ctx, call, path, func() (err error) {
		f.FS, name, err = r.Root.FS(path)
		return err
	})
	if refused != nil || err != nil {
		return f, name, refused, err
	}
	f.Abs, _, _ = r.Root.Resolve(path) // it resolves: FS has just opened it
	f.Root = f.Abs
	for _, root := range r.Root.Roots() {
		if rel, err := filepath.Rel(root, f.Abs); err == nil && filepath.IsLocal(rel) {
			f.Root = root
			break
		}
	}
	return f, name, nil, nil
}

// unreadable explains to the model why a path cannot be read and what to do. An error of
// ctx or of the Asker ends the turn.
func (r reader) unreadable(ctx context.Context, path string, err error) (Result, error) {
	var ask UnansweredError
	switch {
	case errors.As(err, &ask):
		return Result{}, ask
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return failed("%s does not exist.%s", path, didYouMean(r.Root, path)), nil
	case errors.Is(err, fs.ErrPermission):
		return failed("%s cannot be read: permission denied.", path), nil
	}
	return failed("%w.", err), nil
}

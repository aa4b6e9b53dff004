package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// reader asks a person before it reads a file outside the workspace, or one that usually
// holds keys.
type reader struct {
	Deps
	tool string
}

// allowed calls open. If a person has to agree to read path, it asks first; refused is set
// if the answer is no.
func (r reader) allowed(ctx context.Context, call Call, path string, open func() error) (refused *Result, err error) {
	abs, name, err := r.Root.Resolve(path)
	inside := err == nil
	if why := permission.NeverRead(abs, r.Home); why != "" && (inside || errors.Is(err, workspace.ErrOutside)) {
		res := toolcall.Failed("%s is never read: %s.", path, why)
		return &res, nil
	}
	free := !inside && !errors.Is(err, workspace.ErrOutside) || inside && (!r.NeedsAnswer(name, abs) || r.missing(path))
	if free || r.Allowed(abs) {
		return nil, open()
	}
	if err := call.WaitTurn(ctx); err != nil {
		return nil, UnansweredError{Err: err}
	}
	if r.Allowed(abs) { // at the question of an earlier call
		return nil, open()
	}
	verdict, err := r.Ask.Ask(ctx, r.request(call, path, abs, name, inside))
	if err != nil {
		return nil, UnansweredError{Err: err}
	}
	if verdict.Decision != confirm.Approve {
		res := toolcall.Declined(r.tool, r.readKind(inside, name, abs), "Nothing was read.", verdict)
		return &res, nil
	}
	r.Root.Outside().Allow(abs)
	return nil, open()
}

// request returns the question whether path may be read. abs and name are its resolved
// path, inside whether that is in the workspace.
func (r reader) request(call Call, path, abs, name string, inside bool) confirm.Request {
	_, _, err := r.Root.FS(path)
	remarks, force := r.readNotes(abs, errors.Is(err, workspace.ErrOutside))
	asked := &confirm.Read{Path: abs, Inside: inside}
	if inside {
		asked.Keys = permission.Keys(name, abs, r.Home)
	}
	if !filepath.IsAbs(name) {
		asked.Name = name
	}
	return confirm.Request{
		Tool: r.tool, Description: call.Description, Batch: call.Batch, Notes: remarks, Force: force, Subject: asked,
	}
}

// foresee returns the question that a read of path would ask if it exists.
func (r reader) foresee(path string) []Foreseen {
	abs, name, err := r.Root.Resolve(cmp.Or(path, "."))
	inside := err == nil
	if !inside && !errors.Is(err, workspace.ErrOutside) || inside && !r.NeedsAnswer(name, abs) || r.Allowed(abs) || permission.NeverRead(abs, r.Home) != "" {
		return nil
	}
	return []Foreseen{{Request: r.request(Call{}, path, abs, name, inside)}}
}

// readKind describes a read that needs an answer.
func (d Deps) readKind(inside bool, name, abs string) string {
	if !inside {
		return "read outside the workspace"
	}
	if keys := permission.Keys(name, abs, d.Home); keys != "" {
		return "read of a file that " + keys
	}
	return "read"
}

// missing reports whether path does not exist, so that nobody needs to be asked.
func (r reader) missing(path string) bool {
	s, err := r.Root.Open(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && s.Close() != nil
}

// nameOf returns the name of a file as in workspace.Root.Resolve.
func (d Deps) nameOf(abs string) string {
	if rel, ok := subpath.Of(d.Root.Dir(), abs); ok {
		return rel
	}
	return abs
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
	if refused != nil {
		return f, name, refused, err
	}
	if err != nil {
		if f, name, ok := r.pendingFolder(path, err); ok {
			return f, name, nil, nil
		}
		return f, name, nil, err
	}
	f.Abs, _, _ = r.Root.Resolve(path) // it resolves: FS has just opened it
	f.FS, _ = r.Pending.FS(f.FS, f.Abs)
	f.Root = f.Abs
	for _, root := range r.Root.Roots() {
		if subpath.In(root, f.Abs) {
			f.Root = root
			break
		}
	}
	return f, name, nil, nil
}

// pendingFolder returns a folder that is not on disk, but has pending files.
func (r reader) pendingFolder(path string, why error) (f search.Folder, name string, ok bool) {
	abs, name, err := r.Root.Resolve(path)
	if err != nil || !errors.Is(why, fs.ErrNotExist) {
		return f, name, false
	}
	f.FS, ok = r.Pending.FS(nil, abs)
	f.Abs, f.Root = abs, r.Root.Dir()
	return f, name, ok
}

// open opens the file at path as it is with its pending change.
func (r reader) open(path string) (*workspace.Stream, error) {
	if abs, name, err := r.Root.Resolve(path); err == nil {
		if why := r.Guards(name, abs); why != "" && r.Pending.Has(abs) {
			return nil, fmt.Errorf("%s %s: %w", name, why, workspace.ErrGuarded)
		}
		if f, ok, err := r.Pending.Read(abs); err != nil {
			return nil, err
		} else if ok {
			return workspace.StreamOf(f)
		}
	}
	return r.Root.Open(path)
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
		return toolcall.Failed("%s does not exist.%s", path, r.DidYouMean(path)), nil
	case errors.Is(err, fs.ErrPermission):
		return toolcall.Failed("%s cannot be read: permission denied.", path), nil
	}
	return toolcall.Failed("%w.", err), nil
}

// readNotes returns the notes for a reviewer of a read outside the workspace, and whether
// a person has to look at it whatever was answered before.
func (d Deps) readNotes(abs string, folder bool) (notes []caution.Note, force bool) {
	if folder {
		notes = caution.Notes("This is a folder: everything in it may be read from then on, except places that may contain passwords or keys.")
	}
	if permission.Secret(abs) || permission.Credentials(abs) != "" || d.Ours(abs) {
		notes = append(notes, caution.Notes("It may contain passwords, and its contents would be sent to the model. A yes lasts until the session ends (/permissions).")...)
		force = true
	}
	return notes, force
}

package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/tools/search"
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
		res := failed("%s is never read: %s.", path, why)
		return &res, nil
	}
	free := !inside && !errors.Is(err, workspace.ErrOutside) || inside && (!r.needsAnswer(name, abs) || r.missing(path))
	if free || r.wasAllowed(abs) {
		return nil, open()
	}
	if err := call.await(ctx); err != nil {
		return nil, UnansweredError{err}
	}
	if r.wasAllowed(abs) { // at the question of an earlier call
		return nil, open()
	}
	verdict, err := r.Ask.Ask(ctx, r.request(call, path, abs, name, inside))
	if err != nil {
		return nil, UnansweredError{err}
	}
	if verdict.Decision != confirm.Approve {
		res := declined(r.tool, r.readKind(inside, name, abs), "Nothing was read.", verdict)
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
	if !inside && !errors.Is(err, workspace.ErrOutside) || inside && !r.needsAnswer(name, abs) || r.wasAllowed(abs) || permission.NeverRead(abs, r.Home) != "" {
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

// hides reports whether the text of the file at path is kept from the model until a person
// agrees to read it.
func (d Deps) hides(path string) bool {
	abs, name, err := d.Root.Resolve(path)
	return err == nil && d.guards(name, abs) != ""
}

// guards explains why the text of the file abs is kept from the model, as the predicate of
// a sentence about it; "" if it is not. No tool opens such a file: see workspace.Root.Guard.
func (d Deps) guards(name, abs string) string {
	if why := permission.NeverRead(abs, d.Home); why != "" {
		return "is never read, as " + why
	}
	switch {
	case d.wasAllowed(abs):
		return ""
	case d.withheld(name, abs):
		return "is kept from the model by a rule"
	}
	return permission.Keys(name, abs, d.Home)
}

// needsAnswer reports whether a file in the workspace is not simply read: it usually holds
// keys, does so as the settings of git, or a rule withholds it.
func (d Deps) needsAnswer(name, abs string) bool {
	return permission.Keys(name, abs, d.Home) != "" || d.withheld(name, abs)
}

func (d Deps) withheld(name, abs string) bool {
	return d.Withholds != nil && d.Withholds(name, abs)
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

// wasAllowed reports whether a person has agreed to read abs. Agreeing to a folder does
// not cover places in it that usually hold keys or that a rule withholds.
func (d Deps) wasAllowed(abs string) bool {
	by := d.Root.Outside().By(abs)
	switch {
	case by == "" || by == abs:
		return by == abs
	case permission.Secret(strings.TrimPrefix(abs, by)), permission.Credentials(abs) != "", d.withheld(abs, abs):
		return false
	}
	return !d.ofOurs(abs) || d.ofOurs(by)
}

// ofOurs reports whether a path is in the program's own folder.
func (d Deps) ofOurs(abs string) bool {
	return d.Home != "" && subpath.In(d.Home, abs)
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
		if why := r.guards(name, abs); why != "" && r.Pending.Has(abs) {
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
		return failed("%s does not exist.%s", path, didYouMean(r.Root, path)), nil
	case errors.Is(err, fs.ErrPermission):
		return failed("%s cannot be read: permission denied.", path), nil
	}
	return failed("%w.", err), nil
}

package workspace

import (
	"errors"
	"os"
	"sync"
)

// allowed are the paths outside the workspace that may be read.
type allowed struct {
	mu    sync.Mutex
	paths []string
	roots map[string]*os.Root // folders that were walked, by path
}

// AllowRead lets the file abs outside the workspace be read from now on; for a
// folder, everything below it. abs is as Resolve returned it.
func (r *Root) AllowRead(abs string) {
	r.files.allowed.mu.Lock()
	defer r.files.allowed.mu.Unlock()
	r.files.allowed.paths = append(r.files.allowed.paths, abs)
}

// ReadAllowed returns what was allowed that abs, outside the workspace, may be read by:
// itself, or the innermost folder that it is in.
func (r *Root) ReadAllowed(abs string) (by string, ok bool) {
	r.files.allowed.mu.Lock()
	defer r.files.allowed.mu.Unlock()
	for _, path := range r.files.allowed.paths {
		if _, in := below(path, abs); in && len(path) > len(by) {
			by, ok = path, true
		}
	}
	return by, ok
}

func (a *allowed) has(abs string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, path := range a.paths {
		if _, ok := below(path, abs); ok {
			return true
		}
	}
	return false
}

// open returns a handle of the folder abs that lives as long as the workspace.
func (a *allowed) open(abs string) (*os.Root, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if root := a.roots[abs]; root != nil {
		return root, nil
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	if a.roots == nil {
		a.roots = map[string]*os.Root{}
	}
	a.roots[abs] = root
	return root, nil
}

func (a *allowed) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, root := range a.roots {
		errs = append(errs, root.Close())
	}
	clear(a.roots)
	return errors.Join(errs...)
}

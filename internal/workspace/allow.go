package workspace

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// Outside holds the paths outside the workspace that may be read. It is safe for
// concurrent use.
type Outside struct {
	mu    sync.Mutex
	paths []string            // allowed by a person
	own   []string            // by the program
	roots map[string]*os.Root // folders that were walked, by path
}

// Outside returns the paths outside the workspace that may be read.
func (r *Root) Outside() *Outside { return &r.files.outside }

// Allow lets the file abs be read from now on, or everything below the folder abs. abs is
// a result of Resolve.
func (o *Outside) Allow(abs string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.paths, abs) {
		o.paths = append(o.paths, abs)
	}
}

// AllowOwn is Allow for a file of the program's own, which needs no person's consent.
func (o *Outside) AllowOwn(abs string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.own = append(o.own, abs)
}

// Allowed returns the paths that a person has allowed, oldest first.
func (o *Outside) Allowed() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.paths)
}

// Revoke withdraws a path that a person has allowed, and reports whether there was one.
func (o *Outside) Revoke(abs string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.paths)
	o.paths = slices.DeleteFunc(o.paths, func(path string) bool { return path == abs })
	return len(o.paths) < before
}

// Forget withdraws all paths. No read may be in progress.
func (o *Outside) Forget() error {
	o.mu.Lock()
	o.paths, o.own = nil, nil
	o.mu.Unlock()
	return o.close()
}

// By returns the allowed path that lets abs be read: abs itself or the innermost folder
// that holds it; "" if abs may not be read.
func (o *Outside) By(abs string) (by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range slices.Concat(o.paths, o.own) {
		if _, in := below(path, abs); in && len(path) > len(by) {
			by = path
		}
	}
	return by
}

// open returns a handle of the folder abs that lives as long as the workspace.
func (o *Outside) open(abs string) (*os.Root, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if root := o.roots[abs]; root != nil {
		return root, nil
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	if o.roots == nil {
		o.roots = map[string]*os.Root{}
	}
	o.roots[abs] = root
	return root, nil
}

func (o *Outside) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, root := range o.roots {
		errs = append(errs, root.Close())
	}
	clear(o.roots)
	return errors.Join(errs...)
}

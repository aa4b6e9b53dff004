package workspace

import (
	"errors"
	"os"
	"sync"
)

// Outside are the paths outside the workspace that may be read. It is safe for
// concurrent use.
type Outside struct {
	mu    sync.Mutex
	paths []string
	roots map[string]*os.Root // folders that were walked, by path
}

// Outside returns what may be read outside the workspace.
func (r *Root) Outside() *Outside { return &r.files.outside }

// Allow lets the file abs be read from now on; for a folder, everything below it. abs
// is as Resolve returned it.
func (o *Outside) Allow(abs string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paths = append(o.paths, abs)
}

// By returns what was allowed that abs may be read by: itself, or the innermost folder
// that it is in; empty if it may not be read.
func (o *Outside) By(abs string) (by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range o.paths {
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

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// MaxFileSize is the size in bytes of the largest file that Read, Propose and
// Commit take.
const MaxFileSize = 10 << 20

// Options says how a workspace is opened.
type Options struct {
	// Extra are further folders that may be read and written.
	Extra []string
	// Home is the program's own folder; the undo journal is kept under it. A
	// workspace without it can be read but not written.
	Home string
	// Fallback is the encoding of files that are not valid UTF-8 and have no
	// byte order mark; empty means Latin1.
	Fallback Encoding
	// Session, if set, limits undo to the changes of that session.
	Session string
}

// Origin says what a change was made for.
type Origin struct{ Session, Turn, Tool string }

// Root is an open workspace. Its methods may be called concurrently; commits
// and undos happen one after the other.
type Root struct {
	folders  []folder // the main one first
	fallback Encoding
	session  string
	allowed  allowed

	committing sync.Mutex // held by Commit and Undo
	journal    *journal

	// at is called before each step of a commit, and its error is taken for the
	// step's. Nil outside of tests, which inject faults, races and crashes here.
	at func(step) error
}

// folder is one of the folders of a workspace. root makes sure that nothing
// below path leads out of it.
type folder struct {
	path string // absolute, symlinks resolved
	root *os.Root
}

// Open opens the workspace at dir. It also cleans up after processes that died
// while they wrote to it: their temp files are removed and the undo journal is
// brought up to what is on disk.
func Open(dir string, opt Options) (*Root, error) {
	if opt.Fallback == "" {
		opt.Fallback = Latin1
	}
	if _, err := codecOf(opt.Fallback); err != nil {
		return nil, err
	}
	r := &Root{fallback: opt.Fallback, session: opt.Session, at: func(step) error { return nil }}
	for _, path := range append([]string{dir}, opt.Extra...) {
		f, err := openFolder(path)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.folders = append(r.folders, f)
	}
	if opt.Home != "" {
		r.journal = newJournal(opt.Home, r.Dir())
		r.journal.failed = r.journal.recover()
	}
	return r, nil
}

func openFolder(path string) (folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return folder{}, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return folder{}, err
	}
	root, err := os.OpenRoot(abs)
	return folder{abs, root}, err
}

// Close releases the workspace.
func (r *Root) Close() error {
	var errs []error
	for _, f := range r.folders {
		errs = append(errs, f.root.Close())
	}
	errs = append(errs, r.allowed.close())
	if r.journal != nil {
		errs = append(errs, r.journal.close())
	}
	return errors.Join(errs...)
}

// Dir is the absolute path of the main folder, symlinks resolved.
func (r *Root) Dir() string { return r.folders[0].path }

// Roots lists the folders of the workspace; the first is Dir.
func (r *Root) Roots() []string {
	out := make([]string, len(r.folders))
	for i, f := range r.folders {
		out[i] = f.path
	}
	return out
}

package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// MaxFileSize is the size limit of Read, Propose and Commit in bytes.
const MaxFileSize = text.MaxSize

// Options configures Open.
type Options struct {
	// Extra lists more folders that may be read and written.
	Extra []string
	// Home is the program's own folder, which holds the undo journal. Without it the
	// workspace is read-only.
	Home string
	// Fallback is the encoding of files that are not valid UTF-8 and have no byte order
	// mark; empty means Latin1.
	Fallback Encoding
	// Asked, if not nil, is called before Fallback is used and by WithEncoding, with the file's
	// absolute path; it returns "" if it does not know.
	Asked func(path string) Encoding
	// Host holds files, too.
	Host Host
	// Committed, if not nil, is called after each commit with the file as written.
	Committed func(ctx context.Context, f File, by Origin)
}

// Host is a program, such as an editor, that hosts the session and holds files. The zero
// value holds none.
type Host struct {
	// Buffer returns the host's text of the file at an absolute path, which may have unsaved
	// changes; ok is false if the host does not know, and an error means that it may. It may
	// be nil.
	Buffer func(path string) (text string, ok bool, err error)
	// Write sets the text of the file at an absolute path, and saves it. If it is nil, the
	// workspace writes.
	Write func(path, text string) error
}

// Origin records the reason for a change.
type Origin = journal.Origin

// HookTool is the tool of changes by hooks that ran after a call. They are undone with the
// changes by the call.
const HookTool = "hook"

// Root is an open workspace. Its methods may be called concurrently; commits run one at a
// time.
type Root struct {
	files files
	host  Host
	past  past // of the files that the host was asked for, or may hold

	committing sync.Mutex       // held by Commit
	journal    *journal.Journal // nil without a home

	committed func(context.Context, File, Origin) // may be nil

	// at is called before each step of a commit and can fail it. It is nil except in
	// tests, which inject faults, races and crashes.
	at func(step) error
}

// step names a point in a commit, for tests.
type step string

// The steps of a commit, in order.
const (
	stepBlob    step = "blob"    // before the old content goes to the journal
	stepJournal step = "journal" // before the entry goes to the journal
	stepTemp    step = "temp"    // before the temp file is made
	stepSync    step = "sync"    // before the temp file is synced
	stepCheck   step = "check"   // before the file is compared
	stepRename  step = "rename"  // before the temp file takes the file's place
	stepDone    step = "done"    // the file is in its place; its folder is yet to be synced
)

// files finds and reads files.
type files struct {
	folders  []folder // the main folder first
	fallback Encoding
	asked    func(path string) Encoding // see Options.Asked
	outside  Outside
	guard    atomic.Pointer[func(name, abs string) string]
}

// folder is one of the folders of a workspace. root ensures that nothing below path leads
// out of it.
type folder struct {
	path string // absolute, symlinks resolved
	root *os.Root
}

// Open opens the workspace at dir. It also cleans up after processes that died while they
// wrote to it: it removes their temp files and brings the undo journal in line with the
// disk.
func Open(dir string, opt Options) (*Root, error) {
	if opt.Fallback == "" {
		opt.Fallback = Latin1
	}
	if err := text.Check(opt.Fallback); err != nil {
		return nil, err
	}
	r := &Root{files: files{fallback: opt.Fallback, asked: opt.Asked}, host: opt.Host, committed: opt.Committed, at: func(step) error { return nil }}
	for _, path := range append([]string{dir}, opt.Extra...) {
		f, err := openFolder(path)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.files.folders = append(r.files.folders, f)
	}
	if opt.Home != "" {
		r.journal = journal.Open(opt.Home, r.Dir(), recovery())
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

// Encoding returns the encoding of files that do not show theirs, and a function that knows better
// for a file at an absolute path, or returns ""; nil without an editor.
func (r *Root) Encoding() (fallback Encoding, asked func(path string) Encoding) {
	return r.files.fallback, r.files.asked
}

// unmarked returns the encoding of the file at p for bytes that do not show it.
func (fl *files) unmarked(p place) text.Fallback {
	if fl.asked == nil {
		return text.Fallback{Encoding: fl.fallback}
	}
	return text.Fallback{Encoding: fl.fallback, Ask: func() Encoding { return fl.asked(p.abs) }}
}

// Close releases the workspace.
func (r *Root) Close() error {
	var errs []error
	for _, f := range r.files.folders {
		errs = append(errs, f.root.Close())
	}
	errs = append(errs, r.files.outside.close())
	if r.journal != nil {
		errs = append(errs, r.journal.Close())
	}
	return errors.Join(errs...)
}

// Dir returns the absolute path of the main folder, symlinks resolved.
func (r *Root) Dir() string { return r.files.folders[0].path }

// Roots returns the paths of all folders, starting with Dir.
func (r *Root) Roots() []string {
	out := make([]string, len(r.files.folders))
	for i, f := range r.files.folders {
		out[i] = f.path
	}
	return out
}

// removeEmpty removes those of dirs (outermost first) that are empty. Others are in use
// by now and stay.
func (f *folder) removeEmpty(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		rel, ok := below(f.path, dirs[i])
		if !ok || rel == "." {
			continue
		}
		if info, err := f.root.Lstat(rel); err == nil && info.IsDir() {
			_ = f.root.Remove(rel) // fails unless it is empty
		}
	}
}

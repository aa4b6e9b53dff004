package workspace

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// State is the state of a path: a file, a link, a folder, or nothing.
type State struct {
	Mode fs.FileMode // type and permissions
	// Hash is that of a file's bytes, a link's target, or nothing for a folder; nil if
	// nothing is at the path.
	Hash *Hash
}

// States are the states of a path before and after a change of more than a text: of a mode, a
// link or a folder.
type States struct {
	Before, After State
	Content       []byte // of After
}

// OfFile reports whether no link and no folder is at the path, before and after.
func (s States) OfFile() bool { return (s.Before.Mode|s.After.Mode)&fs.ModeType == 0 }

// MakesFolder reports whether s makes a new folder.
func (s States) MakesFolder() bool { return !s.Before.Exists() && s.After.IsDir() }

// Replaces reports whether a file takes the place of a file with another content.
func (s States) Replaces() bool {
	return s.Before.Exists() && s.Before.Mode.IsRegular() && s.After.Exists() && s.After.Mode.IsRegular() && !same(s.Before.Hash, s.After.Hash)
}

// keptMode masks the bits of a mode that an edit keeps.
const keptMode = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// stateMode masks the bits of a mode that a State has.
const stateMode = fs.ModeType | keptMode

// StateOf returns the state of something with this mode and content.
func StateOf(mode fs.FileMode, content []byte) State {
	sum := Hash(sha256.Sum256(content))
	mode &= stateMode
	if mode&fs.ModeSymlink != 0 {
		mode = fs.ModeSymlink // its permissions mean nothing
	}
	return State{mode, &sum}
}

// Exists reports whether something is at the path.
func (s State) Exists() bool { return s.Hash != nil }

// IsDir reports whether a folder is at the path.
func (s State) IsDir() bool { return s.Exists() && s.Mode.IsDir() }

// Equal reports whether s and o are the same.
func (s State) Equal(o State) bool {
	return same(s.Hash, o.Hash) && (s.Hash == nil || s.Mode == o.Mode)
}

// after returns the state after e as far as e has it: an edit keeps the mode, which it
// does not have.
func after(e *journal.Entry) (s State, whole bool) {
	s.Hash = e.After
	if e.ModeAfter == nil {
		return s, false
	}
	s.Mode = *e.ModeAfter
	return s, true
}

// Left reports whether now is the state after e.
func (s State) Left(e *journal.Entry) bool {
	want, whole := after(e)
	if whole || !s.Exists() {
		return s.Equal(want)
	}
	return s.Mode.IsRegular() && same(s.Hash, want.Hash)
}

// Look returns the state of a path and its content. Unlike Raw it follows no links: nothing
// is at a path that leads through one.
func (r *Root) Look(path string) (State, []byte, error) {
	parent, err := r.files.resolve(filepath.Dir(path))
	if missing(err) || err == nil && parent.abs != filepath.Dir(path) {
		return State{}, nil, nil
	}
	if err != nil {
		return State{}, nil, err
	}
	if parent.folder == nil {
		return State{}, nil, ErrOutside
	}
	return look(parent.folder.root, filepath.Join(parent.rel, filepath.Base(path)))
}

// Linked returns an error if a file has further names, from which a restoration would detach
// this one.
func (r *Root) Linked(path string) error {
	parent, err := r.files.resolve(filepath.Dir(path))
	if err != nil || parent.folder == nil {
		return err
	}
	name := filepath.Join(parent.rel, filepath.Base(path))
	info, err := parent.folder.root.Lstat(name)
	if missing(err) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := namesAt(parent.folder.root, name, info)
	if err != nil {
		return err
	}
	return detaches(n)
}

// single returns an error for an open file with several names.
func single(f *os.File, info fs.FileInfo) error {
	n, err := names(f, info)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return detaches(n)
}

// look is Look for a name in a folder. A file with another spelling of the name is another.
func look(in *os.Root, name string) (State, []byte, error) {
	info, err := in.Lstat(name)
	if err = asSpelled(filepath.Join(in.Name(), name), err); missing(err) {
		return State{}, nil, nil
	}
	if err != nil {
		return State{}, nil, err
	}
	var content []byte
	switch mode := info.Mode(); {
	case mode.IsDir():
	case mode&fs.ModeSymlink != 0:
		target, err := in.Readlink(name)
		if err != nil {
			return State{}, nil, err
		}
		content = []byte(target)
	case mode.IsRegular():
		if content, info, err = readIn(in, name); err != nil {
			return State{}, nil, err
		}
	default:
		return State{}, nil, regular(name, info)
	}
	return StateOf(info.Mode(), content), content, nil
}

// readIn reads a regular file.
func readIn(in *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, err := in.OpenFile(name, os.O_RDONLY|noWait|noFollow, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	data, err := readAll(f, info.Size())
	return data, info, errors.Join(err, f.Close())
}

func same(a, b *Hash) bool { return a == b || a != nil && b != nil && *a == *b }

package workspace_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// loss is a kind of power failure: it loses some unsynced data.
type loss string

// The losses. Failures that lose only some of the names or the data are not tried.
const (
	nothing  loss = ""          // all is on the disk
	all      loss = "all"       // only synced data is on the disk
	theData  loss = "the data"  // names are as they are, of files as they were synced, or empty
	theNames loss = "the names" // files are as they are, under the names that were synced
)

// identity identifies a file even if its inode number is reused.
type identity struct{ number, born uint64 }

// disk is the part of the file system that survives a power failure: for a file its
// content when it was synced, for a folder its names.
type disk struct {
	t     *testing.T
	roots []string
	data  map[identity]content
	names map[string]map[string]identity
}

type content struct {
	text []byte
	mode fs.FileMode // the folder's, if it is one
}

func (c content) isLink() bool { return c.mode&fs.ModeSymlink != 0 }

// newDisk returns a disk on which everything below the roots has been synced.
func newDisk(t *testing.T, roots []string) *disk {
	d := &disk{t, roots, map[identity]content{}, map[string]map[string]identity{}}
	for _, root := range roots {
		must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			d.sync(path)
			return err
		}))
	}
	return d
}

// sync records that path was synced. A file removed by now has no name to lose.
func (d *disk) sync(path string) {
	id, ok := d.identify(path)
	if !ok {
		return
	}
	c := d.read(path)
	if !c.mode.IsDir() {
		d.data[id] = c
		return
	}
	d.data[id] = content{mode: c.mode}
	d.names[path] = d.list(path)
}

func (d *disk) identify(path string) (identity, bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	return identity{st.Ino, uint64(st.Btime.Sec)*1e9 + uint64(st.Btime.Nsec)}, err == nil
}

func (d *disk) read(path string) content {
	info, err := os.Lstat(path)
	must(d.t, err)
	c := content{mode: info.Mode()}
	switch {
	case info.Mode().IsRegular():
		c.text, err = os.ReadFile(path)
	case c.isLink():
		var target string
		target, err = os.Readlink(path)
		c.text = []byte(target)
	}
	must(d.t, err)
	return c
}

func (d *disk) list(dir string) map[string]identity {
	all := map[string]identity{}
	list, err := os.ReadDir(dir)
	must(d.t, err)
	for _, e := range list {
		id, _ := d.identify(filepath.Join(dir, e.Name()))
		all[e.Name()] = id
		if c := d.read(filepath.Join(dir, e.Name())); c.isLink() {
			d.data[id] = c // it cannot be synced itself
		}
	}
	return all
}

// fail turns the disk into its state after a power failure.
func (d *disk) fail(l loss) {
	now, names := map[identity]content{}, map[string]map[string]identity{}
	for _, root := range d.roots {
		must(d.t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if id, ok := d.identify(path); ok {
				now[id] = d.read(path)
			}
			if e.IsDir() {
				names[path] = d.list(path)
			}
			return err
		}))
	}
	if l != theData {
		names = d.names // the current ones are lost
	}
	image := map[string]content{}
	for _, root := range d.roots {
		d.image(image, names, now, root, l)
		list, err := os.ReadDir(root)
		must(d.t, err)
		for _, e := range list {
			must(d.t, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(image)) {
		switch c := image[path]; {
		case c.mode.IsDir():
			must(d.t, os.Mkdir(path, c.mode.Perm()))
		case c.isLink():
			must(d.t, os.Symlink(string(c.text), path))
		default:
			must(d.t, os.WriteFile(path, c.text, 0o600))
			must(d.t, os.Chmod(path, c.mode.Perm()))
		}
	}
}

// image collects the contents of a folder.
func (d *disk) image(out map[string]content, names map[string]map[string]identity, now map[identity]content, dir string, l loss) {
	for name, id := range names[dir] {
		path := filepath.Join(dir, name)
		c, synced := d.data[id]
		current, there := now[id]
		switch {
		case there && (l == theNames || current.mode.IsDir() || current.isLink()):
			c = current
		case !synced:
			c = content{mode: 0o600} // it has a name, and was never written
		}
		out[path] = c
		if c.mode.IsDir() {
			d.image(out, names, now, path, l)
		}
	}
}

//go:build amd64 || arm64

package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// secrets finds the files with keys in a folder. It reads the names of a folder again only if they
// may have changed.
type secrets struct {
	home string // of the program
	top  secretDir
}

// secretDir holds the names in a folder that matter.
type secretDir struct {
	name      string
	stat      stamp
	hidden    []string // hold keys, or are sockets and pipes
	sometimes []string // hold keys sometimes
	dirs      []*secretDir
	git       bool
}

// stamp changes with the names in a folder.
type stamp struct {
	ino          uint64
	mtime, ctime unix.Timespec
}

// findings are the paths of files with keys, relative to the folder.
type findings struct {
	hidden []string          // not shown at all
	masked map[string]string // shown with another content
}

// unsearched are the folders in which no keys of a person are expected: published packages.
const unsearched = "node_modules"

// fresh is how long a folder may change again without a change of its stamp.
const fresh = 20 * time.Millisecond

// stampOf returns the stamp of a folder, and the one to keep for its names, which are read after this: none if they may
// change again without another stamp.
func stampOf(st *unix.Stat_t) (now, settled stamp) {
	now = stamp{st.Ino, st.Mtim, st.Ctim}
	if time.Since(time.Unix(st.Ctim.Unix())) < fresh {
		return now, stamp{}
	}
	return now, now
}

// find returns the files with keys below root.
func (s *secrets) find(ctx context.Context, root string) (findings, error) {
	all := findings{masked: map[string]string{}}
	err := s.visit(ctx, root, "", &s.top, &all)
	return all, err
}

func (s *secrets) visit(ctx context.Context, root, rel string, d *secretDir, all *findings) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := root
	if rel != "" {
		path += "/" + rel
		rel += "/"
	}
	s.refresh(d, path, rel)
	for _, name := range d.hidden {
		all.hidden = append(all.hidden, rel+name)
	}
	for _, name := range d.sometimes {
		if permission.Credentials(path+"/"+name) != "" {
			all.hidden = append(all.hidden, rel+name)
		}
	}
	if d.git {
		if err := maskGit(root, rel+".git", all); err != nil {
			return err
		}
	}
	for _, below := range d.dirs {
		if err := s.visit(ctx, root, rel+below.name, below, all); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads the names in a folder again if they may have changed. Nobody sees those in a folder that cannot be listed.
func (s *secrets) refresh(d *secretDir, path, rel string) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		*d = secretDir{name: d.name}
		return
	}
	now, settled := stampOf(&st)
	if d.stat == now {
		return
	}
	known := map[string]*secretDir{}
	for _, below := range d.dirs {
		known[below.name] = below
	}
	*d = secretDir{name: d.name, stat: settled}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		s.add(d, path, rel+e.Name(), e, known)
	}
}

// add adds an entry of a folder.
func (s *secrets) add(d *secretDir, dir, rel string, e fs.DirEntry, known map[string]*secretDir) {
	name := e.Name()
	usually, sometimes := permission.KeyFile(rel, dir+"/"+name, s.home)
	switch {
	case name == ".git":
		d.git = e.IsDir()
	case usually, s.home != "" && dir+"/"+name == s.home, e.Type()&(fs.ModeSocket|fs.ModeNamedPipe) != 0:
		d.hidden = append(d.hidden, name)
	case e.IsDir() && name != unsearched:
		below := known[name]
		if below == nil {
			below = &secretDir{name: name}
		}
		d.dirs = append(d.dirs, below)
	case sometimes && e.Type().IsRegular():
		d.sometimes = append(d.sometimes, name)
	}
}

// maskGit masks the credentials in the settings of a repository and of those in it.
func maskGit(root, rel string, all *findings) error {
	for _, name := range []string{"config", "config.worktree"} {
		at := filepath.Join(rel, name)
		if permission.Credentials(filepath.Join(root, at)) == "" {
			continue
		}
		data, err := regularfile.ReadFile(filepath.Join(root, at), 1<<20)
		if err != nil {
			data = nil
		}
		all.masked[at] = permission.WithoutGitCredentials(string(data))
	}
	for _, inside := range []string{"modules", "worktrees"} {
		if err := maskInside(root, filepath.Join(rel, inside), all); err != nil {
			return err
		}
	}
	return nil
}

// maskInside masks those of the repositories in a folder of another repository.
func maskInside(root, rel string, all *findings) error {
	entries, err := os.ReadDir(filepath.Join(root, rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		at := filepath.Join(rel, e.Name())
		if _, err := os.Lstat(filepath.Join(root, at, "HEAD")); err != nil {
			err = maskInside(root, at, all) // a submodule whose name has slashes
			if err != nil {
				return err
			}
			continue
		}
		if err := maskGit(root, at, all); err != nil {
			return err
		}
	}
	return nil
}

// gitDir returns the folder that a .git file names; "" without one.
func gitDir(file string) string {
	data, err := regularfile.ReadFile(file, 1<<12)
	if err != nil {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	switch {
	case !ok:
		return ""
	case !filepath.IsAbs(dir):
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return filepath.Clean(dir)
}

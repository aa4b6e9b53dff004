//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Landlock grants rights to a folder with everything below, and takes none away. So all
// is granted but what leads to a hidden folder: there each entry is granted by itself.

// readable returns the files and folders that may be read with everything below. A file
// that is made later in a folder above a hidden one is not in it.
func (p Policy) readable() []string {
	w := walk{hidden: withAliases(existing(p.Hide))}
	w.below("/")
	for _, path := range p.Show {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			w.found = append(w.found, resolved)
		}
	}
	return w.found
}

// walk collects the readable files and folders.
type walk struct {
	hidden, found []string
}

// below adds the entries of a folder above a hidden one.
func (w *walk) below(dir string) {
	entries, _ := os.ReadDir(dir) // of one that cannot be listed, only the way to a hidden folder is followed
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0 || slices.Contains(w.hidden, path): // a link is read at its end
		case w.leads(path):
			w.below(path)
		default:
			w.found = append(w.found, path)
		}
	}
}

// leads reports whether a hidden folder is below path.
func (w *walk) leads(path string) bool {
	return slices.ContainsFunc(w.hidden, func(h string) bool { return strings.HasPrefix(h, path+"/") })
}

// mount is one of the mounts that this process sees.
type mount struct{ device, root, point string }

// mountTable returns them, the later ones over the earlier.
func mountTable() (all []mount) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 4 { // id, parent, device, root, mount point
			all = append(all, mount{f[2], unescape.Replace(f[3]), unescape.Replace(f[4])})
		}
	}
	return all
}

// withAliases adds the other paths of the folders: a part of a file system can be mounted
// at several places.
func withAliases(paths []string) []string {
	all := slices.Clone(paths)
	known := mountTable()
	for _, path := range paths {
		var of mount
		for _, m := range known {
			if subpath.In(m.point, path) && len(m.point) >= len(of.point) {
				of = m
			}
		}
		inside := filepath.Join(of.root, strings.TrimPrefix(path, of.point))
		for _, m := range known {
			switch {
			case m.device != of.device || m == of:
			case subpath.In(m.root, inside):
				all = append(all, filepath.Join(m.point, strings.TrimPrefix(inside, m.root)))
			case subpath.In(inside, m.root):
				all = append(all, m.point)
			}
		}
	}
	return all
}

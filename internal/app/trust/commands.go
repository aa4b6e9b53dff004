package trust

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// walk reads the Markdown files of Commands, in the order of their names. Files that it
// leaves out are not part of the hash; once one is used, the hash changes.
type walk struct {
	project *os.Root
	note    func(name string, data []byte)
	found   *Found
	seen    int // entries of all folders so far
}

// folder reads the folder with this name in Commands.
func (w *walk) folder(name string, depth int) {
	list, err := w.list(path.Join(Commands, name))
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		return
	}
	if err != nil {
		w.leave(name, err)
		return
	}
	for _, d := range list {
		at := path.Join(name, d.Name())
		switch {
		case strings.HasPrefix(d.Name(), "."):
		case !d.IsDir() && path.Ext(at) == ".md":
			w.file(at)
		case d.IsDir() && depth+1 == maxDepth:
			w.leave(at, fmt.Errorf("more than %d folders deep", maxDepth))
		case d.IsDir():
			w.folder(at, depth+1)
		}
	}
}

var errTooMany = fmt.Errorf("more than %d files", maxEntries)

// list returns the entries of a folder. Too many are an error: a part of them could
// differ each time.
func (w *walk) list(name string) ([]fs.DirEntry, error) {
	file, err := regularfile.OpenFolder(w.project, name)
	if errors.Is(err, regularfile.ErrNotFolder) {
		return nil, errors.New("not a folder")
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, err := file.ReadDir(maxEntries - w.seen + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if w.seen+len(list) > maxEntries {
		return nil, errTooMany
	}
	w.seen += len(list)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, nil
}

// file reads one command.
func (w *walk) file(name string) {
	if len(w.found.Command) == maxFiles {
		w.leave(name, fmt.Errorf("more than %d commands", maxFiles))
		return
	}
	file := path.Join(Commands, name)
	data, err := read(w.project, file)
	if err != nil {
		w.leave(name, err)
		return
	}
	w.note(file, data)
	w.found.Command = append(w.found.Command, name)
	if w.found.texts == nil {
		w.found.texts = map[string][]byte{}
	}
	w.found.texts[name] = data
}

// maxLeft is the number of lines in Left.
const maxLeft = 20

func (w *walk) leave(name string, why error) {
	switch n := len(w.found.Left); {
	case n < maxLeft:
		w.found.Left = append(w.found.Left, path.Join(Commands, name)+": "+why.Error())
	case n == maxLeft:
		w.found.Left = append(w.found.Left, Commands+": more than these")
	}
}

package workspace

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Restate returns the change that takes an absolute path, which leads through no links, to another state
// with a content: another mode, a link, a folder, or nothing.
func (r *Root) Restate(path string, to State, content []byte) (Change, error) {
	parent, err := r.files.resolve(filepath.Dir(path))
	switch {
	case err != nil:
		return Change{}, err
	case parent.abs != filepath.Dir(path):
		return Change{}, fmt.Errorf("%s: its path contains a symlink", path)
	case parent.folder == nil:
		return Change{}, fmt.Errorf("%s cannot be changed: it is %w", path, ErrOutside)
	}
	s := States{After: to, Content: content}
	name := r.files.named(path)
	before, now, err := r.Look(path)
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", name, err)
	}
	if s.Before = before; before.Exists() && before.Mode.IsRegular() && !same(before.Hash, to.Hash) {
		if _, err := r.Removable(path); err != nil { // such as with unsaved changes
			return Change{}, err
		}
	}
	return Restated(path, name, s, now), nil
}

// Restated returns a change of states, before which the content is now, as a change that a text describes.
func Restated(path, name string, s States, now []byte) Change {
	c := Change{Delete: !s.After.Exists(), States: &s}
	c.Path, c.Name, c.Exists, c.Mode = path, name, s.Before.Exists(), s.After.Mode
	if c.Delete {
		c.Mode = s.Before.Mode
	}
	if c.Exists {
		c.Hash, c.Size = *s.Before.Hash, int64(len(now))
	} else {
		now = nil
	}
	then := s.Content
	if c.Delete {
		then = nil
	}
	var err error
	if c.Format, c.Text, c.After, err = InOneFormat(now, then); err != nil {
		c.Text, c.After = Describe(now), Describe(then)
	}
	return c
}

// InOneFormat decodes two contents in the first format that does for both; nil is no file. It
// describes them if one of the formats is of no text. The
// encodings may differ if a change removed the only character that showed it, or somebody
// else wrote one of them.
func InOneFormat(now, then []byte, formats ...Format) (f Format, textNow, textThen string, err error) {
	for _, f := range formats {
		if f.Encoding == Binary {
			return f, Describe(now), Describe(then), nil
		}
	}
	for _, data := range [][]byte{now, then} {
		if found, _, err := text.Decode(data, text.Fallback{Encoding: Latin1}); data != nil && err == nil {
			formats = append(formats, found)
		}
	}
	for _, f = range append(formats, Format{Encoding: Latin1, EOL: "\n"}) {
		textNow, err = DecodeAs(now, f)
		if err == nil {
			textThen, err = DecodeAs(then, f)
		}
		if err == nil {
			break
		}
	}
	return f, textNow, textThen, err
}

// DecodeAs decodes a content; nil is no file.
func DecodeAs(data []byte, f Format) (string, error) {
	if data == nil {
		return "", nil
	}
	return text.DecodeAs(data, f)
}

// Order returns the indexes of changes in an order in which each can be made, if some of them have
// states or only the case of a name changes: first what goes, then folders from the outside in, then their content.
func Order(changes []Change) []int {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	if !slices.ContainsFunc(changes, func(c Change) bool { return c.States != nil }) && !haveTwins(changes) {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int {
		phase := phaseOf(changes[a])
		if d := cmp.Compare(phase, phaseOf(changes[b])); d != 0 {
			return d
		}
		if phase == foldersGo {
			a, b = b, a
		}
		return strings.Compare(changes[a].Path, changes[b].Path)
	})
	return order
}

// haveTwins reports whether a file comes whose name was another's that goes, but for the case.
func haveTwins(changes []Change) bool {
	gone := map[string]bool{}
	for _, c := range changes {
		if c.Delete {
			gone[foldName(c.Path)] = true
		}
	}
	return slices.ContainsFunc(changes, func(c Change) bool { return !c.Exists && gone[foldName(c.Path)] })
}

// The order in which paths change.
const (
	filesGo     = iota
	foldersGo   // the innermost first; something else may take their place
	foldersCome // the outermost first
	filesCome
)

func phaseOf(c Change) int {
	switch x := c.States; {
	case x != nil && x.Before.IsDir() && !x.After.IsDir():
		return foldersGo
	case x != nil && x.After.IsDir():
		return foldersCome
	case c.Delete:
		return filesGo
	}
	return filesCome
}

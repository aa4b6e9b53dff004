package modelcontext

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Below returns the instructions for the file at path, which the model has just read: those
// in the folders between an open one and the file's, each once in a conversation. They
// belong into the result of the read, so that the prompt stays as it is. trusted decides about
// each file; refused are those that it refused.
func (b *Builder) Below(path string, trusted func(in Instruction) bool) (text string, refused []Instruction) {
	return b.tell(b.below, path, trusted)
}

// Apart is a conversation beside the Builder's own, such as that of a sub-agent.
type Apart struct {
	builder *Builder
	below   map[string]string // as the Builder's
}

// Apart returns a conversation that was told about no folder yet.
func (b *Builder) Apart() *Apart { return &Apart{b, map[string]string{}} }

// Below is Builder.Below for this conversation.
func (a *Apart) Below(path string, trusted func(in Instruction) bool) (text string, refused []Instruction) {
	return a.builder.tell(a.below, path, trusted)
}

// Retell makes Below return all instructions again: messages with some of them may be gone.
func (a *Apart) Retell() {
	a.builder.mu.Lock()
	defer a.builder.mu.Unlock()
	clear(a.below)
}

// tell is Below for a conversation that was told about the files in below.
func (b *Builder) tell(below map[string]string, path string, trusted func(in Instruction) bool) (text string, refused []Instruction) {
	top, dirs := b.foldersTo(path)
	if len(dirs) == 0 {
		return "", nil
	}
	root, err := workspace.Open(top, workspace.Options{})
	if err != nil {
		return "", nil
	}
	defer func() { _ = root.Close() }() // it was read
	b.mu.Lock()
	defer b.mu.Unlock()
	var w strings.Builder
	for _, dir := range dirs {
		in, body, ok := readInstruction(root, b.opt.Dir, dir, nil)
		if !ok || in.Problem != "" || below[in.Path] == in.Hash {
			continue
		}
		again := b.covers(below, in)
		below[in.Path] = in.Hash
		switch {
		case in.Path == path: // the model has just read it
		case again: // an inner work tree has the files of the outer one
		case !trusted(in):
			in.Untrusted, in.Problem = true, "you have not trusted it; agent trust add "+filepath.ToSlash(filepath.Dir(in.Name))+" shows it and asks"
			refused = append(refused, in)
		default:
			part, cut := fit(body, maxInstructions)
			in.Used, in.Cut = len(part), cut
			writeInstruction(&w, in, part)
		}
	}
	if w.Len() == 0 {
		return "", refused
	}
	return fmt.Sprintf("\n\nThe project's instructions for this folder; follow them for files in it:\n%s", w.String()), refused
}

// covers reports whether the text of in was told before for a folder around it.
func (b *Builder) covers(below map[string]string, in Instruction) bool {
	for path, hash := range below {
		if hash == in.Hash && subpath.In(filepath.Dir(path), in.Path) {
			return true
		}
	}
	return slices.ContainsFunc(b.proj.instructions, func(have Instruction) bool {
		return have.Hash == in.Hash && have.Problem == "" && !have.Untrusted && !have.Cut
	})
}

// installed are the folders of packages.
var installed = []string{"node_modules", "site-packages", "vendor"}

// foldersTo returns the folders between an open folder and that of the file at path, the
// outermost first, and the open folder. The working directory is not among them: System
// has its instructions. Folders of installed packages are not either, as the project did not
// write their files.
func (b *Builder) foldersTo(path string) (top string, dirs []string) {
	for _, root := range append([]string{b.opt.Dir}, b.opt.Roots...) {
		rel, ok := subpath.Of(root, filepath.Dir(path))
		if !ok {
			continue
		}
		if root != b.opt.Dir {
			dirs = append(dirs, root)
		}
		dir := root
		for part := range strings.SplitSeq(rel, "/") {
			if part == "." || slices.Contains(installed, part) {
				break
			}
			dir = filepath.Join(dir, part)
			dirs = append(dirs, dir)
		}
		return root, dirs
	}
	return "", nil
}

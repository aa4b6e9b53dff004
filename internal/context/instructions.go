package projectctx

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// maxInstructions bounds the instructions of all files in the prompt, in bytes.
const maxInstructions = 32 << 10

// Instruction is a file of instructions to the model.
type Instruction struct {
	Path    string // absolute
	Name    string // relative to the project's root
	Size    int64  // bytes in the file
	Used    int    // bytes of its text that are in the prompt
	Hidden  int    // characters in it that a reader cannot see
	Cut     bool   // there was no room for all of it
	Problem string // why it is not in the prompt at all, or empty
}

// instructions reads the instruction files from the project's root down to the
// working directory, and returns them with their part of the prompt.
func (p place) instructions() ([]Instruction, string) {
	root, err := workspace.Open(p.root, workspace.Options{})
	if err != nil {
		return nil, ""
	}
	var list []Instruction
	var text strings.Builder
	room := maxInstructions
	for _, dir := range p.dirs {
		in, body, ok := readInstruction(root, p.root, dir)
		if !ok {
			continue
		}
		if in.Problem == "" {
			part, cut := fit(body, room)
			room -= len(part)
			in.Used, in.Cut = len(part), cut
			writeInstruction(&text, in, part)
		}
		list = append(list, in)
	}
	if err := root.Close(); err != nil || text.Len() == 0 {
		return list, ""
	}
	return list, "\nThe project's instructions, the more specific ones last. Follow them where they concern the task:\n" + text.String()
}

// readInstruction returns the instruction file of the folder dir, if there is one.
func readInstruction(root *workspace.Root, top, dir string) (in Instruction, text string, ok bool) {
	for _, name := range instructionNames {
		path := filepath.Join(dir, name)
		f, err := root.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		in = Instruction{Path: path, Name: nameIn(top, path), Size: f.Size}
		if err != nil {
			in.Problem = problem(err)
			return in, "", true
		}
		in.Hidden = hidden(f.Text)
		return in, strings.TrimSpace(f.Text), true
	}
	return Instruction{}, "", false
}

func problem(err error) string {
	switch {
	case errors.Is(err, workspace.ErrOutside):
		return "it is a link out of the project"
	case errors.Is(err, workspace.ErrNotText):
		return "it is not a text"
	case errors.Is(err, workspace.ErrTooLarge):
		return "it is too large"
	}
	return oneLine(err.Error())
}

func writeInstruction(b *strings.Builder, in Instruction, text string) {
	fmt.Fprintf(b, "\n--- %s ---\n%s\n", oneLine(in.Name), text)
	if in.Cut {
		fmt.Fprintf(b, "[cut here: %d of %d bytes; read the file for the rest]\n", len(text), in.Size)
	}
}

// fit returns the head of text that fits into room bytes, whole lines if it can.
func fit(text string, room int) (head string, cut bool) {
	if len(text) <= room {
		return text, false
	}
	head = text[:max(room, 0)]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return strings.ToValidUTF8(head, ""), true
}

// nameIn returns path relative to dir with forward slashes, or path itself if it
// is not below dir.
func nameIn(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

// hidden counts the characters of text that a reader cannot see: control and
// format characters, and those that have no meaning of their own. A joiner
// between two emoji is none of them.
func hidden(text string) int {
	n := 0
	var before rune
	for _, r := range text {
		joiner := r == '\u200d' && (unicode.Is(unicode.So, before) || unicode.Is(unicode.Sk, before) || before == '\ufe0f')
		if invisible(r) && !joiner {
			n++
		}
		before = r
	}
	return n
}

func invisible(r rune) bool {
	switch r {
	case '\n', '\r', '\t':
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) ||
		r >= 0xE0100 && r <= 0xE01EF // variation selectors that carry data
}

// oneLine returns s without what could begin another line of the prompt or hide
// in it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if invisible(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

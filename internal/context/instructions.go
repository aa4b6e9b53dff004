package modelcontext

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/hexsum"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// maxInstructions is the maximum size of all instructions in the prompt, in bytes.
const maxInstructions = 32 << 10

// Instruction is a file of instructions for the model.
type Instruction struct {
	Path    string // absolute
	Name    string // relative to the project's root, or Path
	Size    int64  // bytes in the file
	Used    int    // bytes of its text in the prompt
	Hidden  int    // number of characters that a reader cannot see
	Cut     bool   // the room was too small for all of it
	Problem string // the reason why it is not in the prompt, or empty
	Hash    string // of the whole text, see TextHash
	// Untrusted reports that nobody has approved the present text. The prompt holds an
	// earlier text that this Builder used, if there is one.
	Untrusted bool
}

// TextHash returns the hash of a file's text, which Options.Trusted is asked about.
func TextHash(text string) string {
	return hexsum.Of(text)
}

// Named reports whether a file with this path is one of instructions, in its folder.
func Named(path string) bool {
	return slices.Contains(instructionNames[:], filepath.Base(path))
}

// Find returns the instruction files that a prompt for the working directory dir would
// use.
func Find(dir string) (list []Instruction) {
	p := findPlace(dir)
	all, _ := p.instructions(func(in Instruction, text string) (Instruction, string) { return in, text })
	for _, in := range all {
		if in.Problem == "" {
			list = append(list, in)
		}
	}
	return list
}

// String describes the file to the user in one line: how much of it is in the prompt,
// and how many of its characters are invisible.
func (in Instruction) String() string {
	if in.Problem != "" {
		return fmt.Sprintf("%s is not used: %s", oneLine(in.Name), in.Problem)
	}
	s := fmt.Sprintf("instructions: %s, %d bytes", oneLine(in.Name), in.Size)
	if in.Untrusted {
		s += ", as you trusted it; it has changed since (agent trust add shows it and asks)"
	}
	if in.Cut {
		s += fmt.Sprintf(", of which the first %d are used", in.Used)
	}
	if in.Hidden > 0 {
		s += fmt.Sprintf("; it holds %d hidden characters, look at it", in.Hidden)
	}
	return s
}

// instructions reads the user's instruction file, then those of the project from its root
// down to the working directory, and returns them with their part of the prompt. choose
// returns the text of a file of the project that may be used.
func (p place) instructions(choose func(in Instruction, text string) (Instruction, string)) ([]Instruction, string) {
	c := collector{room: maxInstructions}
	own := c.collect(p.user, []string{p.user}, readLinked, func(in Instruction, text string) (Instruction, string) {
		in.Name = in.Path // unlike the project's
		return in, text
	})
	project := c.collect(p.root, p.dirs, nil, choose)
	if own != "" {
		own = "\nThe user's instructions for all projects:\n" + own
	}
	if project != "" {
		project = "\nThe project's instructions, the more specific ones last. Follow them where they concern the task:\n" + project
	}
	return c.list, own + project
}

// collector collects instruction files.
type collector struct {
	list []Instruction
	room int // bytes left for their text in the prompt
}

// collect adds the instruction files of dirs, which are in top, and returns their text. linked reads
// one that is a link out of top; nil uses none.
func (c *collector) collect(top string, dirs []string, linked func(path string) (workspace.File, error), choose func(in Instruction, text string) (Instruction, string)) string {
	if top == "" {
		return ""
	}
	root, err := workspace.Open(top, workspace.Options{})
	if err != nil {
		return ""
	}
	var text strings.Builder
	for _, dir := range dirs {
		in, body, ok := readInstruction(root, top, dir, linked)
		if !ok {
			continue
		}
		if in.Problem == "" {
			in, body = choose(in, body)
		}
		if in.Problem == "" {
			part, cut := fit(body, c.room)
			c.room -= len(part)
			in.Used, in.Cut = len(part), cut
			writeInstruction(&text, in, part)
		}
		c.list = append(c.list, in)
	}
	if root.Close() != nil {
		return ""
	}
	return text.String()
}

// readLinked reads a file of the user's own, which programs that manage such files keep in a
// folder of theirs, as a link.
func readLinked(path string) (f workspace.File, err error) {
	path, err = filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, errors.New("it is a link to a missing file")
	case err != nil:
		return f, err
	}
	root, err := workspace.Open(filepath.Dir(path), workspace.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return root.Read(path)
}

// readInstruction returns the instruction file in the folder dir, if it has one; linked is as of
// collect.
func readInstruction(root *workspace.Root, top, dir string, linked func(path string) (workspace.File, error)) (in Instruction, text string, ok bool) {
	for _, name := range instructionNames {
		path := filepath.Join(dir, name)
		f, err := root.Read(path)
		if linked != nil && errors.Is(err, workspace.ErrOutside) {
			f, err = linked(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		in = Instruction{Path: path, Name: nameIn(top, path), Size: f.Size}
		if err != nil {
			in.Problem = problem(err)
			return in, "", true
		}
		in.Hash = TextHash(f.Text)
		text, in.Hidden = visible(strings.TrimSpace(f.Text))
		return in, text, true
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

// fit returns the head of text that fits into room bytes, in complete lines if
// possible.
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

// nameIn returns path relative to dir with forward slashes, or path itself if it is not
// below dir.
func nameIn(dir, path string) string {
	if rel, ok := subpath.Of(dir, path); ok {
		return rel
	}
	return path
}

// visible returns text with invisible characters written as \u{…}, and their number:
// the model gets nothing that a reader of the file cannot see. A joiner between two
// emoji is visible.
func visible(text string) (shown string, hidden int) {
	if strings.IndexFunc(text, invisible) < 0 {
		return text, 0
	}
	var b strings.Builder
	var before rune
	for _, r := range text {
		if invisible(r) && !joins(r, before) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			hidden++
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String(), hidden
}

// joins reports whether r, after before, is part of an emoji.
func joins(r, before rune) bool {
	symbol := unicode.In(before, unicode.So, unicode.Sk, unicode.Sm, unicode.Po)
	switch r {
	case '\u200d':
		return symbol && before > unicode.MaxLatin1 || before == '\ufe0f'
	case '\ufe0f':
		return symbol || before >= '0' && before <= '9'
	}
	return false
}

// invisible reports whether r has no glyph, or changes how others are drawn.
func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return false
	case r == 0x115f, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xffa0: // blank letters
		return true
	case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// oneLine returns s without characters that could begin another line of the prompt or
// hide in it.
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

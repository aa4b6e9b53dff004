// Package projectscripts finds the programs of a project that a command names, so that a
// person's yes counts for them as they were. It guarantees that it reads no file outside the
// project, and that a program that appears later changes the digest.
package projectscripts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// Bounds of the search.
const (
	maxSize  = 64 << 20 // of a program, in bytes; of a larger one size and time count
	maxDepth = 4        // of commands within commands
	maxBases = 16       // folders that a command changes to
)

// folderNames are the ways in which a command names the project's folder.
var folderNames = []string{
	`"${CLAUDE_PROJECT_DIR}"/`, `"$CLAUDE_PROJECT_DIR"/`, `"${AGENT_PROJECT_DIR}"/`, `"$AGENT_PROJECT_DIR"/`,
	"${CLAUDE_PROJECT_DIR}/", "$CLAUDE_PROJECT_DIR/", "${AGENT_PROJECT_DIR}/", "$AGENT_PROJECT_DIR/",
}

// Find returns the programs in the project that shell commands name, relative to its folder
// dir, which root has open: the files that they start or give to an interpreter, and others
// that look like programs. A file that a command writes may change all the time.
func Find(root *os.Root, dir string, commands []string) []string {
	f := finder{root: root, dir: dir}
	for _, command := range commands {
		f.bases = []string{"."}
		f.text(command, true, maxDepth)
	}
	return f.list
}

// finder collects the files that one command after the other names.
type finder struct {
	root  *os.Root
	dir   string
	bases []string // folders that the present command changes to; the project's own is first
	list  []string
}

// argv collects the programs that a command without a shell names.
func (f *finder) argv(args []string) {
	f.bases = []string{"."}
	starts := true
	for _, arg := range args {
		f.word(arg, &starts, maxDepth)
	}
}

// text collects the programs that a shell command names, or the value of a variable.
func (f *finder) text(text string, isCommand bool, depth int) {
	for _, name := range append([]string{f.dir + "/"}, folderNames...) {
		text = strings.ReplaceAll(text, name, "./")
	}
	list, inputs := words(text)
	for _, name := range inputs {
		f.try(name, isProgram)
	}
	before, starts := "", false
	for _, w := range list {
		if before == "cd" || before == "pushd" || before == "-C" {
			f.enter(w.text)
		}
		before = w.text
		starts = starts || isCommand && w.first
		f.word(w.text, &starts, depth)
	}
}

// word tries a word as a name, and as a command in itself. starts reports whether the word
// is run as a program, and then whether the next one is.
func (f *finder) word(word string, starts *bool, depth int) {
	wanted := isProgram
	if *starts && !strings.HasPrefix(word, "-") {
		wanted, *starts = isFile, slices.Contains(runners, filepath.Base(word))
	}
	f.try(word, wanted)
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=:,$()`", r) }) {
		f.try(part, isProgram)
	}
	if depth > 0 && strings.ContainsAny(word, " \t\n;|&()`") {
		f.text(word, true, depth-1)
	}
}

// runners run the file that is their first argument.
var runners = strings.Fields(". ash bash bun csh dash deno dotnet env exec fish java ksh lua nice node nohup perl php pwsh python python2 python3 Rscript ruby sh source sudo tclsh time timeout tsx zsh")

// enter notes a folder that a command changes to, from each where it may be.
func (f *finder) enter(name string) {
	for _, base := range slices.Clone(f.bases) {
		if at, ok := f.local(base, name); ok && len(f.bases) < maxBases && !slices.Contains(f.bases, at) {
			f.bases = append(f.bases, at)
		}
	}
}

// try adds the file with a name if it is wanted, below each folder where the command may be.
func (f *finder) try(name string, wanted func(*os.Root, string) bool) {
	for _, base := range f.bases {
		at, ok := f.local(base, name)
		if ok && !slices.Contains(f.list, at) && wanted(f.root, at) {
			f.list = append(f.list, at)
		}
	}
}

// local returns a name in base relative to the project; false if it is outside.
func (f *finder) local(base, name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, f.dir+"/"); ok {
		base, name = ".", rest
	}
	name = filepath.FromSlash(name)
	at := filepath.Join(base, name)
	return at, name != "" && !filepath.IsAbs(name) && filepath.IsLocal(at)
}

// word is a word of a command line.
type word struct {
	text  string
	first bool // of a command
}

// words returns the words of a shell's command line without quotes. Those behind < are apart,
// those behind > are left out.
func words(text string) (list []word, inputs []string) {
	l := lexer{first: true}
	for _, r := range text {
		if !l.quoted(r) {
			l.plain(r)
		}
	}
	l.end()
	return l.list, l.inputs
}

// lexer divides a command line into words.
type lexer struct {
	list   []word
	inputs []string

	current    strings.Builder
	begun      bool // current is a word, which may be empty
	first      bool // the next word is the first of a command
	escaped    bool // by a backslash
	quote      rune // or zero
	redirected rune // < or > before the word, or zero
}

// end ends a word.
func (l *lexer) end() {
	if !l.begun {
		return
	}
	switch l.redirected {
	case 0:
		l.list = append(l.list, word{l.current.String(), l.first})
		l.first = false
	case '<':
		l.inputs = append(l.inputs, l.current.String())
	}
	l.redirected, l.begun = 0, false
	l.current.Reset()
}

// quoted takes a character of quotes or behind a backslash, or returns false.
func (l *lexer) quoted(r rune) bool {
	switch {
	case l.escaped:
		l.current.WriteRune(r)
		l.escaped = false
	case r == '\\' && l.quote != '\'':
		l.escaped, l.begun = true, true
	case r == l.quote:
		l.quote = 0
	case l.quote != 0:
		l.current.WriteRune(r)
	case r == '"' || r == '\'':
		l.quote, l.begun = r, true
	default:
		return false
	}
	return true
}

// plain takes a character outside of quotes.
func (l *lexer) plain(r rune) {
	switch r {
	case ' ', '\t':
		l.end()
	case '\n', ';', '|', '&', ')', '`':
		l.end()
		l.first = true
	case '(': // a command, whose output may be the file
		l.end()
		l.redirected, l.first = 0, true
	case '<', '>':
		l.end()
		l.redirected = r
	default:
		l.current.WriteRune(r)
		l.begun = true
	}
}

func isFile(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// extensions are those of programs, which an interpreter runs without a mode that allows it.
var extensions = []string{
	".sh", ".bash", ".zsh", ".fish", ".py", ".pyz", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rb", ".pl", ".php", ".phar",
	".lua", ".ps1", ".bat", ".cmd", ".jar", ".go", ".rs", ".exs", ".kts",
}

// isProgram reports whether a file looks like a program: an input or the value of a variable may
// also be a file that is written all the time, such as a database.
func isProgram(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode()&0o111 != 0 || slices.Contains(extensions, strings.ToLower(filepath.Ext(name))) {
		return true
	}
	data, err := regularfile.ReadIn(root, name, maxSize)
	return err != nil || strings.HasPrefix(string(data), "#!")
}

// Look returns the programs in the project's folder dir that a command without a shell, or the
// values of its variables, name, with a digest of them.
func Look(dir string, command, values []string) (names []string, digest string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	sum := sha256.New()
	f := finder{root: root, dir: dir}
	f.argv(command)
	for _, value := range values {
		f.try(value, isProgram)
		f.text(value, false, maxDepth)
	}
	names = f.list
	Digest(sum, root, names)
	return names, hex.EncodeToString(sum.Sum(nil)), nil
}

// Digest writes the names and the present content of programs to a hash.
func Digest(sum io.Writer, root *os.Root, names []string) {
	note := func(text string) { _, _ = fmt.Fprintf(sum, "%d %s ", len(text), text) } // a hash takes everything
	for _, name := range names {
		note(name)
		data, err := regularfile.ReadIn(root, name, maxSize)
		if err != nil {
			note("unreadable: " + err.Error())
		}
		if info, err2 := root.Stat(name); errors.Is(err, regularfile.ErrTooLarge) && err2 == nil {
			note(fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
		}
		note(string(data))
	}
}

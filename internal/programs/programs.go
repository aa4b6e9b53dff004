// Package programs knows programs, and the commands and keywords of the shell: how they only
// read, which arguments are dangerous, which programs they start, which files they run. It guarantees
// that the table has one row for a name.
package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Is is a set of properties of a program.
type Is uint32

// The properties.
const (
	Builtin    Is = 1 << iota // every shell has it in itself
	Keyword                   // of the shell
	Silent                    // it prints nothing
	Moves                     // after it, the names in a line may mean something else
	Enters                    // it changes the folder of the shell
	Sets                      // it sets the variables that its arguments name
	Assigns                   // its arguments may be variables with values
	Evaluates                 // it runs a substitution in the index of a variable
	Starts                    // it starts the program that its arguments name, or runs one as a line
	Direct                    // with Starts: it runs the first word that is no option of its own with the words behind it
	Lines                     // with Starts: it runs its arguments as lines
	Launches                  // beside its own work, it may start a program that its arguments name
	Packaged                  // with Launches: its first argument is an installed program
	Hides                     // it runs others, with words of another form, or later
	Elsewhere                 // it starts programs on another machine, or in another container
	Plain                     // it runs nothing of a folder: what its arguments name is read or written
	Makes                     // with Plain: it may make the file that another command of the line runs
	Output                    // with Plain: what its arguments name is only written
	Exact                     // it runs only what its arguments name
	Builds                    // it builds or tests the sources of a folder, whatever its arguments are
	Copies                    // it writes the file that it names last, or all of them
	Links                     // with Copies: later writes to that file change another file
	Privileged                // it runs with the rights of another user
	System                    // it works with the system, a service or another machine
	Versions                  // it works on a repository
	Modes                     // it changes the owner or the attributes of files
	Targets                   // its arguments name scripts of the project, which it runs
	Apart                     // it reads and changes nothing of a folder but what its arguments name
	Prints                    // without arguments, it prints the variables of the environment
)

// Has reports whether all properties of some are in i.
func (i Is) Has(some Is) bool { return i&some == some }

// Program holds the properties of a program.
type Program struct {
	Is       Is
	Safe     Rule              // judges the arguments with which it only reads; nil if none are known
	Danger   Danger            // nil if none is known
	Runs     lazyregexp.Regexp // matches arguments with which it starts another program, or runs a line
	Language *Language         // whose programs it runs; nil if none
	Guard    func(args []string, uses Reads) []string
	Place    lazyregexp.Regexp // matches all of its arguments if it prints the name of a folder, or another that they do not choose
	Filter   lazyregexp.Regexp // matches the options with which it prints some of the lines that it reads, each whole

	Valued   string   // of one that starts the program in its arguments: its options of one letter with a value, or "-"
	Exec     []string // the arguments after which a command follows, which gets more words
	Launch   string   // the first arguments after which an installed program follows
	Packages string   // the first arguments after which only packages follow
	Installs string   // words with which it installs packages; * is any
	Connects string   // words with which it uses the network; * is any, and a : any with a colon
	Stays    string   // words with which it runs until somebody ends it; * is any

	Stages string // first words with which it only adds files to the index of a repository
	Looks  Looks  // nil if no such arguments are known

	Reach     func(first string, args []string) Reach // beside Builds
	Manifests string                                  // patterns of the files from which it takes commands, in its folder or one above
	Free      []string                                // the first words after which arguments cannot make it do something else; "" if any
	Data      []string                                // the first words after which arguments are no files that are run
}

// Looks reports whether a program only tells about a repository with some arguments, without the texts of its files, or
// fails, unless later ones make it do more.
type Looks func(args []string) bool

// row is a row of the table, for programs with some names.
type row struct {
	names string
	Program
}

var (
	once    sync.Once
	byName  map[string]*Program
	nothing Program
)

// all returns the table. The programs find and xargs, which judge others by it, get their rules here.
func all() map[string]*Program {
	once.Do(func() {
		byName = map[string]*Program{}
		for _, part := range [][]row{shellRows, wrapperRows, languageRows, builderRows, readingRows, systemRows} {
			for i := range part {
				for name := range strings.FieldsSeq(part[i].names) {
					byName[name] = &part[i].Program
				}
			}
		}
		byName["find"].Safe, byName["xargs"].Safe = find, xargs
	})
	return byName
}

// Names returns the names of the programs of the table for which test holds, sorted.
func Names(test func(*Program) bool) (names []string) {
	for name, p := range all() {
		if test(p) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Find returns the program with a name: python3.12 is python, and the name of a C compiler may be
// longer. An unknown program has no properties.
func Find(name string) *Program {
	byName := all()
	if p := byName[name]; p != nil {
		return p
	}
	if p := byName[strings.TrimRight(name, "0123456789.")]; p != nil && p.Language != nil {
		return p
	}
	switch {
	case strings.HasPrefix(name, "mkfs"):
		return byName["mkfs"]
	case strings.HasPrefix(name, "ld-"):
		return byName["ld.so"]
	case byName[compiler(name)] == byName["cc"]:
		return byName["cc"]
	}
	return &nothing
}

// Name returns the name of the program that a word starts, without its folder and, unless the table has it as it
// is, in the case and without the ending that some systems do not look at: RM and rm.exe are rm.
func Name(word string) string {
	base := path.Base(strings.ReplaceAll(word, `\`, "/"))
	if Find(base).Known() {
		return base
	}
	name := strings.ToLower(base)
	for _, end := range []string{".exe", ".com", ".bat", ".cmd"} {
		if stem, ok := strings.CutSuffix(name, end); ok && stem != "" {
			return stem
		}
	}
	return name
}

// Known reports whether the table has the program.
func (p *Program) Known() bool { return p != &nothing }

// compiler returns the name of a program without the machine before it and the version behind it,
// as those of C compilers may have.
func compiler(name string) string {
	if at := strings.LastIndexByte(name, '-'); at > 0 && strings.Trim(name[at:], "-0123456789.") == "" {
		name = name[:at]
	}
	return name[strings.LastIndexByte(name, '-')+1:]
}

// contains reports whether a word is among those of a list, in which * is any word and : any with a
// colon.
func contains(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word || w == "*" || w == ":" && strings.Contains(word, ":") {
			return true
		}
	}
	return false
}

// InstallsBy reports whether p installs packages with some arguments.
func (p *Program) InstallsBy(args []string) bool { return named(p.Installs, args) }

// ConnectsBy reports whether p uses the network with some arguments.
func (p *Program) ConnectsBy(args []string) bool { return named(p.Connects, args) }

// StaysBy reports whether p runs until somebody ends it, with some arguments.
func (p *Program) StaysBy(args []string) bool { return named(p.Stays, args) }

// StagesBy reports whether p only adds files to the index of a repository with some arguments.
func (p *Program) StagesBy(args []string) bool { return len(args) > 1 && contains(p.Stages, args[0]) }

// LooksBy reports whether p only tells about a repository with some arguments, unless later ones make it do more.
func (p *Program) LooksBy(args []string) bool { return p.Looks != nil && p.Looks(args) }

func named(list string, args []string) bool {
	return list == "*" || slices.ContainsFunc(args, func(s string) bool { return contains(list, s) })
}

// FreeAfter returns the number of the first words of a command of p after which arguments cannot make
// it do something else, or 0.
func (p *Program) FreeAfter(words []string) int { return wordsOf(p.Free, words) }

// DataAfter returns the number of the first words of a command of p after which arguments are no
// files that are run, or 0.
func (p *Program) DataAfter(words []string) int {
	if n := wordsOf(p.Data, words); n < len(words) {
		return n
	}
	return 0
}

// wordsOf returns the number of the first words of a command that are its program and one of some texts.
func wordsOf(texts, words []string) int {
	for _, text := range texts {
		fixed := strings.Fields(text)
		if len(words) > len(fixed) && slices.Equal(words[1:len(fixed)+1], fixed) {
			return len(fixed) + 1
		}
	}
	return 0
}

// IsNumber reports whether an argument is a number, which may have a unit: the time of timeout.
func IsNumber(arg string) bool {
	return arg != "" && '0' <= arg[0] && arg[0] <= '9' && strings.Trim(arg, "0123456789.smhdx") == ""
}

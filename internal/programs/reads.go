package programs

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Rule judges the arguments of a program. It returns the files that the program reads, or why the
// call is not known to be read-only.
type Rule func(args []string) (uses Reads, why string)

// Reads lists the files that a command reads.
type Reads struct {
	Files  []string
	Deep   bool // and everything below them
	Hidden bool // with the files whose names begin with a dot
	Names  bool // only their names and sizes
	Flat   bool // and, if one is a folder, files in it

	Compares bool     // and those of the repository, with git's filters
	Prints   bool     // lines of the files that GitList names
	Old      []string // the names of files of other versions
	Versions []int    // the indexes of its arguments that name versions, unless a file has that name

	Only   string // a pattern of the names of files below them; empty for all
	Links  bool   // and the files that links below them lead to
	Passed bool   // and those whose names it reads, which have none of the characters Blanks
	Blanks string
	Runs   []int // the indexes of its arguments that name programs which it starts
}

// spec describes the options with which a program only reads, and its other arguments.
type spec struct {
	flags  string // options of one letter
	valued string // options of one letter with a value
	long   string // long options, separated by blanks: --a, --b= with a value, --c[=] with one only after an =
	apart  bool   // the value of a letter is the next argument: tree reads -Io as -I -o
	digits bool   // numbers are options, such as -20
	deep   string // those of the options that make it read everything in a folder
	bare   int    // number of first arguments that are not files
	most   int    // maximum number of arguments that are not options; 0: any
	none   bool   // takes only options
	words  bool   // its arguments are not files
	folder bool   // reads the folder it is in if it has no argument
	flat   bool   // shows files in a folder that is an argument
	names  bool   // shows only the names and properties of files
}

// call is the arguments of a program, taken apart by its spec.
type call struct {
	options map[string]string // by name, with dashes
	rest    []string
	at      []int // the indexes of the rest
	split   int   // the number of those before --
}

func (c call) has(option string) bool {
	_, ok := c.options[option]
	return ok
}

// rule returns the rule for programs with this spec.
func (s spec) rule() Rule {
	return func(args []string) (Reads, string) {
		c, why := s.parse(args)
		if why != "" {
			return Reads{}, why
		}
		return s.reads(c), ""
	}
}

func (s spec) reads(c call) Reads {
	if s.words {
		return Reads{}
	}
	uses := Reads{Names: s.names, Flat: s.flat, Files: c.rest[min(s.bare, len(c.rest)):]}
	for _, name := range strings.Fields(s.deep) {
		if c.has(name) {
			uses.Deep, uses.Hidden = true, true
		}
	}
	if len(uses.Files) == 0 && (s.folder || uses.Deep) {
		uses.Files = []string{"."}
	}
	return uses
}

// parse takes arguments apart. Options may follow other arguments.
func (s spec) parse(args []string) (call, string) {
	c := call{options: map[string]string{}, split: -1}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" && c.split < 0:
			c.split = len(c.rest)
		case c.split >= 0 || arg == "-" || !strings.HasPrefix(arg, "-"):
			c.rest, c.at = append(c.rest, arg), append(c.at, i)
		default:
			used, ok := s.option(c, arg, args[i+1:])
			if !ok {
				return c, arg + " is not a read-only option"
			}
			i += used
		}
	}
	if c.split < 0 {
		c.split = len(c.rest)
	}
	switch {
	case s.none && len(c.rest) > 0:
		return c, c.rest[0] + " is not a read-only argument"
	case s.most > 0 && len(c.rest) > s.most:
		return c, "with more arguments it is not read-only"
	}
	return c, ""
}

// option adds an option, whose value may be the next argument; it returns whether it was.
func (s spec) option(c call, arg string, next []string) (used int, ok bool) {
	if strings.HasPrefix(arg, "--") {
		return s.longOption(c, arg, next)
	}
	if s.digits && strings.Trim(arg[1:], "0123456789") == "" {
		return 0, true
	}
	for i := 1; i < len(arg); i++ {
		letter := arg[i]
		switch name := "-" + string(letter); {
		case strings.IndexByte(s.flags, letter) >= 0:
			c.options[name] = ""
		case strings.IndexByte(s.valued, letter) < 0:
			return 0, false
		case i+1 < len(arg):
			c.options[name] = arg[i+1:]
			return 0, !s.apart
		case len(next) == 0 || isOption(next[0]):
			return 0, false
		default:
			c.options[name] = next[0]
			return 1, true
		}
	}
	return 0, true
}

func (s spec) longOption(c call, arg string, next []string) (used int, ok bool) {
	name, value, assigned := strings.Cut(arg, "=")
	for _, l := range strings.Fields(s.long) {
		option, optional := strings.CutSuffix(l, "[=]")
		option, required := strings.CutSuffix(option, "=")
		switch {
		case option != name:
			continue
		case assigned && !required && !optional:
			return 0, false
		case required && !assigned:
			if len(next) == 0 || isOption(next[0]) {
				return 0, false
			}
			c.options[name] = next[0]
			return 1, true
		}
		c.options[name] = value
		return 0, true
	}
	return 0, false
}

// isOption reports whether a program may read a word as an option though another comes
// before it that has a value: git takes some values only after an =, and does not join
// options of one letter.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9')
}

const diffLong = "--brief --color[=] --context[=] --exclude= --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --ignore-trailing-space " +
	"--label= --minimal --new-file --report-identical-files --side-by-side --strip-trailing-cr --suppress-common-lines --text --unified[=] --width="

// Programs for awk that only select and print: no word that runs, reads or writes
// something else, or shows the environment, and no > or | beside those of comparisons.
var (
	awkEffects  = lazyregexp.New(`(?i)[>|@]|\\\n|\b(system|getline|close|fflush|environ|argv|argc|procinfo|symtab|include|load|namespace|func|function|eval|while|do|for)\b`)
	awkHarmless = strings.NewReplacer("||", " ", ">=", " ", `\t`, " ", `\n`, " ")
)

func awk(args []string) (Reads, string) {
	c, why := spec{valued: "F", bare: 1}.parse(args)
	switch {
	case why != "":
	case len(c.rest) == 0 || awkEffects.MatchString(awkHarmless.Replace(c.rest[0])):
		why = "only a program that selects and prints is known to be read-only"
	case slices.ContainsFunc(c.rest[1:], func(s string) bool { return strings.Contains(s, "=") }):
		why = "it sets a variable"
	}
	if why != "" {
		return Reads{}, why
	}
	return Reads{Files: c.rest[1:]}, ""
}

// text is the rule of a command that only prints its arguments or nothing.
func text([]string) (Reads, string) { return Reads{}, "" }

// printfFormat is a format that neither sets a variable nor is an option.
var printfFormat = lazyregexp.New(`^([^-%\\]|\\[nt\\]|%[s%])([^%\\]|\\[nt\\]|%[s%])*$`)

func printf(args []string) (Reads, string) {
	if len(args) == 0 || !printfFormat.MatchString(args[0]) {
		return Reads{}, "only a format of text and %s is known to be read-only"
	}
	return Reads{}, ""
}

// test judges the forms that look at one file or compare texts: others compute, and may run a
// command in an index.
func test(args []string) (Reads, string) {
	switch {
	case len(args) == 2 && slices.Contains(strings.Fields("-d -e -f -L -h -r -s -w -x"), args[0]):
		return Reads{Names: true, Files: args[1:]}, ""
	case len(args) == 2 && (args[0] == "-n" || args[0] == "-z"), len(args) == 3 && slices.Contains(strings.Fields("= == !="), args[1]):
		return Reads{}, ""
	}
	return Reads{}, "only one question about a file or two texts is known to be read-only"
}

func sums(args []string) (Reads, string) {
	return spec{flags: "btz", long: "--binary --tag --text --zero"}.rule()(args)
}

// stringsRule is the rule of strings, which reads arguments from a file behind an @.
func stringsRule(args []string) (Reads, string) {
	if slices.ContainsFunc(args, func(s string) bool { return strings.HasPrefix(s, "@") }) {
		return Reads{}, "it reads arguments from the file behind the @"
	}
	return spec{flags: "afow", valued: "ent", long: "--all --bytes= --radix= --encoding="}.rule()(args)
}

var grepSpec = spec{
	flags: "abcEFGHhIiLlnoPqrsTUvwxyZz", valued: "ABCDem", digits: true, bare: 1, deep: "-r --recursive",
	long: "--after-context= --basic-regexp --before-context= --binary --binary-files= --byte-offset --color[=] --colour[=] --context= --count --exclude-dir= --exclude= --extended-regexp " +
		"--files-with-matches --files-without-match --fixed-strings --ignore-case --include= --invert-match --line-number --line-regexp --max-count= --no-filename --no-messages --null " +
		"--only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --with-filename --word-regexp",
}

func grep(args []string) (Reads, string) {
	_, uses, why := grepSpec.search(args)
	return uses, why
}

// search judges a search, whose first argument is a pattern unless an option has it or
// only files are listed.
func (s spec) search(args []string) (call, Reads, string) {
	c, why := s.parse(args)
	if slices.ContainsFunc([]string{"-e", "--regexp", "--files"}, c.has) {
		s.bare = 0
	}
	return c, s.reads(c), why
}

var ripgrepSpec = spec{
	flags: "cFHhIilNnoPpqSsUuvwx0", valued: "ABCEegjMmrTtd", bare: 1, folder: true,
	long: "--after-context= --before-context= --case-sensitive --color= --column --context= --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --glob= --heading --hidden --iglob= " +
		"--ignore-case --invert-match --json --line-number --line-regexp --max-columns= --max-count= --max-depth= --multiline --no-config --no-filename --no-heading --no-ignore --no-line-number --only-matching " +
		"--pcre2 --quiet --regexp= --replace= --smart-case --sort= --stats --trim --type-not= --type= --vimgrep --with-filename --word-regexp",
}

// ripgrep is grep for rg, which reads everything in a folder anyway.
func ripgrep(args []string) (Reads, string) {
	c, uses, why := ripgrepSpec.search(args)
	uses.Deep = true
	uses.Hidden = slices.ContainsFunc([]string{"--hidden", "-u", "-g", "--glob", "--iglob"}, c.has)
	return uses, why
}

// guardedSearch returns the arguments with which rg reads no more because of its settings, and nothing
// hidden, whatever the ignore files of the project include.
func guardedSearch(args []string, uses Reads) []string {
	if uses.Hidden {
		return args
	}
	return slices.Concat([]string{"--no-config", "--glob", "!.*"}, args)
}

func asItIs(args []string, _ Reads) []string { return args }

// sedRange is the only form of a script for sed that is known to be read-only.
var sedRange = lazyregexp.New(`^([0-9]+|\$)(,([0-9]+|\$))?p(; ?([0-9]+|\$)(,([0-9]+|\$))?p)*$`)

func sed(args []string) (Reads, string) {
	if len(args) < 2 || args[0] != "-n" || !sedRange.MatchString(args[1]) {
		return Reads{}, "only sed -n with ranges of lines to print is known to be read-only"
	}
	return spec{}.rule()(args[2:])
}

// jqPath is a filter that only selects: names, numbers and strings, nothing to compute.
var jqPath = lazyregexp.New(`^\.$|^\.(` + jqName + `|` + jqIndex + `)(\.` + jqName + `|\.?` + jqIndex + `)*$`)

// The pieces of a jqPath.
const (
	jqName  = `[A-Za-z_][A-Za-z0-9_]*`
	jqIndex = `\[(-?[0-9]+|"[A-Za-z0-9_.-]*")?\]`
)

func jq(args []string) (Reads, string) {
	s := spec{flags: "acCMrSse", long: "--compact-output --raw-output --sort-keys --slurp --tab --monochrome-output --exit-status", bare: 1}
	c, why := s.parse(args)
	if why == "" && (len(c.rest) == 0 || !jqPath.MatchString(c.rest[0])) {
		why = "only a filter that selects, such as .name, is known to be read-only"
	}
	return s.reads(c), why
}

func date(args []string) (Reads, string) {
	c, why := spec{flags: "uRI", long: "--utc --universal --iso-8601[=] --rfc-3339="}.parse(args)
	if why == "" && (len(c.rest) > 1 || len(c.rest) == 1 && !strings.HasPrefix(c.rest[0], "+")) {
		why = "it could set the clock"
	}
	return Reads{}, why
}

// goVariables lists the variables that go env prints without running a compiler, and that
// hold no passwords.
var goVariables = strings.Fields("CGO_ENABLED GOARCH GOBIN GOCACHE GOEXPERIMENT GOFLAGS GOMOD GOMODCACHE GOOS GOPATH GOROOT GOTOOLCHAIN GOVERSION GOWORK")

func goTool(args []string) (Reads, string) {
	switch {
	case len(args) == 1 && args[0] == "version":
		return Reads{}, ""
	case len(args) > 1 && args[0] == "env" && !slices.ContainsFunc(args[1:], func(s string) bool { return !slices.Contains(goVariables, s) }):
		return Reads{}, ""
	}
	return Reads{}, "only go version and go env with names are known to be read-only: other commands build, download or run something"
}

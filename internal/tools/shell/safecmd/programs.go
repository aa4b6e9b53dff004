package safecmd

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// rule judges the arguments of a program. It returns the files that the program reads, or why the
// call is not known to only read.
type rule func(args []string) (uses reads, why string)

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
}

func (c call) has(option string) bool {
	_, ok := c.options[option]
	return ok
}

// rule returns the rule for programs with this spec.
func (s spec) rule() rule {
	return func(args []string) (reads, string) {
		c, why := s.parse(args)
		if why != "" {
			return reads{}, why
		}
		return s.reads(c), ""
	}
}

func (s spec) reads(c call) reads {
	if s.words {
		return reads{}
	}
	uses := reads{names: s.names, flat: s.flat, files: c.rest[min(s.bare, len(c.rest)):]}
	for _, name := range strings.Fields(s.deep) {
		if c.has(name) {
			uses.deep, uses.hidden = true, true
		}
	}
	if len(uses.files) == 0 && (s.folder || uses.deep) {
		uses.files = []string{"."}
	}
	return uses
}

// parse takes arguments apart. Options may follow other arguments.
func (s spec) parse(args []string) (call, string) {
	c := call{options: map[string]string{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			c.rest = append(c.rest, args[i+1:]...)
			i = len(args)
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			c.rest = append(c.rest, arg)
		default:
			used, ok := s.option(c, arg, args[i+1:])
			if !ok {
				return c, arg + " is not an option known to only read"
			}
			i += used
		}
	}
	switch {
	case s.none && len(c.rest) > 0:
		return c, c.rest[0] + " is an argument that it is not known to only read"
	case s.most > 0 && len(c.rest) > s.most:
		return c, "it has more arguments than it only reads"
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

// programs maps programs, and commands of the shell, to the rules for calls that only
// read. A program that may write, run another or reach the network without such an
// option is not among them.
var programs = map[string]rule{
	"awk":      awk,
	"gawk":     awk,
	"mawk":     awk,
	"basename": spec{flags: "az", valued: "s", long: "--multiple --suffix= --zero", words: true}.rule(),
	"base64":   spec{flags: "di", valued: "w", long: "--decode --ignore-garbage --wrap=", most: 1}.rule(),
	"cat":      spec{flags: "AbeEnstTuv", long: "--number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank"}.rule(),
	"cksum":    spec{}.rule(),
	"cmp":      spec{flags: "bls", valued: "in", long: "--bytes= --silent --quiet --verbose --print-bytes", most: 4}.rule(),
	"column":   spec{flags: "tx", valued: "sco", long: "--table --separator="}.rule(),
	"comm":     spec{flags: "123z", long: "--check-order --nocheck-order --total", most: 2}.rule(),
	"cut":      spec{flags: "snz", valued: "bcdf", long: "--bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter="}.rule(),
	"date":     date,
	"df":       spec{flags: "ahHiklPT", valued: "tx", long: "--all --human-readable --inodes --local --portability --print-type --si --total --type="}.rule(),
	"diff":     spec{flags: "abBcdeEiNnpqstTuwyZ", valued: "CFIUWx", long: diffLong, digits: true, most: 2, flat: true}.rule(),
	"dirname":  spec{flags: "z", long: "--zero", words: true}.rule(),
	"du":       spec{flags: "0abchHklmPsSx", valued: "dt", long: "--all --apparent-size --bytes --human-readable --max-depth= --summarize --total --exclude= --si --threshold=", names: true, folder: true}.rule(),
	"echo":     text,
	"grep":     grep,
	"expand":   spec{flags: "i", valued: "t", long: "--initial --tabs="}.rule(),
	"false":    text,
	"file":     spec{flags: "bhiLNr", long: "--brief --mime --mime-type --mime-encoding --dereference --no-dereference"}.rule(),
	"fold":     spec{flags: "bs", valued: "w", long: "--bytes --spaces --width="}.rule(),
	"git":      git,
	"go":       goTool,
	"head":     spec{flags: "qvz", valued: "cn", long: "--bytes= --lines= --quiet --silent --verbose", digits: true}.rule(),
	"jq":       jq,
	"id":       spec{flags: "Ggnruz", long: "--group --groups --name --real --user", words: true}.rule(),
	"join":     spec{flags: "iz", valued: "aejotv12", most: 2}.rule(),
	"ls": spec{flags: "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ", long: "--all --almost-all --author --classify --color[=] --directory --file-type --format= --full-time --group-directories-first " +
		"--hide= --human-readable --ignore= --inode --no-group --numeric-uid-gid --recursive --reverse --si --size --sort= --time= --time-style= --width=", names: true, folder: true}.rule(),
	"md5sum": sums, "b2sum": sums, "sha1sum": sums, "sha224sum": sums, "sha256sum": sums, "sha384sum": sums, "sha512sum": sums,
	"nl":       spec{flags: "p", valued: "bdfhilnsvw", long: "--body-numbering="}.rule(),
	"nproc":    spec{long: "--all --ignore=", none: true}.rule(),
	"od":       spec{flags: "abcdfiloxsv", valued: "ANjt", long: "--address-radix= --format= --read-bytes= --skip-bytes= --output-duplicates"}.rule(),
	"paste":    spec{flags: "sz", valued: "d", long: "--delimiters= --serial"}.rule(),
	"printf":   printf,
	"pwd":      spec{flags: "LP", none: true}.rule(),
	"readlink": spec{flags: "efmnqsvz", long: "--canonicalize --canonicalize-existing --canonicalize-missing --no-newline", names: true}.rule(),
	"realpath": spec{flags: "eLmPqsz", long: "--canonicalize-existing --canonicalize-missing --relative-base= --relative-to= --no-symlinks --strip", names: true}.rule(),
	"rev":      spec{}.rule(),
	"rg":       ripgrep,
	"sed":      sed,
	"seq":      spec{flags: "w", valued: "fs", long: "--equal-width --format= --separator=", words: true}.rule(),
	"sort":     spec{flags: "bCcdfghiMnRrsuVz", valued: "kt", long: "--check --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-leading-blanks --key= --field-separator= --month-sort --numeric-sort --random-sort --reverse --stable --unique --version-sort --zero-terminated"}.rule(), // not -m: it may copy its input to a temporary file
	"stat":     spec{flags: "fLtx", valued: "c", long: "--dereference --file-system --format= --printf= --terse", names: true}.rule(),
	"strings":  stringsRule,
	"tail":     spec{flags: "qvz", valued: "cn", long: "--bytes= --lines= --quiet --silent --verbose", digits: true}.rule(),
	"test":     test,
	"tr":       spec{flags: "cCdst", long: "--complement --delete --squeeze-repeats --truncate-set1", words: true}.rule(),
	"tree":     spec{flags: "aACdDfFghinNpQrsStuUvx", valued: "LIP", apart: true, long: "--dirsfirst --du --filelimit= --gitignore --noreport --prune --si", names: true, folder: true}.rule(),
	"true":     text,
	"type":     spec{words: true}.rule(),
	"uname":    spec{flags: "amnoprsv", long: "--all --kernel-name --kernel-release --kernel-version --machine --nodename --operating-system --processor", none: true}.rule(),
	"uniq":     spec{flags: "cdDiuz", valued: "fsw", long: "--count --repeated --ignore-case --unique --skip-fields= --skip-chars= --check-chars=", most: 1}.rule(),
	"wc":       spec{flags: "cLlmw", long: "--bytes --chars --lines --max-line-length --words"}.rule(),
	"which":    spec{flags: "a", long: "--all", words: true}.rule(),
	"whoami":   spec{none: true}.rule(),
}

const diffLong = "--brief --color[=] --context[=] --exclude= --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --ignore-trailing-space " +
	"--label= --minimal --new-file --report-identical-files --side-by-side --strip-trailing-cr --suppress-common-lines --text --unified[=] --width="

// ruleOf returns the rule of a program.
func ruleOf(name string) (rule, bool) {
	switch name { // these run others of programs
	case "find":
		return find, true
	case "xargs":
		return xargs, true
	}
	r, ok := programs[name]
	return r, ok
}

// Programs for awk that only select and print: no word that runs, reads or writes
// something else, or shows the environment, and no > or | beside those of comparisons.
var (
	awkEffects  = lazyregexp.New(`(?i)[>|@]|\\\n|\b(system|getline|close|fflush|environ|argv|argc|procinfo|symtab|include|load|namespace|func|function|eval|while|do|for)\b`)
	awkHarmless = strings.NewReplacer("||", " ", ">=", " ", `\t`, " ", `\n`, " ")
)

func awk(args []string) (reads, string) {
	c, why := spec{valued: "F", bare: 1}.parse(args)
	switch {
	case why != "":
	case len(c.rest) == 0 || awkEffects.MatchString(awkHarmless.Replace(c.rest[0])):
		why = "only a program that selects and prints is known to only read"
	case slices.ContainsFunc(c.rest[1:], func(s string) bool { return strings.Contains(s, "=") }):
		why = "it sets a variable"
	}
	if why != "" {
		return reads{}, why
	}
	return reads{files: c.rest[1:]}, ""
}

// subcommands maps programs to the number of words after their names that are commands of theirs.
var subcommands = map[string]int{"git": 1, "go": 1}

// builtins lists the programs that every shell has in itself.
var builtins = []string{"echo", "false", "printf", "pwd", "test", "true", "type"}

// text is the rule of a command that only prints its arguments or nothing.
func text([]string) (reads, string) { return reads{}, "" }

// printfFormat is a format that neither sets a variable nor is an option.
var printfFormat = lazyregexp.New(`^([^-%\\]|\\[nt\\]|%[s%])([^%\\]|\\[nt\\]|%[s%])*$`)

func printf(args []string) (reads, string) {
	if len(args) == 0 || !printfFormat.MatchString(args[0]) {
		return reads{}, "only a format of text and %s is known to only print"
	}
	return reads{}, ""
}

// test judges the forms that look at one file or compare texts: others compute, and may run a
// command in an index.
func test(args []string) (reads, string) {
	switch {
	case len(args) == 2 && slices.Contains(strings.Fields("-d -e -f -L -h -r -s -w -x"), args[0]):
		return reads{names: true, files: args[1:]}, ""
	case len(args) == 2 && (args[0] == "-n" || args[0] == "-z"), len(args) == 3 && slices.Contains(strings.Fields("= == !="), args[1]):
		return reads{}, ""
	}
	return reads{}, "only one question about a file or two texts is known to only read"
}

func sums(args []string) (reads, string) {
	return spec{flags: "btz", long: "--binary --tag --text --zero"}.rule()(args)
}

// stringsRule is the rule of strings, which reads arguments from a file behind an @.
func stringsRule(args []string) (reads, string) {
	if slices.ContainsFunc(args, func(s string) bool { return strings.HasPrefix(s, "@") }) {
		return reads{}, "it reads arguments from the file behind the @"
	}
	return spec{flags: "afow", valued: "ent", long: "--all --bytes= --radix= --encoding="}.rule()(args)
}

var grepSpec = spec{
	flags: "abcEFGHhIiLlnoPqrsTUvwxyZz", valued: "ABCDem", digits: true, bare: 1, deep: "-r --recursive",
	long: "--after-context= --basic-regexp --before-context= --binary --binary-files= --byte-offset --color[=] --colour[=] --context= --count --exclude-dir= --exclude= --extended-regexp " +
		"--files-with-matches --files-without-match --fixed-strings --ignore-case --include= --invert-match --line-number --line-regexp --max-count= --no-filename --no-messages --null " +
		"--only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --with-filename --word-regexp",
}

func grep(args []string) (reads, string) {
	_, uses, why := grepSpec.search(args)
	return uses, why
}

// search judges a search, whose first argument is a pattern unless an option has it or
// only files are listed.
func (s spec) search(args []string) (call, reads, string) {
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
func ripgrep(args []string) (reads, string) {
	c, uses, why := ripgrepSpec.search(args)
	uses.deep = true
	uses.hidden = slices.ContainsFunc([]string{"--hidden", "-u", "-g", "--glob", "--iglob"}, c.has)
	return uses, why
}

// sedRange is the only form of a script for sed that is known to only read.
var sedRange = lazyregexp.New(`^([0-9]+|\$)(,([0-9]+|\$))?p(; ?([0-9]+|\$)(,([0-9]+|\$))?p)*$`)

func sed(args []string) (reads, string) {
	if len(args) < 2 || args[0] != "-n" || !sedRange.MatchString(args[1]) {
		return reads{}, "only sed -n with ranges of lines to print is known to only read"
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

func jq(args []string) (reads, string) {
	s := spec{flags: "acCMrSse", long: "--compact-output --raw-output --sort-keys --slurp --tab --monochrome-output --exit-status", bare: 1}
	c, why := s.parse(args)
	if why == "" && (len(c.rest) == 0 || !jqPath.MatchString(c.rest[0])) {
		why = "only a filter that selects, such as .name, is known to only read"
	}
	return s.reads(c), why
}

func date(args []string) (reads, string) {
	c, why := spec{flags: "uRI", long: "--utc --universal --iso-8601[=] --rfc-3339="}.parse(args)
	if why == "" && (len(c.rest) > 1 || len(c.rest) == 1 && !strings.HasPrefix(c.rest[0], "+")) {
		why = "it could set the clock"
	}
	return reads{}, why
}

// goVariables lists the variables that go env prints without running a compiler, and that
// hold no passwords.
var goVariables = strings.Fields("CGO_ENABLED GOARCH GOBIN GOCACHE GOEXPERIMENT GOFLAGS GOMOD GOMODCACHE GOOS GOPATH GOROOT GOTOOLCHAIN GOVERSION GOWORK")

func goTool(args []string) (reads, string) {
	switch {
	case len(args) == 1 && args[0] == "version":
		return reads{}, ""
	case len(args) > 1 && args[0] == "env" && !slices.ContainsFunc(args[1:], func(s string) bool { return !slices.Contains(goVariables, s) }):
		return reads{}, ""
	}
	return reads{}, "only go version and go env with names are known to only read: other commands build, download or run something"
}

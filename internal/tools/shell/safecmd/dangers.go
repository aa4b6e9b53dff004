package safecmd

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// namesPackages reports whether the arguments of a launcher are a word before packages, and names of
// packages, some of which are those of programs: yarn add mount.
func namesPackages(name string, args []string) bool {
	if len(args) == 0 || !slices.Contains(strings.Fields(programs.Find(name).Packages), args[0]) {
		return false
	}
	for _, a := range args[1:] {
		option := slices.Contains([]string{"-D", "-E", "--dev", "--exact", "--save-dev"}, a)
		odd := strings.ContainsFunc(a, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("@/._^~-", r))
		})
		if !option && (odd || strings.HasPrefix(a, "-")) {
			return false
		}
	}
	return true
}

// is reports whether a word names a program with all of some properties.
func is(word string, some programs.Is) bool { return programs.Find(programs.Name(word)).Is.Has(some) }

// isPrefix reports whether the word after this one is a program, or after its options.
func isPrefix(word string) bool {
	return is(word, programs.Direct) && programs.Find(programs.Name(word)).Exec == nil || isOdd(word)
}

func isWrapper(word string) bool { return is(word, programs.Starts) || isOdd(word) }

func isLauncher(word string) bool { return is(word, programs.Launches) }

// isOdd reports whether a word in the place of a program can hardly be one.
func isOdd(word string) bool { return strings.HasSuffix(word, "/") || strings.Contains(word, "=") }

// dangerOf returns the danger of the program with a name, nil if none is known.
func dangerOf(name string) programs.Danger {
	switch p := programs.Find(name); {
	case p.Is.Has(programs.Privileged):
		return func([]string) string { return "it runs with the rights of another user" }
	case p.Is.Has(programs.Links):
		return linking
	case p.Is.Has(programs.Copies):
		return copying
	default:
		return p.Danger
	}
}

// program returns why the program args[0] with its arguments is dangerous, or "".
func (d *detector) program(args []string) string {
	if d.depth == 0 {
		return d.examine(args)
	}
	key := tail{&args[0], len(args), d.depth, d.more}
	why, known := d.judged[key]
	if !known {
		if *d.left -= len(args); *d.left < 0 {
			return tooDeep
		}
		why = d.examine(args)
		d.judged[key] = why
	}
	return why
}

// tail is the end of the words of a command, from a word that may name a program. Wrappers in
// wrappers have the same ends again and again.
type tail struct {
	first *string
	words int
	depth int
	more  bool
}

// examine is program without its memory.
func (d *detector) examine(args []string) string {
	name := programs.Name(args[0])
	if rule := dangerOf(name); rule != nil {
		if why := rule(d.localAll(d.given(args[1:]))); why != "" {
			return why
		}
	}
	if (isWrapper(args[0]) || isLauncher(args[0]) || outside(args[0])) && !namesPackages(name, args[1:]) {
		if why := d.wrapped(name, args[1:]); why != "" {
			return why
		}
	}
	return d.secretArgs(name, args[1:])
}

// given returns the arguments that a program gets.
func (d *detector) given(args []string) []string {
	if !d.more {
		return args
	}
	return append(slices.Clone(args), unknownText)
}

// wrapped judges the programs and lines that a program starts.
func (d *detector) wrapped(name string, args []string) string {
	if name == "eval" {
		return d.script(strings.Join(d.given(args), " "))
	}
	if why := d.started(name, args); why != "" {
		return why
	}
	if is(name, programs.Direct) && !(name == "env" && slices.ContainsFunc(args, splits)) {
		return "" // it runs its arguments as they are
	}
	return d.texts(name, d.given(args))
}

// started judges the programs that the words of a program name.
func (d *detector) started(name string, args []string) string {
	exec := programs.Find(name).Exec
	inner := *d
	inner.depth++
	inner.more = d.more || name == "xargs" || name == "parallel" || exec != nil // it adds words of its own
	if name == "git" || inner.depth > maxDepth {
		return ""
	}
	for i := range min(len(args), maxWords) {
		if !follows(args, i, exec) {
			continue
		}
		if args[i] != name && starts(args[i]) {
			if why := inner.program(args[i:]); why != "" {
				return why
			}
		}
		if is(name, programs.Direct) && !isWrapper(args[i]) && isProgram(args, i) {
			break
		}
	}
	return ""
}

// follows reports whether the word i follows one of some options. Without options every word does.
func follows(args []string, i int, options []string) bool {
	return options == nil || i > 0 && slices.Contains(options, args[i-1])
}

// valueless matches options of wrappers that take no value of their own.
var valueless = lazyregexp.New(`^-(-|[0irtxp]|[nLPs][0-9]+|-null|-no-run-if-empty|.*=.*)$`)

// isProgram reports whether the word i of a direct wrapper can only be the program.
func isProgram(args []string, i int) bool {
	word := args[i]
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") || programs.IsNumber(word) || unknown(word) || outside(word) {
		return false
	}
	return i == 0 || !strings.HasPrefix(args[i-1], "-") || valueless.MatchString(args[i-1])
}

// splits reports whether an option of env makes several words of one.
func splits(arg string) bool { return short(arg, "S") || strings.HasPrefix(arg, "--s") }

// starts reports whether a word among others can name a program that is dangerous, or
// starts one.
func starts(word string) bool {
	base := programs.Name(word)
	return dangerOf(base) != nil || isWrapper(word) || isLauncher(word)
}

// texts judges the arguments that a program runs as lines of their own.
func (d *detector) texts(name string, args []string) string {
	for i, arg := range args {
		option := ""
		if i > 0 {
			option = args[i-1]
		}
		if why := d.textOf(name, option, arg); why != "" {
			return why
		}
	}
	return ""
}

// textOf judges an argument, which follows option.
func (d *detector) textOf(name, option, arg string) string {
	if unknown(arg) || outside(arg) {
		return unknownTextOf(name)
	}
	runs, lang := is(name, programs.Lines), languageOf(name)
	switch {
	case lang != nil && !lang.Shell && !lang.Loose:
		if isCodeOf(lang, option, arg) {
			return d.code(arg)
		}
		return ""
	case name == "git":
		if _, command, ok := strings.Cut(arg, "=!"); ok {
			return d.script(command)
		}
		return ""
	case name == "trap" && option == "", isInterpreter(name) && short(option, "c"):
		return d.script(arg)
	case runs || strings.ContainsAny(arg, " \t\n;|&<>"):
		return d.nested(assigned(arg))
	}
	return ""
}

// unknownTextOf judges an argument that is known only when it runs.
func unknownTextOf(name string) string {
	if is(name, programs.Lines) || isInterpreter(name) || name == "source" || name == "." {
		return runsUnknown
	}
	return ""
}

// assigned returns the value of an argument such as --to-command=VALUE or name=VALUE, or
// the argument.
func assigned(arg string) string {
	name, value, ok := strings.Cut(arg, "=")
	if ok && !strings.ContainsAny(name, " \t\n;|&<>") {
		return assigned(value)
	}
	return arg
}

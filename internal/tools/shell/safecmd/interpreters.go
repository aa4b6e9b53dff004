package safecmd

import (
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// languageOf returns the language of the program that a word names, nil for another.
func languageOf(word string) *programs.Language { return programs.Find(path.Base(word)).Language }

// isInterpreter reports whether a word names a program that runs the text which it reads.
func isInterpreter(word string) bool { return languageOf(word).RunsInput() }

// interpreter returns the first interpreter that the words of a command name, or "".
func interpreter(args []string) string {
	if i := slices.IndexFunc(args, isInterpreter); i >= 0 {
		return path.Base(args[i])
	}
	return ""
}

// runsInput reports whether a command with these words runs the text that it reads.
func runsInput(args []string) bool {
	i := slices.IndexFunc(args, isInterpreter)
	return i >= 0 && (i == 0 || isWrapper(args[0]) || isLauncher(args[0])) && readsProgram(path.Base(args[i]), args[i+1:])
}

// evaluating matches code that may run the text which it reads.
var evaluating = lazyregexp.New("(?i)\\b(eval|exec|execfile|system|popen|spawn|subprocess|child_process|compile|function|import|require|runpy|load|loadstring|open3|qx|vm)\\b|`|%x|/e?e[a-z]*")

// readsProgram reports whether an interpreter with these arguments runs the text that it
// reads: no argument names another program, or that one may run the text.
func readsProgram(name string, args []string) bool {
	lang := languageOf(name)
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-", isInput(arg):
			return true
		case isCodeOption(lang, arg):
			return !lang.Shell && slices.ContainsFunc(args[i:], evaluating.MatchString)
		case lang.Modules && strings.HasPrefix(arg, "-m"):
			return isConsole(append([]string{strings.TrimPrefix(arg, "-m")}, args[i+1:]...))
		case isInteractive(lang, arg):
			return true
		case takesValue(lang, arg):
			i++
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
		default:
			return slices.ContainsFunc(args[i:], isInput) // a file with a program, unless that file is the input
		}
	}
	return true
}

// isConsole reports whether the first module that words name, which may follow an empty word, runs
// the text that it reads, or is missing.
func isConsole(words []string) bool {
	if words[0] == "" {
		words = words[1:]
	}
	return len(words) == 0 || words[0] == "" || programs.IsConsole(words[0])
}

// isInput reports whether an argument may name the input of the interpreter.
func isInput(arg string) bool {
	return unknown(arg) || strings.HasPrefix(arg, "/dev/") || strings.HasPrefix(arg, "/proc/")
}

// isInteractive reports whether an option makes an interpreter run the text that it reads.
func isInteractive(lang *programs.Language, arg string) bool {
	return lang.Shell && short(arg, "s") || short(arg, "i") && !lang.InPlace || strings.HasPrefix(arg, "--int")
}

// takesValue reports whether the next argument of an interpreter belongs to this option.
func takesValue(lang *programs.Language, arg string) bool {
	return len(arg) == 2 && (arg[0] == '-' || arg[0] == '+') && strings.Contains(lang.Valued, arg[1:]) ||
		slices.Contains([]string{"--rcfile", "--init-file", "--require", "--import"}, arg)
}

// isCodeOption reports whether the next argument of an interpreter, or the rest of this one, is
// a program.
func isCodeOption(lang *programs.Language, arg string) bool {
	return short(arg, lang.Code) || strings.Contains(lang.Code, "p") && (strings.HasPrefix(arg, "--ev") || strings.HasPrefix(arg, "--pr"))
}

// isCodeOf reports whether an argument behind option can hold a program in lang.
func isCodeOf(lang *programs.Language, option, arg string) bool {
	switch {
	case lang.Awk:
		return true
	case strings.HasPrefix(arg, "-"):
		return isCodeOption(lang, arg)
	}
	return isCodeOption(lang, option)
}

// removals are names of functions that remove files.
var removals = []string{"rmtree", "unlink", "os.remove", "rmSync", "rmdirSync", "rm_rf", "File.delete"}

// betweenTexts matches the marks between the words of a command in a list.
var betweenTexts = lazyregexp.New(`["']\s*,\s*["']`)

// code judges a program in another language by the texts in it, which it may run as
// commands.
func (d *detector) code(text string) string {
	if slices.ContainsFunc(removals, func(name string) bool { return strings.Contains(text, name) }) {
		return "it removes files"
	}
	text = betweenTexts.ReplaceAllString(text, " ")
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\"'`;|&(){}[]\n\r=", r) }) {
		words := strings.Fields(strings.ReplaceAll(piece, "$", unknownText))
		if len(words) > 1 && (dangerOf(path.Base(words[0])) != nil || isWrapper(words[0])) {
			if why := d.program(words); why != "" {
				return why
			}
		}
	}
	return ""
}

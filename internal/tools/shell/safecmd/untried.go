package safecmd

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// Untried explains why a run in a copy of the folder would not show the effect of a line, as the
// predicate of a sentence with "it"; "" if it would. In such a copy a command has no network, no home
// and no keys, and nobody outside sees its processes.
func (p Place) Untried(j Judgement) string {
	switch {
	case j.Class == Danger:
		return "is dangerous: " + strings.Join(j.Reasons(), "; ")
	case j.Misplaced && slices.ContainsFunc(j.Parts, func(part Part) bool { return part.Class != Safe && !part.looks() }):
		return "only reads, but " + strings.Join(j.Reasons(), "; ")
	case j.file == nil:
		return "cannot be judged"
	}
	left := maxExplained
	u := unusual{place: p, effects: slices.Concat(effects, beyondCopy), found: map[string]string{}, left: &left}
	u.line(j)
	if left < 0 {
		return "is too long to be judged"
	}
	for _, e := range u.effects {
		if text := u.found[e.word]; text != "" && e.leaves {
			return strings.TrimPrefix(text, "it ")
		}
	}
	for _, part := range j.Parts {
		if word := p.keysOf(part.Words); word != "" && part.Class != Safe {
			return "reads " + word + ", which may contain passwords or keys"
		}
	}
	return ""
}

// keysOf returns the name of a file with keys that a command reads, or "".
func (p Place) keysOf(words []string) string {
	if word := p.namesKeys(words); word != "" {
		return word
	}
	if len(words) > 1 && words[1] == "remote" && p.hidesSettings() {
		return ".git/config"
	}
	return ""
}

// looks reports whether a part only tells about a repository: the copy has it, and programs that its settings name do
// nothing there.
func (p Part) looks() bool { return len(p.Words) > 0 && programs.Find(p.Words[0]).LooksBy(p.Words[1:]) }

// hidesSettings reports whether a copy leaves out some of the settings of the repository.
func (p Place) hidesSettings() bool {
	top, why := p.top()
	return why != "" || permission.Credentials(filepath.Join(top, ".git", "config")) != ""
}

// Names reports whether a part of a line names a program with a property, or its program is only known when it runs.
func (j Judgement) Names(property programs.Is) bool {
	return slices.ContainsFunc(j.Parts, func(p Part) bool { return len(p.Words) == 0 || is(path.Base(p.Words[0]), property) })
}

// Stages reports whether the parts of a line only read, or add files to the index of a repository.
func (j Judgement) Stages() bool {
	return !slices.ContainsFunc(j.Parts, func(p Part) bool {
		return p.Class != Safe && (len(p.Words) == 0 || !programs.Find(p.Words[0]).StagesBy(p.Words[1:]))
	})
}

// namesKeys returns the first of a command's words that names a file with keys, or "".
func (p Place) namesKeys(words []string) string {
	for _, word := range words {
		_, value, _ := strings.Cut(word, "=")
		for _, name := range []string{word, value} {
			if name == "" || strings.HasPrefix(name, "-") || len(name) > maxName {
				continue
			}
			abs := name
			if !filepath.IsAbs(abs) {
				abs = filepath.Join(p.Dir, name)
			}
			if p.secret(name, name, abs) != "" {
				return name
			}
		}
	}
	return ""
}

// beyondCopy are the effects that count only for a trial, in display order after effects.
var beyondCopy = []effect{
	{word: "system", text: "it works with the system, a service or another machine", leaves: true, has: func(name string, _ []string) bool {
		return is(name, programs.System) || is(name, programs.Elsewhere)
	}},
	{word: "repository", text: "it works on the repository, not on the files", leaves: true, has: func(name string, args []string) bool {
		git := programs.Find(name)
		return is(name, programs.Versions) && !git.StagesBy(args) && !git.LooksBy(args)
	}},
	{word: "modes", text: "it changes the owner or the attributes of files", leaves: true, has: has(programs.Modes)},
	{word: "stays", text: "it starts a server that stays", leaves: true, has: stays},
	{word: "environment", text: "it reads the environment", leaves: true, has: readsEnvironment},
	{word: "elsewhere", text: "it has a name that suggests it acts elsewhere", leaves: true, has: speaksOfElsewhere},
	{word: "built", text: "it removes what was built, which a copy does not show", leaves: true, has: func(name string, args []string) bool {
		return (is(name, programs.Targets) || is(name, programs.Builds) || slices.Contains([]string{"cargo", "go"}, name)) && slices.ContainsFunc(args, func(s string) bool {
			return s == "clean" || strings.HasSuffix(s, ":clean") || strings.HasPrefix(s, "clean:")
		})
	}},
	{word: "unknown", text: "it runs a command of cargo's that is not known", leaves: true, has: unknownCargo},
}

// lasting are arguments with which programs start servers, or wait for changes of files.
var lasting = strings.Fields("--watch --serve dev http.server preview runserver serve server start watch")

// stays reports whether a command ends only if somebody ends it.
func stays(name string, args []string) bool {
	return programs.Find(name).StaysBy(args) || is(name, programs.Targets) && slices.ContainsFunc(args, func(s string) bool {
		return slices.Contains(lasting, s) || slices.ContainsFunc(strings.FieldsFunc(s, isSeparator), func(w string) bool { return slices.Contains(lasting, w) })
	})
}

// has returns the test for programs with a property.
func has(property programs.Is) func(string, []string) bool {
	return func(name string, _ []string) bool { return is(name, property) }
}

// readsEnvironment reports whether a command prints variables of the environment.
func readsEnvironment(name string, args []string) bool {
	if is(name, programs.Prints) && (name == "printenv" || !slices.ContainsFunc(args, func(s string) bool { return !strings.HasPrefix(s, "-") })) {
		return true
	}
	return slices.ContainsFunc(args, func(s string) bool {
		return slices.ContainsFunc([]string{"environ", "process.env", "getenv", "ENV["}, func(w string) bool { return strings.Contains(s, w) })
	})
}

// elsewhere are words in the names of scripts and targets that reach other machines.
var elsewhere = strings.Fields("deploy deployment download fetch install migrate migrations notify provision publish pull push release rollback rotate seed send sync upload")

// speaksOfElsewhere reports whether a script, or an argument that is no option, is named for
// something that a copy without a network cannot do. The tests of such things are not meant.
func speaksOfElsewhere(name string, args []string) bool {
	p := programs.Find(name)
	if p.Is.Has(programs.Plain) || p.FreeAfter(append([]string{name}, args...)) > 0 {
		return false
	}
	const runs = programs.Starts | programs.Launches | programs.Targets | programs.Builds | programs.Hides | programs.Evaluates
	scripts := !p.Known() || p.Language != nil || p.Is&runs != 0 // else it does not run those that it names
	if onlyChecks(name, args) {
		return false
	}
	return speaks(name) || slices.ContainsFunc(args, func(s string) bool {
		named := path.Ext(s) == "" && !strings.Contains(s, "/") || scripts && isScript(s)
		return named && !strings.HasPrefix(s, "-") && !strings.ContainsAny(s, " \t\n") && speaks(s)
	})
}

// onlyChecks reports whether a shell reads a script without running it.
func onlyChecks(name string, args []string) bool {
	l := programs.Find(name).Language
	return l != nil && l.Shell && len(args) > 0 && args[0] == "-n"
}

// speaks reports whether a name has one of the words of elsewhere.
func speaks(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(path.Base(name)), isSeparator)
	tests := slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"test", "tests", "spec"}, w) })
	return !tests && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(elsewhere, w) })
}

// isScript reports whether a word names a script.
func isScript(s string) bool {
	return slices.Contains([]string{".sh", ".bash", ".py", ".js", ".rb", ".pl"}, path.Ext(s))
}

func isSeparator(r rune) bool { return strings.ContainsRune("-_:./", r) }

// unknownCargo reports whether a command of cargo is another program.
func unknownCargo(name string, args []string) bool {
	i := slices.IndexFunc(args, func(s string) bool { return !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") })
	return name == "cargo" && i >= 0 && !slices.Contains(strings.Fields("b bench build c check clippy d doc fix fmt help locate-project metadata nextest r run t test tree verify-project version"), args[i])
}

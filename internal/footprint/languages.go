package footprint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/programs"
)

var (
	// literalRequire matches the loading of a module that the code names.
	literalRequire = lazyregexp.New(`\brequire\s*\(\s*('[\w./@-]+'|"[\w./@-]+")\s*\)`)
	// runsMore matches code that may run a file which its words do not name.
	runsMore = lazyregexp.New("(?i)\\b(binding|breakpoint|builtins|child_process|code|compile|const_get|constructor|ctypes|do|eval|exec\\w*|fork|function|getattr|globals|imp|importlib|" +
		"import_module|include\\w*|instance_eval|load\\w*|locals|marshal|open\\w*|pickle|pkgutil|popen\\w*|posix_spawn\\w*|pty|qx|readfile\\w*|read_text|require|require_once|require_relative|runpy|send|shell_exec|" +
		"spawn\\w*|subprocess|system|vars|vm|zipimport)\\b|__|`|\\bimport\\s*\\(|sys\\.path|<<<|\\|")
)

// mayRunMore reports whether the text of a program may run a file that its words do not name.
func mayRunMore(code string) bool {
	return runsMore.MatchString(literalRequire.ReplaceAllString(code, ""))
}

// maxNames is the number of words after a program that may be files to run.
const maxNames = 32

// languageOf returns the language of the program that a word of a text names, nil for another.
func languageOf(word string) *programs.Language {
	if p := programs.Find(word); p.Known() {
		return p.Language
	}
	return programs.Find(strings.TrimSuffix(filepath.Base(strings.TrimLeft(word, "`@")), ".exe")).Language
}

// start is a place in a text where a program of a language is started, as far as its words
// show.
type start struct {
	*programs.Language
	names  []string // that may be files to run; the first is the program
	values []string // of options: they may be files to run, too
	mod    string   // the module after -m
	code   bool     // the text has the code
	sure   bool     // the interpreter is started, not only named
}

// startsIn returns the places of text where programs of known languages are started.
func startsIn(text string) []start {
	var out []start
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|&()\r\n", r) }) {
		out = append(out, startsOf(strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" \t\"'[],\\", r) }))...)
	}
	return out
}

// startsOf returns the places of the words of a command where programs of known languages are
// started.
func startsOf(words []string) []start {
	var out []start
	sure := true
	for i, w := range words {
		if lang := languageOf(w); lang != nil && !lang.Awk {
			s := startOf(lang, words[i+1:])
			s.sure = sure && !lang.Loose
			out = append(out, s)
		}
		sure = sure && w != "" && (strings.ContainsRune(w, '=') || strings.HasPrefix(w, "-") || '0' <= w[0] && w[0] <= '9' || startsNext(filepath.Base(w)))
	}
	return out
}

// startsNext reports whether another program may be named after a word.
func startsNext(word string) bool {
	p := programs.Find(word)
	return word == "run" || p.Is.Has(programs.Direct) || p.Is.Has(programs.Keyword) || p.Launch != ""
}

// startOf interprets the words after a program, up to a redirection.
func startOf(lang *programs.Language, words []string) start {
	s := start{Language: lang}
	for i := 0; i < len(words) && len(s.names) < maxNames && !strings.ContainsAny(words[i], "<>"); i++ {
		w := words[i]
		if len(s.names) > 0 || len(w) < 2 || w[0] != '-' {
			s.names = append(s.names, w)
			continue
		}
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		if s.option(w, next) {
			i++
		}
	}
	return s
}

// option interprets an option of at least two characters, which may take the next word, and
// reports whether that is its value.
func (s *start) option(w, next string) bool {
	first, last := string(w[1]), w[len(w)-1:]
	switch {
	case first == "-":
		s.code = s.code || s.Code != "" && (w == "--eval" || w == "--print")
	case s.Modules && first == "m" && len(w) > 2:
		s.mod = w[2:]
	case s.Modules && last == "m":
		s.mod = next
	case strings.Contains(s.Code, first), strings.Contains(s.Code, last):
		s.code = true
	case strings.Contains(s.Valued, last):
		s.values = append(s.values, next)
		return true
	}
	return false
}

// runsFile reports whether the first name is a file that s runs.
func (s start) runsFile() bool {
	return !s.code && s.mod == "" && !s.Loose && len(s.names) > 0 && s.names[0] != "-" && !isStream(word{text: s.names[0]})
}

// files returns the names of files that s may run, relative to the folder of the command.
func (s start) files() []string {
	var out []string
	for _, name := range slices.Concat(s.names, s.values) {
		name = strings.TrimRight(os.ExpandEnv(name), "/")
		out = append(out, name)
		for _, end := range s.Endings {
			out = append(out, name+end)
		}
	}
	return append(out, moduleFiles(s.mod)...)
}

// moduleFiles returns the files that Python runs for -m name: the folders of packages hold
// one more each.
func moduleFiles(name string) []string {
	if name == "" {
		return nil
	}
	var out []string
	for _, root := range []string{"", "src/"} {
		path := root + strings.ReplaceAll(name, ".", "/")
		out = append(out, path+".py", path+"/__main__.py")
		for ; path+"/" != root && path != "."; path = filepath.ToSlash(filepath.Dir(path)) {
			out = append(out, path+"/__init__.py")
		}
	}
	return out
}

// addStarted adds the files that started programs run, but for those that are ignored. It fails
// for a program that is not among them, if the words are those of a command.
func (l *collector) addStarted(starts []start, a *reading, words, dirs []string, certain bool) {
	for _, s := range starts {
		if s.code { // it may name any of them
			s.names = append(s.names, words...)
		}
		for _, dir := range dirs {
			for _, name := range s.files() {
				if !a.ignores(name) {
					l.script(inDir(dir, name), dirs)
				}
			}
		}
		if certain && s.sure && !s.code && !s.known(dirs) {
			l.fail(fmt.Errorf("%w: %s is not found", ErrUnpredictable, s.program()))
		}
	}
}

// program returns the word that names what s runs.
func (s start) program() string {
	if s.mod != "" || len(s.names) == 0 {
		return s.mod
	}
	return s.names[0]
}

// known reports whether the file that s runs was found, or s runs no file of the project.
func (s start) known(dirs []string) bool {
	one := start{Language: s.Language, mod: s.mod}
	_, installed := programs.Module(s.mod)
	switch {
	case installed:
		return true
	case s.mod == "" && (len(s.names) == 0 || s.names[0] == "-"): // the standard input, or nothing
		return true
	case s.mod == "":
		one.names = s.names[:1]
	}
	for _, dir := range dirs {
		for _, name := range one.files() {
			if isRegular(inDir(dir, name)) {
				return true
			}
		}
	}
	return false
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

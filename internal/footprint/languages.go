package footprint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// language is a family of programs that run files, and the ways in which they find one.
type language struct {
	endings []string // appended to a name to find its file
	code    string   // letters of options before the text of a program
	valued  string   // letters of options before another value
	modules bool     // -m is before the name of a module
	loose   bool     // its words may be other things than a program and its arguments
}

var (
	jsEndings = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/package.json"}
	pyEndings = []string{".py", "/__main__.py"}
	// anyEndings are those of a path in a script, where the program that gets it is unknown.
	anyEndings = slices.Concat([]string{""}, jsEndings, pyEndings, []string{"/__init__.py", ".rb", ".pm", ".lua", ".sh"})
)

var languages = expandLanguages(map[string]*language{
	"python pypy":                  {endings: pyEndings, code: "c", valued: "WX", modules: true},
	"node nodejs ts-node":          {endings: jsEndings, code: "ep", valued: "rC"},
	"bun deno tsx electron npx":    {endings: jsEndings, loose: true},
	"java":                         {loose: true},
	"ruby jruby":                   {endings: []string{".rb"}, code: "e", valued: "Ir"},
	"perl":                         {endings: []string{".pm"}, code: "eE", valued: "I"},
	"php":                          {code: "rBRE", valued: "cdSt"},
	"lua luajit":                   {endings: []string{".lua"}, code: "e", valued: "l"},
	"Rscript julia":                {code: "eE"},
	". source include -include":    {loose: true},
	"sinclude sh bash dash ash":    {loose: true},
	"zsh ksh fish pwsh powershell": {loose: true},
})

func expandLanguages(table map[string]*language) map[string]*language {
	out := map[string]*language{}
	for programs, lang := range table {
		for _, p := range strings.Fields(programs) {
			out[p] = lang
		}
	}
	return out
}

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

// languageOf returns the language of a program: python3.12 is python. It returns nil for
// other programs.
func languageOf(word string) *language {
	if lang := languages[word]; lang != nil {
		return lang
	}
	name := strings.TrimSuffix(filepath.Base(strings.TrimLeft(word, "`@")), ".exe")
	return languages[strings.TrimRight(name, "0123456789.")]
}

// wrappers lists words after which another program may be named.
var wrappers = strings.Fields("env sudo time nice nohup command exec timeout stdbuf uv poetry pipenv pdm rye hatch run if then else elif while until do ! {")

// start is a place in a text where a program of a language is started, as far as its words
// show.
type start struct {
	*language
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
		if lang := languageOf(w); lang != nil {
			s := lang.start(words[i+1:])
			s.sure = sure && !lang.loose
			out = append(out, s)
		}
		sure = sure && w != "" && (strings.ContainsRune(w, '=') || strings.HasPrefix(w, "-") || '0' <= w[0] && w[0] <= '9' || slices.Contains(wrappers, filepath.Base(w)))
	}
	return out
}

// start interprets the words after a program, up to a redirection.
func (lang *language) start(words []string) start {
	s := start{language: lang}
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
		s.code = s.code || s.language.code != "" && (w == "--eval" || w == "--print")
	case s.modules && first == "m" && len(w) > 2:
		s.mod = w[2:]
	case s.modules && last == "m":
		s.mod = next
	case strings.Contains(s.language.code, first), strings.Contains(s.language.code, last):
		s.code = true
	case strings.Contains(s.valued, last):
		s.values = append(s.values, next)
		return true
	}
	return false
}

// installed lists modules of Python that are not part of a project, as a rule. A file of the
// project with such a name goes first, and is found.
var installed = strings.Fields(`alembic black build cProfile celery compileall coverage django doctest ensurepip flake8 flask gunicorn
	hatch http.server ipykernel isort json.tool jupyter mkdocs mypy nox notebook pdb pip pip_audit piptools pipx poetry pre_commit
	profile py_compile pylint pyright pytest ruff sphinx tarfile timeit tox trace twine unittest uv uvicorn venv virtualenv zipfile`)

// runsFile reports whether the first name is a file that s runs.
func (s start) runsFile() bool {
	return !s.code && s.mod == "" && !s.loose && len(s.names) > 0 && s.names[0] != "-" && !isStream(word{text: s.names[0]})
}

// files returns the names of files that s may run, relative to the folder of the command.
func (s start) files() []string {
	var out []string
	for _, name := range slices.Concat(s.names, s.values) {
		name = strings.TrimRight(os.ExpandEnv(name), "/")
		out = append(out, name)
		for _, end := range s.endings {
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
	one := start{language: s.language, mod: s.mod}
	switch {
	case s.mod != "" && slices.Contains(installed, s.mod):
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

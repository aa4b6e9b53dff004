package footprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// collector adds the files of a command to its footprint.
type collector struct {
	*Footprint
	env       func(string) string
	left      int64           // bytes that may still be read
	tried     map[string]bool // the paths looked at
	names     int             // that were looked for
	lists     map[string]map[string]bool
	queue     []text
	git       map[string]bool    // folders whose settings of git were read
	manifests map[[2]string]bool // programs and folders whose manifests were added
	still     bool               // see Command
	err       error
}

// text is the content of a file that is run.
type text struct {
	path, data string
	dirs       []string // to which its names may be relative
}

func newCollector(r *Footprint, env func(string) string) *collector {
	return &collector{Footprint: r, env: env, left: maxBytes, tried: map[string]bool{}, lists: map[string]map[string]bool{}, git: map[string]bool{}, manifests: map[[2]string]bool{}}
}

func (l *collector) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// line adds the things that a line runs, and those that they run in turn.
func (l *collector) line(line string) {
	a := newReading(l.env, l.inside)
	a.line(line)
	l.reach, l.why = a.reach, a.why
	words := slices.DeleteFunc(wordsOf(line, l.env), func(w string) bool {
		return strings.Trim(w, "*?") == "" // a piece of a pattern, as [^"]*; as a word it is one of those below
	})
	for _, w := range a.words {
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	dirs := l.dirsOf(words, []string{l.path}, 2)
	words = slices.DeleteFunc(words, func(w string) bool {
		return a.ignores(w) && (a.output[w] || !slices.ContainsFunc(dirs, func(d string) bool { return isProgram(inDir(d, w)) }))
	})
	l.addWords(words, dirs)
	l.addSettings(words, dirs)
	l.addStarted(startsIn(line), a, words, dirs, a.err != nil)
	for _, command := range a.commands {
		l.addStarted(startsOf(command), a, words, dirs, true)
	}
	for len(l.queue) > 0 && l.err == nil {
		if len(l.files) > maxScripts {
			l.reach, l.why = Anything, "the command"
			break
		}
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.follow(next)
	}
	if l.err == nil {
		l.err = a.err
	}
}

// addWords adds the programs and files that words may name.
func (l *collector) addWords(words, dirs []string) {
	for _, w := range words {
		l.found[w] = find(w, l.path, l.env("PATH"))
		if at := l.found[w].path; subpath.In(l.path, at) {
			l.script(at, dirs)
		}
		for _, d := range dirs {
			l.addNamed(w, d, dirs)
			l.addManifests(w, d, dirs)
			l.addModule(w, d, dirs)
			if strings.ContainsRune(w, '/') && !strings.ContainsAny(w, "*?[") {
				l.addPath(inDir(d, w), dirs, true)
			}
		}
		l.addInstalled(w, dirs)
	}
}

// inside reports whether a word names a file, or a program in PATH, that belongs to the folder.
func (l *collector) inside(word string) bool {
	if !strings.ContainsRune(word, '/') {
		at := find(word, l.path, l.env("PATH")).path
		return at == "" && isRegular(filepath.Join(l.path, word)) || subpath.In(l.path, at)
	}
	at := inDir(l.path, word)
	return subpath.In(l.path, at) || isRegular(at) && !slices.Contains(filepath.SplitList(l.env("PATH")), filepath.Dir(at))
}

// dirsOf returns dirs and the folders that words name, below each other up to a depth.
func (l *collector) dirsOf(words, dirs []string, depth int) []string {
	for range depth {
		for _, d := range slices.Clone(dirs) {
			for _, w := range words {
				if at := inDir(d, w); len(dirs) < maxDirs && at != "/" && !slices.Contains(dirs, at) && l.has(at) && isDir(at) {
					dirs = append(dirs, at)
				}
			}
		}
	}
	return dirs
}

// list returns the names in a folder, which is read once.
func (l *collector) list(dir string) map[string]bool {
	names, known := l.lists[dir]
	if !known {
		names = map[string]bool{}
		entries, _ := os.ReadDir(dir) // a folder that cannot be read has no names to run
		for _, e := range entries {
			names[e.Name()] = true
		}
		l.lists[dir] = names
	}
	return names
}

// has reports whether something is at path.
func (l *collector) has(path string) bool {
	if l.names++; l.names > maxTried {
		l.fail(fmt.Errorf("%w: it names too many files", ErrUnpredictable))
		return false
	}
	return l.list(filepath.Dir(path))[filepath.Base(path)]
}

// addNamed adds the files that a word names in dir.
func (l *collector) addNamed(word, dir string, dirs []string) {
	if !strings.ContainsAny(word, "*?[") {
		l.script(inDir(dir, word), dirs)
		return
	}
	if filepath.IsAbs(word) || strings.HasPrefix(word, "~") {
		return
	}
	for _, name := range l.glob(dir, word) {
		l.script(filepath.Join(dir, name), dirs)
	}
}

// glob returns the names in dir that a pattern matches. It reads no folder twice that has none.
func (l *collector) glob(dir, pattern string) (names []string) {
	pattern = path.Clean(filepath.ToSlash(pattern))
	first, _, deep := strings.Cut(pattern, "/")
	switch {
	case !deep:
		for name := range l.list(dir) {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	case strings.ContainsAny(first, "*?[") || l.list(dir)[first]:
		names, _ = fs.Glob(os.DirFS(dir), pattern) // a pattern that is wrong matches nothing
	}
	return names
}

// addManifests adds the files, in dir and above it, from which the program named by word
// takes commands.
func (l *collector) addManifests(word, dir string, dirs []string) {
	name := strings.TrimSuffix(filepath.Base(word), ".exe")
	if name == "MAKE" || name == "CARGO" { // of $(MAKE)
		name = strings.ToLower(name)
	}
	patterns := strings.Fields(programs.Find(name).Manifests)
	for range maxParents {
		one := [2]string{name, dir}
		if len(patterns) == 0 || l.manifests[one] { // and so those above
			return
		}
		l.manifests[one] = true
		for _, p := range patterns {
			if !strings.ContainsAny(p, "*?[/") {
				if l.has(filepath.Join(dir, p)) {
					l.script(filepath.Join(dir, p), append(slices.Clip(dirs), dir))
				}
				continue
			}
			for _, name := range l.glob(dir, p) {
				if !strings.HasSuffix(name, ".sample") { // of git's hooks, none runs
					l.script(filepath.Join(dir, name), append(slices.Clip(dirs), dir))
				}
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return
		}
		dir = up
	}
}

// addInstalled adds the program of a package in the project that a word names.
func (l *collector) addInstalled(word string, dirs []string) {
	if strings.ContainsRune(word, '/') {
		return
	}
	for _, d := range dirs {
		for range maxParents {
			if bin := filepath.Join(d, "node_modules", ".bin"); l.list(d)["node_modules"] && l.has(filepath.Join(bin, word)) {
				l.script(filepath.Join(bin, word), dirs)
			}
			up := filepath.Dir(d)
			if up == d {
				break
			}
			d = up
		}
	}
}

// script adds a file, and later the scripts that it names.
func (l *collector) script(path string, dirs []string) {
	if l.tried[path] || l.err != nil || !l.has(path) {
		return
	}
	if data := l.add(path); data != "" && len(data) <= maxFollowed && !strings.ContainsRune(data, 0) {
		l.queue = append(l.queue, text{path, data, dirs})
	}
}

// scripts lists the endings of files that are run by name.
var scripts = []string{".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".pl", ".pm", ".php", ".lua", ".ps1", ".bat", ".cmd", ".mk", ".jar", ".pyz", ".exs", ".kts"}

// isProgram reports whether a file looks like a program.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode()&0o111 != 0 || slices.Contains(scripts, strings.ToLower(filepath.Ext(path))) {
		return true
	}
	data, err := regularfile.ReadFile(path, maxHashed)
	return err == nil && strings.HasPrefix(string(data), "#!")
}

// follow adds the files that a text names: not those of installed packages.
func (l *collector) follow(t text) {
	dirs := t.dirs
	if up := filepath.Dir(t.path); !slices.Contains(dirs, up) {
		dirs = append(slices.Clip(dirs), up)
	}
	data := t.data
	if filepath.Base(t.path) == "package.json" {
		data = commandsIn(data)
	}
	words := wordsOf(data, l.env)
	deep := subpath.In(l.path, t.path) && !strings.Contains(t.path, "/node_modules/") && !strings.Contains(t.path, "/site-packages/")
	if deep {
		dirs = l.dirsOf(words, dirs, 1)
		l.scan(words, data)
		l.addSettings(words, dirs)
	}
	endings := moduleEndings(t)
	for _, w := range words {
		for _, d := range dirs {
			l.addWord(w, d, endings, dirs, deep)
			if deep {
				l.addManifests(w, d, dirs)
			}
		}
		if deep {
			l.addInstalled(w, dirs)
		}
	}
	for _, s := range startsIn(data) {
		for _, name := range s.files() {
			for _, d := range dirs {
				l.addFound(inDir(d, name), dirs, deep)
			}
		}
	}
}

// addFound adds a file, with those that it names if deep is set.
func (l *collector) addFound(path string, dirs []string, deep bool) {
	switch {
	case !l.has(path):
	case deep:
		l.script(path, dirs)
	default:
		l.add(path)
	}
}

// addWord adds the files that a word of a text names in dir. The folder of a text is often named
// by a variable: "$here/lib.sh".
func (l *collector) addWord(w, dir string, endings, dirs []string, deep bool) {
	switch {
	case strings.ContainsAny(w, "*?["):
		if deep {
			l.addNamed(strings.TrimLeft(w, "/"), dir, dirs)
		}
	case strings.ContainsRune(w, '/'):
		l.addPath(inDir(dir, w), dirs, deep)
		if filepath.IsAbs(w) && !isRegular(w) {
			l.addPath(filepath.Join(dir, w), dirs, deep)
		}
	case slices.Contains(scripts, filepath.Ext(w)):
		l.addFound(inDir(dir, w), dirs, deep)
	case deep:
		l.addModule(w, dir, dirs)
		for _, end := range endings {
			l.addFound(filepath.Join(dir, w+end), dirs, deep)
		}
		if at := filepath.Join(dir, w); l.list(dir)[w] && !l.tried[at] {
			if info, err := os.Stat(at); err == nil && runnable(info) && info.Mode()&0o111 != 0 {
				l.script(at, dirs)
			}
		}
	}
}

// module matches the name of a module in packages.
var module = lazyregexp.New(`^\w+(\.\w+)+$`)

// addModule adds a module that a word names with its packages.
func (l *collector) addModule(w, dir string, dirs []string) {
	if module.MatchString(w) {
		l.addPath(filepath.Join(dir, strings.ReplaceAll(w, ".", "/")), dirs, true)
	}
}

// addPath adds the files at a path, which may lack its ending.
func (l *collector) addPath(name string, dirs []string, deep bool) {
	if len(l.list(filepath.Dir(name))) == 0 {
		return
	}
	for _, end := range programs.Endings {
		l.addFound(name+end, dirs, deep)
	}
}

// moduleEndings returns the endings of the modules that a program names without one.
func moduleEndings(t text) []string {
	first, _, _ := strings.Cut(t.data, "\n")
	for ending, endings := range map[string][]string{".py": {".py", "/__init__.py"}, ".rb": {".rb"}, ".pl": {".pm"}, ".pm": {".pm"}, ".lua": {".lua"}} {
		if filepath.Ext(t.path) == ending || ending == ".py" && strings.HasPrefix(first, "#!") && strings.Contains(first, "python") {
			return endings
		}
	}
	return nil
}

// commandsIn returns the texts of a package.json that are not about other packages.
func commandsIn(data string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(data), &all) != nil {
		return data
	}
	var b bytes.Buffer
	for key, value := range all {
		if !strings.HasSuffix(strings.ToLower(key), "dependencies") && !slices.Contains([]string{"name", "version", "description", "keywords", "author", "license", "engines"}, key) {
			b.WriteString(strings.NewReplacer(`\n`, "\n", `\t`, " ", `\"`, `"`, `\\`, `\`).Replace(string(value)))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// vague matches commands of a script that run a file, or a text, which only a variable names.
var vague = sync.OnceValue(func() *regexp.Regexp {
	run := strings.Join(programs.Names(func(p *programs.Program) bool { return p.Language.RunsInput() }), "|")
	run = `(` + strings.ReplaceAll(run, ".", `\.`) + `)[0-9.]*`
	return regexp.MustCompile(`(^|[\s;&|({"'@])(\.|source|eval|exec|run-parts|` + run + `( -\w+)*|xargs( -\S+)* \S*sh)\s+["']?\$+[({]?\w+[)}]?["']?(\s|$|[;&|)])|` +
		`\beval\s+["'$]|\brun-parts\b|\bxargs\b.*\b` + run + `\b(\s+-\w+)*\s*$`)
})

// scan notes how much of the folder the programs that a text names reach.
func (l *collector) scan(words []string, data string) {
	if vague().MatchString(data) && l.reach < Anything {
		l.reach, l.why = Anything, "a script"
	}
	for line := range strings.Lines(data) {
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&()\"'`[],@{}", r) })
		for i, f := range fields {
			name, args := path.Base(f), fields[i+1:]
			p := programs.Find(name)
			if r := p.ReachOf(args); r > l.reach && (p.Is.Has(programs.Builds) || len(args) > 0) {
				l.reach, l.why = r, name
			}
		}
	}
}

// add adds a regular file. It returns its text, or "" if the file is large or was tried
// before.
func (l *collector) add(path string) string {
	if l.tried[path] || l.err != nil {
		return ""
	}
	l.tried[path] = true
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if target, err := filepath.EvalSymlinks(path); err == nil && target != path && !l.tried[target] {
		defer l.add(target)
	}
	l.order = append(l.order, path)
	switch l.left -= min(info.Size(), maxHashed); {
	case len(l.files) >= maxFiles || l.left < 0:
		l.fail(fmt.Errorf("%w: it names too many files", ErrUnpredictable))
		return ""
	case info.Size() > maxHashed:
		l.files[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		return ""
	}
	data, err := regularfile.ReadFile(path, maxHashed)
	if err != nil {
		l.fail(fmt.Errorf("%w: %w", ErrUnpredictable, err))
		return ""
	}
	l.files[path] = Hash(data)
	return string(data)
}

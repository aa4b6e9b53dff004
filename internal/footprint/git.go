package footprint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// maxAnswer is the number of bytes that git may print.
const maxAnswer = 1 << 20

// addSettings adds the programs that the settings of git name, if words name git: hooks in any
// folder, filters, aliases.
func (l *collector) addSettings(words, dirs []string) {
	if !slices.ContainsFunc(words, func(w string) bool { return strings.TrimSuffix(filepath.Base(w), ".exe") == "git" }) {
		return
	}
	l.addHooksPaths(words, "core.hooksPath", dirs) // of git -c core.hooksPath=DIR
	if l.still {
		l.addRepositories(dirs)
		return
	}
	git, err := lookpath.Search{Dirs: []string{l.path}, Path: l.env("PATH")}.Find("git")
	if err != nil {
		return // without git, or with one of the project, which is in the footprint
	}
	for i, d := range dirs {
		if !l.git[d] && (i == 0 || l.list(d)[".git"]) {
			l.git[d] = true
			l.addGit(git, d, dirs)
		}
	}
}

// addHooksPaths adds the hooks in the folders that words give as the value of key.
func (l *collector) addHooksPaths(words []string, key string, dirs []string) {
	for i, w := range words {
		name, value, given := strings.Cut(w, "=")
		if !given && i+1 < len(words) {
			value = strings.TrimPrefix(words[i+1], "=")
			if value == "" && i+2 < len(words) { // hooksPath = DIR
				value = words[i+2]
			}
		}
		if strings.EqualFold(name, key) && value != "" {
			for _, d := range dirs {
				l.addHooks(inDir(d, value), dirs)
			}
		}
	}
}

// addRepositories adds the settings and hooks of git in dirs, and the files that they name.
func (l *collector) addRepositories(dirs []string) {
	for i, d := range dirs {
		git := filepath.Join(d, ".git")
		if l.git[d] || i > 0 && !l.list(d)[".git"] {
			continue
		}
		l.git[d] = true
		l.addHooks(filepath.Join(git, "hooks"), dirs)
		for _, name := range []string{"config", "config.worktree"} {
			at := filepath.Join(git, name)
			l.script(at, dirs)
			if data, err := regularfile.ReadFile(at, maxFollowed); err == nil {
				l.addHooksPaths(wordsOf(string(data), l.env), "hooksPath", dirs)
			}
		}
	}
}

// addGit adds the programs that the settings of git in dir name.
func (l *collector) addGit(git, dir string, dirs []string) {
	top, ok := ask(git, dir, "rev-parse", "--show-toplevel")
	if ok && !slices.Contains(dirs, top) {
		dirs = append(slices.Clip(dirs), top)
	}
	if hooks, ok := ask(git, dir, "rev-parse", "--git-path", "hooks"); ok {
		l.addHooks(inDir(dir, hooks), dirs)
	}
	settings, _ := ask(git, dir, "config", "--null", "--list", "--show-origin") // without a repository, those of the user
	for setting := range strings.SplitSeq(settings, "\x00") {
		if origin, ok := strings.CutPrefix(setting, "file:"); ok {
			l.script(inDir(dir, origin), dirs)
			continue
		}
		key, value, _ := strings.Cut(setting, "\n")
		if key == "core.hookspath" {
			for _, d := range dirs { // relative to the folder where the hook runs
				l.addHooks(inDir(d, value), dirs)
			}
			continue
		}
		if !names(key) {
			continue
		}
		words := wordsOf(value, l.env)
		l.scan(words, value)
		for _, w := range words {
			for _, d := range dirs {
				l.addNamed(w, d, dirs)
				l.addManifests(w, d, dirs)
			}
			l.addInstalled(w, dirs)
		}
	}
}

// names reports whether a setting of git names a program.
func names(key string) bool {
	key = strings.ToLower(key)
	section, _, _ := strings.Cut(key, ".")
	return slices.Contains(strings.Fields("alias browser credential diff difftool filter gpg guitool hook instaweb man merge mergetool pager sendemail trailer web"), section) ||
		slices.Contains(programs.GitKeys, key[strings.LastIndexByte(key, '.')+1:])
}

// addHooks adds the hooks in a folder.
func (l *collector) addHooks(dir string, dirs []string) {
	for name := range l.list(dir) {
		if !strings.HasSuffix(name, ".sample") {
			l.script(filepath.Join(dir, name), dirs)
		}
	}
}

// ask returns the first line, or with NUL the whole, that git prints. It runs nothing that a
// repository names.
func ask(git, dir string, args ...string) (answer string, ok bool) {
	cmd := lookpath.Command(git, append([]string{"-C", dir}, args...)...)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GIT_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	out := child.Buffer{Limit: maxAnswer}
	cmd.Stdout = &out
	if err := child.Run(cmd, child.Memory); err != nil {
		return "", false
	}
	return strings.TrimSuffix(string(out.Bytes()), "\n"), true
}

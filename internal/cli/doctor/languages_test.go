package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestCheckLanguages: each server of the project's languages is listed with its version and place, or the reason why it is not used.
func TestCheckLanguages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the servers are scripts of sh")
	}
	dir := scratch.Dir(t, map[string]string{"go.mod": "module m\n", "a.py": "", "a.ts": "", "a.sh": "", "a.zig": "", "a.lua": ""})
	bin := t.TempDir()
	for name, text := range map[string]string{
		"gopls": "[ \"$1\" = version ] && echo 'golang.org/x/tools/gopls v0.99.1' && echo '    more 1.2'", "pyright-langserver": "exit 9", "pyright": "echo \"pyright 1.1.402 $OPENAI_API_KEY\"",
		"ty": "echo 'ty 0.0.1'", "typescript-language-server": "exit 1", "zls": "printf '\\033]0;owned\\a'",
	} {
		scratch.Program(t, filepath.Join(bin, name), "#!/bin/sh\n"+text+"\n")
	}
	scratch.Program(t, filepath.Join(dir, "node_modules/.bin/bash-language-server"), "#!/bin/sh\ntouch ran\n")
	t.Setenv("PATH", strings.Join([]string{bin, filepath.Join(dir, "node_modules/.bin"), "/usr/bin", "/bin"}, string(os.PathListSeparator)))
	home := filepath.Join(t.TempDir(), "home")
	cfg := config.Config{Home: home, Dirs: []string{dir}, Trial: "off", LanguageServers: config.LanguageServers{Mode: "auto", Named: map[string]config.LanguageServer{
		"typescript-language-server": {Disabled: true}, "mine": {Command: []string{"mine-ls"}, Languages: map[string]string{".py": "mine"}},
	}}}
	opt := Options{Dir: dir, Env: append(os.Environ(), "OPENAI_API_KEY=9.9.9")}
	list := func() string {
		var lines []string
		for _, f := range checkLanguages(t.Context(), opt, cfg) {
			line := map[grade]string{good: "good", weak: "weak", broken: "broken"}[f.grade] + ": " + f.text
			lines = append(lines, strings.ReplaceAll(line, bin, "BIN"))
		}
		return strings.Join(lines, "\n")
	}
	want := `good: gopls 0.99.1, BIN/gopls
good: pyright 1.1.402, BIN/pyright-langserver
good: zls, BIN/zls
weak: mine is not used: mine-ls is not on PATH`
	if got := list(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	got := list()
	for _, line := range []string{
		"good: basedpyright is not used: basedpyright-langserver is not on PATH", "good: ty is not used: another server is used for these files",
		"typescript-language-server is not used: language_servers switches it off", "vtsls is not used: vtsls is not on PATH",
		"weak: bash-language-server is not used: the only bash-language-server on PATH is " + dir, "weak: lua-language-server is not used: lua-language-server is not on PATH",
		"good: they start with your yes and have your rights: trial is off",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%s\nhas no %q", got, line)
		}
	}
	if _, err := os.Stat(filepath.Join(bin, "ran")); err == nil {
		t.Error("a program of the project ran")
	}
	scratch.Write(t, filepath.Join(dir, ".agent/config.yaml"), "model: a/b\n")
	found, err := trust.Look(dir, home)
	if err != nil || !found.Configures() {
		t.Fatalf("%+v, %v", found, err)
	}
	if got := list(); !strings.Contains(got, "gopls is not used: the folder is not trusted") || strings.Contains(got, "BIN/gopls") {
		t.Errorf("in a folder that is not trusted: %s", got)
	}
	cfg.LanguageServers.Mode = "off"
	if got := list(); got != "good: off: names are looked up by search" {
		t.Errorf("off: %s", got)
	}
	cfg.LanguageServers.Mode, opt.Dir = "auto", t.TempDir()
	cfg.LanguageServers.Named = nil
	if got := list(); got != "good: no language server for this project is known" {
		t.Errorf("in an empty folder: %s", got)
	}
}

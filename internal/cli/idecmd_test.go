package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/cli/doctor"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// TestIDEInstall: the extension goes to every editor on PATH, to a named editor, or to a
// file; after a failure the other editors still get it.
func TestIDEInstall(t *testing.T) {
	cfg, err := config.LoadFrom(filepath.Join(t.TempDir(), ".agent"), nil)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("LOG", filepath.Join(bin, "log"))
	programs := map[string]string{
		"code": "#!/bin/sh\necho full disk; exit 1\n", "cursor": "#!/bin/sh\nwhile read -r line; do echo \"$line\" >>$LOG; done <\"$2\"\n",
	}
	ending := ""
	if runtime.GOOS == "windows" { // where editors bring scripts for cmd.exe
		ending = ".cmd"
		programs = map[string]string{"code": "@echo full disk\r\n@exit /b 1\r\n", "cursor": "@type %2 >>%LOG%\r\n"}
	}
	for name, script := range programs {
		scratch.Program(t, filepath.Join(bin, name+ending), script)
	}
	p, stdout := files(t)
	err = ideInstall(t.Context(), p, cfg, []byte("the extension\n"), "", "")
	if err == nil || !strings.Contains(err.Error(), "full disk") {
		t.Errorf("the failure is not told: %v", err)
	}
	got, readErr := os.ReadFile(filepath.Join(bin, "log"))
	if string(got) != "the extension\n" || !strings.Contains(stdout(), "installed with "+filepath.Join(bin, "cursor"+ending)) {
		t.Errorf("installed %q (%v), said %q", got, readErr, stdout())
	}
	if err := ideInstall(t.Context(), p, cfg, nil, "codium", ""); err == nil {
		t.Error("installed with a program that there is not")
	}
	to := filepath.Join(t.TempDir(), "agent.vsix")
	if err := ideInstall(t.Context(), p, cfg, []byte("x"), "", to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); string(got) != "x" || err != nil {
		t.Errorf("written %q, %v", got, err)
	}
}

func TestIDEStatusWithoutAnEditor(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	cfg, err := config.LoadFrom(filepath.Join(t.TempDir(), ".agent"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, stdout := files(t)
	if err := ideStatus(t.Context(), p, t.TempDir(), cfg); err != nil || !strings.Contains(stdout(), "No editor was found") {
		t.Errorf("%v, %q", err, stdout())
	}
}

// TestIDEStatusOfAHostileName: a name is sanitized even if the output is not a terminal.
func TestIDEStatusOfAHostileName(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	cfg, err := config.LoadFrom(filepath.Join(t.TempDir(), ".agent"), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	dialect := idetest.Ours()
	dialect.Name = "Code\x1b[2J\n  2  Trusted"
	e := idetest.Start(t, dialect)
	e.WriteLock(filepath.Join(cfg.Home, "ide"), dir)
	p, stdout := files(t)
	if err := ideStatus(t.Context(), p, dir, cfg); err != nil {
		t.Fatal(err)
	}
	if got := stdout(); strings.Contains(got, "\x1b") || strings.Count(got, "\n") != 2 || !strings.Contains(got, `Code\u{1b}[2J\n  2`) {
		t.Errorf("said %q", got)
	}
}

func TestIDEDoctor(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	for _, name := range []string{"AGENT_IDE_PORT", "AGENT_IDE_LOCK", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	cfg, err := config.LoadFrom(filepath.Join(os.Getenv("HOME"), ".agent"), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := scratch.Dir(t, nil)
	t.Setenv("PATH", t.TempDir())
	look := func() (string, bool) {
		var out strings.Builder
		d := doctor.Editor{Out: &out, Config: cfg, Dir: dir, Version: "test"}
		healthy := d.Run(t.Context(), make([]byte, 3<<10))
		return out.String(), healthy
	}
	got, healthy := look()
	for _, want := range []string{"ok      extension inside, 3 KiB", "note    programs", "broken  running"} {
		if healthy || !strings.Contains(got, want) {
			t.Errorf("%q is not in %v\n%s", want, healthy, got)
		}
	}
	e := idetest.Start(t, idetest.Ours())
	path := e.WriteLock(filepath.Join(cfg.Home, "ide"), dir)
	foreign := idetest.Start(t, idetest.Neovim())
	foreign.WriteLock(filepath.Join(os.Getenv("HOME"), ".claude", "ide"), dir)
	got, healthy = look()
	if !healthy || !strings.Contains(got, "answers") || !strings.Contains(got, "it was not tried") {
		t.Errorf("%v\n%s", healthy, got)
	}
	if a, r := foreign.Handshakes(); a+r != 0 {
		t.Error("another agent's editor was connected")
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(data), "token-of", "wrong-of", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, healthy = look(); healthy || !strings.Contains(got, "broken  link") || strings.Contains(got, "wrong-of") {
		t.Errorf("%v\n%s", healthy, got)
	}
}

package extension_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/cli/extension"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// ending is that of a program's name: on Windows, editors bring scripts for cmd.exe.
var ending = map[bool]string{true: ".cmd"}[runtime.GOOS == "windows"]

// program makes a program, alone on PATH, that logs its arguments and does what its script says, for sh
// or for cmd.exe.
func program(t *testing.T, name, sh, cmd string) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	log = filepath.Join(dir, "log")
	text := "#!/bin/sh\necho \"$@\" >>" + log + "\n" + sh + "\n"
	if runtime.GOOS == "windows" {
		text = "@echo off\r\necho %* >>" + log + "\r\n" + cmd + "\r\n"
	}
	scratch.Program(t, filepath.Join(dir, name+ending), text)
	t.Setenv("PATH", dir)
	return dir, log
}

func TestInstall(t *testing.T) {
	dir, log := program(t, "codium", `/bin/cat "$2" >>"$LOG"; /usr/bin/env >>$LOG`, `type %2 >>%LOG%`+"\r\nset >>%LOG%")
	found, err := extension.Find("", programs(""))
	if err != nil || len(found) != 1 || found[0].Name != "codium" {
		t.Fatalf("%+v, %v", found, err)
	}
	t.Setenv("AGENT_HELD", "back")
	file := filepath.Join(dir, "home", "agent.vsix")
	if err := found[0].Install(t.Context(), []byte("the extension\n"), file, []string{"LOG=" + log}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--install-extension " + file + " --force", "the extension\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(string(got), "PATH=/usr") || strings.Contains(string(got), "HOME=") || strings.Contains(string(got), "AGENT_HELD=") {
		t.Errorf("the environment is more than was given: %s", got)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was left: %v", err)
	}
}

func programs(dir string) lookpath.Search { return lookpath.Search{Dirs: []string{dir}} }

// A program that a project brings is not taken for an editor unless its path is given.
func TestAProjectsOwnProgram(t *testing.T) {
	dir, _ := program(t, "code", "", "")
	if found, err := extension.Find("", programs(dir)); !errors.Is(err, extension.ErrNoEditor) {
		t.Errorf("%+v, %v", found, err)
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	scratch.Mkdir(t, bin)
	if err := os.Rename(filepath.Join(dir, "code"+ending), filepath.Join(bin, "code"+ending)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if found, err := extension.Find("", programs(t.TempDir())); !errors.Is(err, extension.ErrNoEditor) {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := extension.Find(filepath.Join(bin, "code"), programs(dir)); err != nil || len(found) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

// code-server comes from npm too; it puts a folder of its package on its terminals' PATH.
func TestAnEditorThatNPMInstalled(t *testing.T) {
	dir, _ := program(t, "code-server", "", "")
	cli := filepath.Join(dir, "lib", "node_modules", "code-server", "bin", "remote-cli")
	scratch.Mkdir(t, cli)
	if err := os.Rename(filepath.Join(dir, "code-server"+ending), filepath.Join(cli, "code-server"+ending)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", cli)
	if found, err := extension.Find("", programs(t.TempDir())); err != nil || len(found) != 1 {
		t.Errorf("another folder's project: %+v, %v", found, err)
	}
	if found, err := extension.Find("", programs(filepath.Join(dir, "lib", "src"))); !errors.Is(err, extension.ErrNoEditor) {
		t.Errorf("the project that installed it: %+v, %v", found, err)
	}
}

// The terminals of code-server have two names for one program; snap is one program for many.
func TestTwoNames(t *testing.T) {
	for target, want := range map[string]int{"code-linux.sh": 1, "VSCodium.AppImage": 1, "snap": 2} {
		dir, _ := program(t, target, "", "")
		for _, name := range []string{"code", "code-server"} {
			scratch.Symlink(t, target, filepath.Join(dir, name))
		}
		if found, err := extension.Find("", programs("")); err != nil || len(found) != want || found[0].Name != "code" {
			t.Errorf("%s: %+v, %v", target, found, err)
		}
	}
}

// Cursor brings code and cursor in the folder bin beside its product.json.
func TestTwoPrograms(t *testing.T) {
	for product, want := range map[string]int{"product.json": 1, "resources/app/product.json": 1, "lib/vscode/product.json": 1, "other.json": 2} {
		dir := t.TempDir()
		bin := filepath.Join(dir, "bin")
		scratch.Mkdir(t, bin)
		scratch.Mkdir(t, filepath.Dir(filepath.Join(dir, product)))
		for _, name := range []string{"bin/code" + ending, "bin/cursor" + ending, product} {
			scratch.Program(t, filepath.Join(dir, name), "#!/bin/sh\n")
		}
		t.Setenv("PATH", bin)
		if found, err := extension.Find("", programs("")); err != nil || len(found) != want || found[0].Name != "code" {
			t.Errorf("%s: %+v, %v", product, found, err)
		}
	}
}

func TestInstallFails(t *testing.T) {
	dir, _ := program(t, "code", "echo no space; exit 3", "echo no space\r\nexit /b 3")
	found, err := extension.Find("code", programs(""))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "agent.vsix")
	if err := found[0].Install(t.Context(), nil, file, nil); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("Install = %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was left: %v", err)
	}
	if v, err := found[0].Version(t.Context(), nil); v != "" || err == nil {
		t.Errorf("Version = %q, %v", v, err)
	}
}

func TestVersion(t *testing.T) {
	program(t, "code", "echo other.thing@1.0.0; echo BB2D0CF4.agent-ide@0.3.1", "echo other.thing@1.0.0\r\necho BB2D0CF4.agent-ide@0.3.1")
	found, err := extension.Find("", programs(""))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := found[0].Version(t.Context(), nil); v != "0.3.1" || err != nil {
		t.Errorf("Version = %q, %v", v, err)
	}
}

func TestNoEditor(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := extension.Find("", programs("")); !errors.Is(err, extension.ErrNoEditor) {
		t.Errorf("Find = %v", err)
	}
	if _, err := extension.Find("emacs", programs("")); err == nil || !strings.Contains(err.Error(), "emacs") {
		t.Errorf("Find = %v", err)
	}
}

package clipboard

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// desktop puts scripts of these names on PATH. Each of them saves its input in a file.
func desktop(t *testing.T, scripts map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	dir := t.TempDir()
	for name, script := range scripts {
		scratch.Program(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+"/usr/bin"+string(filepath.ListSeparator)+"/bin")
	return dir
}

const keep = `{ echo "$@"; cat; } > "$0.kept"`

func TestTheRightProgramIsUsed(t *testing.T) {
	all := map[string]string{"wl-copy": keep, "xclip": keep, "xsel": keep, "pbcopy": keep, "clip.exe": keep}
	for name, c := range map[string]struct {
		system, env, tool, args string
	}{
		"wayland":      {"linux", "WAYLAND_DISPLAY=wayland-0", "wl-copy", ""},
		"x":            {"freebsd", "DISPLAY=:0", "xclip", "-selection clipboard"},
		"mac":          {"darwin", "", "pbcopy", ""},
		"wsl":          {"linux", "WSL_DISTRO_NAME=Debian", "clip.exe", ""},
		"no desktop":   {"linux", "", "", ""},
		"empty":        {"linux", "DISPLAY=", "", ""},
		"another name": {"linux", "DISPLAYS=:0", "", ""},
	} {
		dir := desktop(t, all)
		env := []string{"PATH=" + os.Getenv("PATH"), c.env}
		text := "echo $HOME; 'quoted'\nä\n"
		used, err := Programs{Env: env}.write(t.Context(), c.system, text)
		if err != nil || used != c.tool {
			t.Errorf("%s: %q, %v", name, used, err)
		}
		if c.tool == "" {
			continue
		}
		kept, err := os.ReadFile(filepath.Join(dir, c.tool+".kept"))
		if err != nil || string(kept) != c.args+"\n"+text {
			t.Errorf("%s: %q, %v", name, kept, err)
		}
	}
}

// TestPbcopyReadsUTF8, whatever locale the program was started with.
func TestPbcopyReadsUTF8(t *testing.T) {
	dir := desktop(t, map[string]string{"pbcopy": `echo "$LC_ALL" > "$0.kept"`})
	for _, env := range [][]string{nil, {"LC_ALL=C"}, {"LANG=de_DE.ISO8859-1", "LC_CTYPE=C"}} {
		if _, err := (Programs{Env: append(env, "PATH="+os.Getenv("PATH"))}).write(t.Context(), "darwin", "ä"); err != nil {
			t.Fatal(err)
		}
		if got := scratch.Read(t, filepath.Join(dir, "pbcopy.kept")); got != "en_US.UTF-8\n" {
			t.Errorf("started with %q, pbcopy has the locale %q", env, got)
		}
	}
}

func TestMissingProgramIsSkipped(t *testing.T) {
	t.Setenv("PATH", desktop(t, map[string]string{"xsel": "read text; :"})) // whichever the machine has
	if used, err := (Programs{Env: append(os.Environ(), "DISPLAY=:0", "WAYLAND_DISPLAY=")}).write(t.Context(), "linux", "x"); err != nil || used != "xsel" {
		t.Errorf("%q, %v", used, err)
	}
}

func TestFailingProgramIsNamed(t *testing.T) {
	desktop(t, map[string]string{"pbcopy": "exit 3"})
	if used, err := (Programs{Env: os.Environ()}).write(t.Context(), "darwin", "x"); err == nil || used != "" || !strings.Contains(err.Error(), "pbcopy did not accept the text") {
		t.Errorf("%q, %v", used, err)
	}
}

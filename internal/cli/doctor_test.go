package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
)

func TestCheckHome(t *testing.T) {
	private := t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	public := t.TempDir()
	if err := os.Chmod(public, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(private, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		home  string
		grade grade
		text  string
		fix   string
	}{
		{private, good, private, ""},
		{filepath.Join(private, "missing"), good, "will be made", ""},
		{public, broken, "read by others (mode 755)", "chmod 700 " + public},
		{file, broken, "not a folder", "AGENT_HOME"},
	} {
		got := checkHome(c.home)
		if got.grade != c.grade || !strings.Contains(got.text, c.text) || !strings.Contains(got.fix, c.fix) {
			t.Errorf("%s: %+v", c.home, got)
		}
	}
	if left, err := os.ReadDir(private); err != nil || len(left) != 1 {
		t.Errorf("the check left something behind: %v, %v", left, err)
	}
}

func TestCheckConfig(t *testing.T) {
	if got := checkConfig(config.Config{}, errors.New("config.yaml:3: oh")); got.grade != broken || !strings.Contains(got.text, ":3") {
		t.Errorf("%+v", got)
	}
	if got := checkConfig(config.Config{File: "/no/such/file"}, nil); got.grade != good || !strings.Contains(got.text, "there is no") {
		t.Errorf("%+v", got)
	}
}

func TestCheckTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if got := checkTerminal(Process{Stdin: r, Stdout: w}); got.grade != weak || !strings.Contains(got.text, "agent -p") {
		t.Errorf("%+v", got)
	}
}

func TestCheckProgram(t *testing.T) {
	if got := checkProgram("sh", broken, "x"); got.grade != good || got.fix != "" {
		t.Errorf("%+v", got)
	}
	if got := checkProgram("no-such-program", weak, "install it"); got.grade != weak || got.fix != "install it" {
		t.Errorf("%+v", got)
	}
}

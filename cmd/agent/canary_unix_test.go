//go:build unix

package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// searched checks at the end of a test that the key is in no file of the home, the project
// and the temporary folder, except those that the test names in d.keyed.
func (d *desk) searched() {
	d.t.Helper()
	for _, path := range leaks(d.t, filepath.Dir(d.home), d.dir, d.tmp) {
		if !slices.Contains(d.keyed, filepath.Base(path)) {
			d.t.Errorf("the key is in %s", path)
		}
	}
	if d.signed != nil {
		d.leaks(d.signed)
	}
	for _, e := range d.editors {
		if e.Received(canary) {
			d.t.Errorf("the key was sent to the editor %s", e.Dialect.Name)
		}
	}
	for _, trace := range d.traces {
		text, err := os.ReadFile(trace)
		if err != nil {
			d.t.Error(err)
			continue
		}
		for _, line := range carriers(string(text), d.secret()...) {
			d.t.Errorf("the key is in the arguments or the environment of a child: %s", line)
		}
		for _, line := range foreigners(string(text), d.models, d.secret()...) {
			d.t.Errorf("the key may have been sent to another than the model's server: %s", line)
		}
	}
}

// secret returns the key, and the tokens of the sign-in if there is one.
func (d *desk) secret() []string {
	all := []string{canary}
	if d.signed != nil {
		all = append(all, d.signed.Secrets()...)
	}
	return all
}

// program returns a command that runs the program in the desk's folder.
func (d *desk) program(args ...string) *exec.Cmd {
	cmd := d.spied(exec.Command("agent", args...))
	cmd.Dir, cmd.Env = d.dir, d.env
	return cmd
}

// serves adds and returns the address of a server that gets the key as it should.
func (d *desk) serves(address string) string {
	d.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.models = append(d.models, u.Host)
	return address
}

// starts starts an editor, which must not get the key.
func (d *desk) starts(dialect idetest.Dialect) *idetest.Editor {
	d.t.Helper()
	e := idetest.Start(d.t, dialect)
	d.editors = append(d.editors, e)
	return e
}

// spied returns cmd, traced if AGENT_TEST_CANARY is set and it runs the program.
func (d *desk) spied(cmd *exec.Cmd) *exec.Cmd {
	if os.Getenv("AGENT_TEST_CANARY") == "" || filepath.Base(cmd.Path) != "agent" {
		return cmd
	}
	trace := filepath.Join(d.t.TempDir(), "trace")
	d.traces = append(d.traces, trace)
	args := slices.Concat(tracing, []string{trace, "--", cmd.Path}, cmd.Args[1:])
	return exec.Command("strace", args...)
}

// The search finds a key in a file of each folder.
func TestCanaryIsFound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.keyed = []string{"planted"}
	for _, dir := range []string{d.home, filepath.Dir(d.home), d.dir, d.tmp} {
		scratch.Mkdir(t, dir)
		path := filepath.Join(dir, "planted")
		scratch.Write(t, path, "the key is "+canary+".")
		if got := leaks(t, filepath.Dir(d.home), d.dir, d.tmp); !slices.Equal(got, []string{path}) {
			t.Errorf("found %q, want %s", got, path)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

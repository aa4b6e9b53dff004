package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// canary is the API key of every session here; it must appear only in the requests to
// the model.
const canary = "sk-canary-7f3d"

// maxCanaryFile is the size of the largest file that is searched for the key.
const maxCanaryFile = 16 << 20

// leaks returns the regular files below the folders that hold the key.
func leaks(t *testing.T, dirs ...string) (found []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return passed(err)
			}
			info, err := e.Info()
			if err != nil || info.Size() > maxCanaryFile {
				return passed(err)
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(canary)) {
				found = append(found, path)
			}
			return passed(err)
		})
		if err != nil {
			t.Error(err)
		}
	}
	return found
}

// passed returns err unless the test has removed or closed the file.
func passed(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// traced puts a program before ours that traces it, if AGENT_TEST_CANARY is set, and
// returns the folder of the traces.
func traced(t *testing.T, env *testscript.Env) (string, error) {
	if os.Getenv("AGENT_TEST_CANARY") == "" {
		return "", nil
	}
	agent, err := exec.LookPath("agent")
	if err != nil {
		return "", err
	}
	bin, traces := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\nexec strace " + strings.Join(tracing, " ") + " " + traces + "/$$ -- " + agent + " \"$@\"\n"
	scratch.Program(t, filepath.Join(bin, "agent"), script)
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	return traces, nil
}

// searchTraces checks that no session of a scenario, none of which uses the provider with
// the key, gives it to a child or sends it.
func searchTraces(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		text := scratch.Read(t, filepath.Join(dir, f.Name()))
		for _, line := range append(carriers(text, canary), foreigners(text, nil, canary)...) {
			t.Errorf("the key got out: %s", line)
		}
	}
}

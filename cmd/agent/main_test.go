package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/peer/peertest"
	"github.com/bb2d0cf4/agent/internal/trial"
)

// programs are the programs that the test binary can act as, by name.
var programs = map[string]func(){"agent": func() {
	tellCounts()
	os.Exit(run(context.Background()))
}}

// addProgram adds a program of one system, in the declaration of a variable.
func addProgram(name string, program func()) bool {
	programs[name] = program
	return true
}

func TestMain(m *testing.M) {
	// Most tests are about the question that a command asks; those of trials switch them on.
	if os.Getenv("AGENT_TRIAL") == "" {
		_ = os.Setenv("AGENT_TRIAL", "off")
	}
	if os.Getenv("AGENT_LANGUAGE_SERVERS") == "" { // whichever the machine has
		_ = os.Setenv("AGENT_LANGUAGE_SERVERS", "off")
	}
	mcptest.Main()
	if _, stranger := peertest.Asked(); stranger {
		os.Exit(m.Run()) // another user, who may not read the program
	}
	testscript.Main(m, programs)
}

// agentIn returns a command that runs the program with its home in dir, with a generous
// deadline.
func agentIn(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "agent", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "AGENT_HOME="+filepath.Join(dir, "home"), "AGENT_MODEL=script:"+filepath.Join(dir, "script.yaml"))
	return cmd
}

// noTrials is why this system has no trials. It is found out once: probes side by side would end each other's commands.
var noTrials = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "trials")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	return trial.Probe(context.Background(), dir, nil).Missing
})

// TestScripts runs the program, as its users do, through the scenarios in
// testdata/script. Each has a home and a folder of its own; the model, where one
// is needed, is the file script.yaml of the scenario.
func TestScripts(t *testing.T) {
	scratch.Need(t, "go")
	t.Parallel()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // the demo compiles
			env.Setenv("AGENT_HOME", env.WorkDir+"/home")
			env.Setenv("AGENT_TRIAL", "off")
			env.Setenv("AGENT_LANGUAGE_SERVERS", "off")
			env.Setenv("AGENT_MODEL", "script:"+env.WorkDir+"/script.yaml")
			env.Setenv("TOGETHER_API_KEY", canary) // of a provider that no scenario uses
			traces, err := traced(t, env)
			env.Defer(func() {
				for _, path := range leaks(t, env.WorkDir) {
					t.Errorf("the key is in %s", path)
				}
				if traces != "" {
					searchTraces(t, traces)
				}
			})
			return err
		},
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "trials":
				return noTrials() == "", nil
			case "root":
				return os.Geteuid() == 0, nil
			case "full":
				return stress.Size(0, 1) == 1, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: commands(),
	})
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/script"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// doctorTime bounds what the doctor waits for a server.
const doctorTime = 10 * time.Second

// grade is the outcome of a check.
type grade string

const (
	good   grade = "ok"
	weak   grade = "note"   // works, with less
	broken grade = "broken" // something needed does not work
)

// finding is the outcome of one check, with what to do about it.
type finding struct {
	grade grade
	text  string
	fix   string
}

func newDoctor(p Process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check that everything the agent needs is there", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctor(cmd.Context(), p, overrides(cmd.Flags(), f))
		},
	}
}

func doctor(ctx context.Context, p Process, over config.Overrides) error {
	cfg, cfgErr := config.Load(over)
	worst := good
	for _, c := range []struct {
		name string
		run  func() finding
	}{
		{"version", func() finding { return finding{good, p.Version + " " + runtime.GOOS + "/" + runtime.GOARCH, ""} }},
		{"config", func() finding { return checkConfig(cfg, cfgErr) }},
		{"home", func() finding { return checkHome(cfg.Home) }},
		{"model", func() finding { return checkModel(ctx, cfg, cfgErr) }},
		{"terminal", func() finding { return checkTerminal(p) }},
		{"shell", func() finding { return checkProgram("bash", weak, "commands are run with sh: install bash") }},
		{"search", func() finding {
			return checkProgram("rg", weak, "the built-in search is used, which is slower: install ripgrep")
		}},
		{"editor", func() finding { return checkEditor(cfg) }},
		{"IDE link", func() finding {
			return finding{weak, "none: edits are reviewed in the terminal", ""}
		}},
	} {
		got := c.run()
		fmt.Fprintf(p.Stdout, "%-7s %-9s %s\n", got.grade, c.name, sanitize.Line(got.text))
		if got.fix != "" {
			fmt.Fprintf(p.Stdout, "%17s → %s\n", "", sanitize.Line(got.fix))
		}
		if got.grade == broken {
			worst = broken
		}
	}
	if worst == broken {
		return exitError(headless.ExitFailed)
	}
	return nil
}

func checkConfig(cfg config.Config, err error) finding {
	if err != nil {
		return finding{broken, err.Error(), "correct the file, or: agent config set KEY VALUE"}
	}
	if _, err := os.Stat(cfg.File); errors.Is(err, fs.ErrNotExist) {
		return finding{good, "defaults; there is no " + cfg.File, ""}
	}
	return finding{good, cfg.File, ""}
}

// checkHome looks whether the agent's own folder is private and can be written.
func checkHome(home string) finding {
	if home == "" {
		var err error
		if home, err = config.Home(); err != nil {
			return finding{broken, err.Error(), ""}
		}
	}
	st, err := os.Stat(home)
	if errors.Is(err, fs.ErrNotExist) {
		return finding{good, home + " will be made", ""}
	}
	if err != nil || !st.IsDir() {
		return finding{broken, home + " is not a folder that can be used", "set AGENT_HOME to another one"}
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return finding{broken, fmt.Sprintf("%s can be read by others (mode %o)", home, st.Mode().Perm()), "chmod 700 " + home}
	}
	probe := filepath.Join(home, ".probe")
	if err := errors.Join(statefile.Write(probe, nil), statefile.Remove(probe)); err != nil {
		return finding{broken, fmt.Sprintf("%s cannot be written: %v", home, err), "set AGENT_HOME to another folder"}
	}
	return finding{good, home, ""}
}

// checkModel asks the provider for its models: this needs the address, the
// network and the key.
func checkModel(ctx context.Context, cfg config.Config, cfgErr error) finding {
	if cfgErr != nil {
		return finding{weak, "not checked: the configuration cannot be read", ""}
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	m, _, err := chooseModel(ctx, cfg)
	if err != nil {
		return finding{broken, firstLine(err.Error()), "agent config set model PROVIDER/NAME, or set AGENT_MODEL; agent demo works without"}
	}
	if m.Provider == config.ScriptProvider {
		if _, err := script.Load(m.Name); err != nil {
			return finding{broken, err.Error(), "give --model script:FILE a readable file"}
		}
		return finding{good, m.Ref, ""}
	}
	started := time.Now()
	models, err := newClient(cfg, m).ListModels(ctx)
	where := m.Ref + " at " + m.Endpoint.BaseURL
	switch {
	case err != nil:
		return finding{broken, fmt.Sprintf("%s: %v", where, err), keyFix(m)}
	case len(models) > 0 && !slices.ContainsFunc(models, func(i openai.ModelInfo) bool { return i.ID == m.Name }):
		return finding{weak, where + " answers, but does not list this model", "check the name; it lists " + models[0].ID}
	}
	return finding{good, fmt.Sprintf("%s answers (%d models, %d ms)", where, len(models), time.Since(started).Milliseconds()), ""}
}

func keyFix(m config.Model) string {
	env := m.Endpoint.APIKeyEnv
	switch {
	case len(m.Endpoint.APIKeyCommand) > 0:
		return "the key comes from the command " + m.Endpoint.APIKeyCommand[0] + ": run it by hand"
	case env != "" && os.Getenv(env) == "":
		return "the key is missing: export " + env + "=…"
	case env != "":
		return "check the address, the network and the key in " + env
	}
	return "check that the server is running and that base_url is right"
}

func checkTerminal(p Process) finding {
	if !isTerminal(p.Stdin) || !isTerminal(p.Stdout) {
		return finding{weak, "standard input or output is no terminal: use agent -p", ""}
	}
	kind := os.Getenv("TERM")
	if kind == "" || kind == "dumb" {
		return finding{weak, "TERM=" + kind + ": plain lines are used", "set TERM to what your terminal is"}
	}
	w, h, err := term.GetSize(int(p.Stdout.Fd()))
	if err != nil {
		return finding{weak, kind + ": it does not tell its size", ""}
	}
	return finding{good, fmt.Sprintf("%s, %d×%d", kind, w, h), ""}
}

func checkProgram(name string, without grade, fix string) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding{without, name + " cannot be found", fix}
	}
	return finding{good, path, ""}
}

func checkEditor(cfg config.Config) finding {
	argv := editorCommand(cfg)
	return checkProgram(argv[0], weak, "a proposal cannot be edited with e: set EDITOR, or: agent config set editor NAME")
}

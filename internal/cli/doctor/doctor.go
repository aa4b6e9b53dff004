// Package doctor looks whether what the agent needs is there and works. It
// guarantees that it changes nothing, and that each finding which is not good
// comes with what to do about it, where something can be done.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/internal/cli/home"
	"github.com/bb2d0cf4/agent/internal/cli/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
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

// Options says what is looked at beside the configuration.
type Options struct {
	Version       string
	Stdin, Stdout *os.File  // of the program
	Out           io.Writer // of the findings
	// Link says which editor a session would use, or why it would use none.
	Link func(ctx context.Context, cfg config.Config) (text string, linked bool)
}

// Run writes a line for each finding to opt.Out. It returns false if
// something is broken. cfgErr is why cfg could not be loaded, if so.
func Run(ctx context.Context, opt Options, cfg config.Config, cfgErr error) (healthy bool) {
	healthy = true
	for _, c := range []struct {
		name string
		run  func() finding
	}{
		{"version", func() finding { return finding{good, opt.Version + " " + runtime.GOOS + "/" + runtime.GOARCH, ""} }},
		{"config", func() finding { return checkConfig(cfg, cfgErr) }},
		{"home", func() finding { return checkHome(cfg.Home) }},
		{"keys", func() finding { return checkKeys(cfg.Home) }},
		{"model", func() finding { return checkModel(ctx, cfg, cfgErr) }},
		{"terminal", func() finding { return checkTerminal(opt) }},
		{"shell", func() finding { return checkProgram("bash", weak, "commands are run with sh: install bash") }},
		{"search", func() finding {
			return checkProgram("rg", weak, "the built-in search is used, which is slower: install ripgrep")
		}},
		{"editor", func() finding { return checkEditor(cfg) }},
		{"IDE link", func() finding { return checkLink(ctx, opt, cfg) }},
	} {
		got := c.run()
		fmt.Fprintf(opt.Out, "%-7s %-9s %s\n", got.grade, c.name, sanitize.Line(got.text))
		if got.fix != "" {
			fmt.Fprintf(opt.Out, "%17s → %s\n", "", sanitize.Line(got.fix))
		}
		healthy = healthy && got.grade != broken
	}
	return healthy
}

// checkLink says which editor edits are reviewed in.
func checkLink(ctx context.Context, opt Options, cfg config.Config) finding {
	text, linked := opt.Link(ctx, cfg)
	if linked {
		return finding{good, text, ""}
	}
	return finding{weak, text + ": edits are reviewed in the terminal", "agent ide doctor"}
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

// checkKeys looks whether the user's own keys can be read.
func checkKeys(home string) finding {
	file := filepath.Join(home, keys.File)
	if _, err := keys.Load(file); err != nil {
		return finding{broken, err.Error(), "correct the file; /keys and docs/commands.md name the actions"}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return finding{good, "as documented; there is no " + file, ""}
	}
	return finding{good, file, ""}
}

// checkHome looks whether the agent's own folder is private and can be written.
func checkHome(dir string) finding {
	if dir == "" {
		var err error
		if dir, err = config.Home(); err != nil {
			return finding{broken, err.Error(), ""}
		}
	}
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return finding{good, dir + " will be made", ""}
	}
	if err != nil || !st.IsDir() {
		return finding{broken, dir + " is not a folder that can be used", "set AGENT_HOME to another one"}
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return finding{broken, fmt.Sprintf("%s can be read by others (mode %o)", dir, st.Mode().Perm()), "chmod 700 " + dir}
	}
	probe := filepath.Join(dir, ".probe")
	if err := errors.Join(statefile.Write(probe, nil), statefile.Remove(probe)); err != nil {
		return finding{broken, fmt.Sprintf("%s cannot be written: %v", dir, err), "set AGENT_HOME to another folder"}
	}
	return finding{good, dir, ""}
}

// checkModel asks the provider for its models: this needs the address, the
// network and the key.
func checkModel(ctx context.Context, cfg config.Config, cfgErr error) finding {
	if cfgErr != nil {
		return finding{weak, "not checked: the configuration cannot be read", ""}
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	m, _, err := provider.Choose(ctx, cfg)
	if err != nil {
		return finding{broken, firstLine(err), "agent config set model PROVIDER/NAME, or set AGENT_MODEL; agent demo works without"}
	}
	if m.Provider == config.ScriptProvider {
		if _, err := provider.New(cfg, m); err != nil {
			return finding{broken, err.Error(), "give --model script:FILE a readable file"}
		}
		return finding{good, m.Ref, ""}
	}
	started := time.Now()
	models, err := provider.Client(cfg, m).ListModels(ctx)
	where := m.Ref + " at " + openai.Shown(m.Endpoint.BaseURL)
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

func checkTerminal(p Options) finding {
	if !term.IsTerminal(int(p.Stdin.Fd())) || !term.IsTerminal(int(p.Stdout.Fd())) {
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
	argv := home.EditorCommand(cfg.Interface.Editor)
	return checkProgram(argv[0], weak, "a proposal cannot be edited with e: set EDITOR, or: agent config set editor NAME")
}

// firstLine is the first line of an error's message.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

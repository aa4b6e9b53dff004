package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/editors/vscode"
	"github.com/bb2d0cf4/agent/internal/cli/extension"
	"github.com/bb2d0cf4/agent/internal/cli/idelink"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

func newIDE(p Process, f *flags) *cobra.Command {
	load := func(cmd *cobra.Command) (config.Config, error) { return loadConfig(overrides(cmd.Flags(), f)) }
	status := &cobra.Command{
		Use: "status", Short: "List the editors and say which one a session would use", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return ideStatus(cmd.Context(), p, f, cfg)
		},
	}
	var to string
	install := &cobra.Command{
		Use: "install [editor]", Short: "Install the extension into VS Code and its relatives", Args: cobra.MaximumNArgs(1),
		Example: "  agent ide install\n  agent ide install cursor\n  agent ide install --to agent.vsix",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return ideInstall(cmd.Context(), p, cfg, strings.Join(args, ""), to)
		},
	}
	install.Flags().StringVar(&to, "to", "", "write the extension to this `file` and install nothing")
	doctor := &cobra.Command{
		Use: "doctor", Short: "Check the way from here to the editor", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return ideDoctor(cmd.Context(), p, f, cfg)
		},
	}
	return parent("ide", "The link to your editor", status, install, doctor)
}

// findEditors looks for the editors of the folder to work in.
func findEditors(ctx context.Context, f *flags, cfg config.Config) ([]lock.Candidate, error) {
	dir, err := workDir(f.dir)
	if err != nil {
		return nil, err
	}
	return lock.Find(ctx, idelink.Search(cfg, dir)), nil
}

func ideStatus(ctx context.Context, p Process, f *flags, cfg config.Config) error {
	found, err := findEditors(ctx, f, cfg)
	if err != nil {
		return err
	}
	text := idelink.List(found, "")
	if text == "" {
		text = "No editor was found. Is it running, with the extension? agent ide doctor says more.\n"
	}
	return show(p, text)
}

// ideInstall installs the extension into the editor of that name, or into all that
// there are; with a file it only writes it.
func ideInstall(ctx context.Context, p Process, cfg config.Config, only, to string) error {
	vsix, err := vscode.Package()
	if err != nil {
		return err
	}
	if to != "" {
		abs, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		if err := statefile.Write(abs, vsix); err != nil {
			return err
		}
		return show(p, "written to "+abs+"\n")
	}
	editors, err := extension.Find(only)
	if err != nil {
		return err
	}
	env := withoutSecrets(os.Environ(), cfg.SecretEnv())
	var failed []error
	for _, e := range editors {
		if err := e.Install(ctx, vsix, filepath.Join(cfg.Home, "agent.vsix"), env); err != nil {
			failed = append(failed, err)
			continue
		}
		failed = append(failed, show(p, "installed with "+e.Path+"\n"))
	}
	return errors.Join(failed...)
}

// ideDoctor checks each step of the way to an editor.
func ideDoctor(ctx context.Context, p Process, f *flags, cfg config.Config) error {
	healthy := true
	say := func(grade, name, text, fix string) {
		healthy = healthy && grade != "broken"
		fmt.Fprintf(p.Stdout, "%-7s %-10s %s\n", grade, name, sanitize.Line(text))
		if fix != "" {
			fmt.Fprintf(p.Stdout, "%18s → %s\n", "", sanitize.Line(fix))
		}
	}
	if !cfg.IDE.Enabled {
		say("broken", "setting", "ide.enabled is false", "agent config set ide.enabled true")
	}
	if vsix, err := vscode.Package(); err != nil {
		say("note", "extension", "not inside this build", "make vsix && make build")
	} else {
		say("ok", "extension", fmt.Sprintf("inside, %d KiB", len(vsix)>>10), "")
	}
	doctorPrograms(ctx, cfg, say)
	found, err := findEditors(ctx, f, cfg)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		say("broken", "running", "no editor has told where it listens", "start the editor; agent ide install gives it the extension")
	}
	for _, c := range found {
		doctorLink(ctx, p.Version, c, say)
	}
	if !healthy {
		return exitError(headless.ExitFailed)
	}
	return nil
}

// doctorPrograms looks which editors there are and whether they have the
// extension.
func doctorPrograms(ctx context.Context, cfg config.Config, say func(grade, name, text, fix string)) {
	editors, err := extension.Find("")
	if err != nil {
		say("note", "programs", err.Error(), "")
	}
	env := withoutSecrets(os.Environ(), cfg.SecretEnv())
	for _, e := range editors {
		switch version, err := e.Version(ctx, env); {
		case err != nil:
			say("note", e.Name, err.Error(), "")
		case version == "":
			say("note", e.Name, "has no extension", "agent ide install "+e.Name)
		default:
			say("ok", e.Name, "has the extension "+version, "")
		}
	}
}

// doctorLink tries to connect to an editor, and leaves it again.
func doctorLink(ctx context.Context, version string, c lock.Candidate, say func(grade, name, text, fix string)) {
	name := strings.TrimSpace(fmt.Sprintf("%s, port %d", c.File.Name, c.Port))
	switch {
	case !c.Usable:
		say("note", "lock", name+": "+c.Why, "")
		return
	case c.Dialect.Name != lock.Agent.Name:
		say("note", "lock", name+": another agent's; connecting could end its own link, so it was not tried", "/ide connect, in a session")
		return
	}
	l, err := client.Connect(ctx, c, client.Options{Version: version})
	if err != nil {
		say("broken", "link", name+": "+err.Error(), "reload the editor's window")
		return
	}
	defer l.Close()
	text := name + " answers"
	if c.Why != "" {
		text += "; a session here does not use it: " + c.Why
	}
	say("ok", "link", text, "")
}

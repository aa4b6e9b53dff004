package doctor

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/languages"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
)

// checkLanguages lists the language servers for the project, with their versions and places, and why others are not used.
func checkLanguages(ctx context.Context, opt Options, cfg config.Config) (all []finding) {
	if cfg.LanguageServers.Mode == "off" {
		return []finding{fine("off: names are looked up by search")}
	}
	o := languages.Options(cfg, []string{opt.Dir})
	o.Untrusted = declined(opt.Dir, cfg.Home)
	env := o.Programs.Environ(shell.Environ(opt.Env, cfg.SecretEnv(), cfg.EnvKeep...))
	served := map[string]bool{}
	list := langserver.New(o).List()
	for _, u := range list {
		if u.Path != "" {
			for _, id := range u.Languages {
				served[id] = true
			}
			all = append(all, fine(strings.TrimSpace(u.Name+" "+versionOf(ctx, u, env))+", "+u.Path))
		}
	}
	used := len(all) > 0
	for _, u := range list {
		if u.Path != "" {
			continue
		}
		f := finding{weak, u.Name + " is not used: " + u.Reason, "names are looked up by search", "agent help language-servers"}
		for _, id := range u.Languages {
			if served[id] { // one for a language is enough
				f = fine(f.text)
			}
		}
		for _, id := range u.Languages {
			served[id] = true // one advice is
		}
		all = append(all, f)
	}
	switch {
	case len(list) == 0:
		return []finding{fine("no language server for this project is known")}
	case used:
		all = append(all, checkRoom(ctx, cfg))
	}
	return all
}

// declined reports whether a person does not trust the folder.
func declined(dir, home string) bool {
	found, err := trust.Look(dir, home)
	if err != nil || !found.Configures() {
		return err != nil
	}
	answer, err := trust.Open(home).Of(found)
	return err != nil || answer != trust.Trusted
}

// checkRoom reports whether language servers run in a room.
func checkRoom(ctx context.Context, cfg config.Config) finding {
	if cfg.Trial == "off" {
		return fine("they start with your yes and have your rights: trial is off")
	}
	if why := trial.Probe(ctx, trial.StateIn(cfg.Home), nil).Missing; why != "" {
		return finding{weak, "they cannot be isolated: " + why, "they start with your yes and have your rights", "agent help language-servers"}
	}
	return fine("they run isolated: they cannot change files or use the network")
}

// versionTime bounds the wait for a program that prints its version.
const versionTime = 5 * time.Second

// maxVersion bounds its output, in bytes.
const maxVersion = 64 << 10

var version = lazyregexp.New(`\d+\.\d+[\w.+-]*`)

// versionOf returns the version of a server; "" if it does not tell.
func versionOf(ctx context.Context, u langserver.Usable, env []string) string {
	if len(u.Version) == 0 {
		return ""
	}
	path := u.Path
	if u.Version[0] != u.Command[0] { // another program tells it
		path = filepath.Join(filepath.Dir(path), u.Version[0])
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := lookpath.CommandContext(ctx, path, u.Version[1:]...)
	out := &child.Buffer{Limit: maxVersion}
	cmd.Stdout, cmd.Env, cmd.Dir, cmd.WaitDelay = out, env, filepath.Dir(path), time.Second
	if err := child.Run(cmd, 0); err != nil {
		return ""
	}
	if m := version.FindStringSubmatch(string(out.Bytes())); m != nil {
		return m[0]
	}
	return ""
}

package recording

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// known returns the keys that this program knows: stored, in the configuration and in
// the environment. The notes name those that it cannot read.
func known(ctx context.Context, cfg config.Config) (all, notes []string) {
	all, err := keystore.Open(cfg.Home).All(ctx)
	if err != nil {
		notes = append(notes, "stored keys could not be read, so look for them in the script yourself: "+err.Error())
	}
	named := func(values map[string]string) {
		for name, value := range values {
			name = strings.ReplaceAll(name, "-", "_")
			if !filepath.IsAbs(value) && (shell.LooksSecret(name) || slices.Contains(cfg.SecretEnv(), name) || strings.EqualFold(name, "Cookie")) {
				all = append(all, value)
			}
		}
	}
	for _, p := range cfg.Providers {
		named(p.Headers) // values from the environment are below
	}
	for _, s := range cfg.MCP {
		named(s.Headers)
		named(s.Env)
	}
	env := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	named(env)
	return all, notes
}

package doctor

import (
	"context"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// checkSandbox compares the wanted sandbox with the system's.
func checkSandbox(ctx context.Context, cfg config.Config) finding {
	mode := cfg.Sandbox.Mode
	if mode != "auto" && mode != "required" {
		return fine("off")
	}
	offer := sandbox.Probe(ctx)
	switch {
	case offer.Missing != "" && mode == "required":
		return finding{broken, "none: " + offer.Missing, "no command can run", "agent config set sandbox auto"}
	case offer.Missing != "":
		return finding{weak, "none: " + offer.Missing, "commands may write wherever you may", "see docs/sandbox.md"}
	case len(offer.Gaps) > 0:
		return finding{weak, mode, strings.Join(offer.Gaps, "; "), "a newer kernel prevents that"}
	}
	if !cfg.Sandbox.Network {
		return fine(mode + ", without network")
	}
	return fine(mode)
}

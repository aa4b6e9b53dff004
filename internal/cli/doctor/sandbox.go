package doctor

import (
	"context"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/trial"
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
		return finding{weak, "none: " + offer.Missing, "commands may write wherever you may", "agent help sandbox"}
	case len(offer.Gaps) > 0:
		return finding{weak, mode, strings.Join(offer.Gaps, "; "), "a newer kernel prevents that"}
	}
	if !cfg.Sandbox.Network {
		return fine(mode + ", without network")
	}
	return fine(mode)
}

// checkTrial reports whether commands first run in a copy of the folder.
func checkTrial(ctx context.Context, cfg config.Config) finding {
	if cfg.Trial != "auto" && cfg.Trial != "required" {
		return fine("off: commands ask")
	}
	why := trial.Probe(ctx, trial.StateIn(cfg.Home), nil).Missing
	switch {
	case why != "" && cfg.Trial == "required":
		return finding{broken, "none: " + why, "only commands that read can run", "agent config set trial auto"}
	case why != "":
		return finding{weak, "none: " + why, "commands ask", "agent help trials"}
	}
	return fine(cfg.Trial + ": commands first run in a copy of the folder")
}

package doctor

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// checkVariables names the variables that look like settings but set nothing.
func checkVariables(env []string) []finding {
	unknown := config.UnknownVariables(env)
	if len(unknown) == 0 {
		return nil
	}
	return []finding{{
		weak, "there is no setting " + sanitize.Line(strings.Join(unknown, ", ")),
		"it has no effect", "agent config show lists the settings: AGENT_ and the key in capitals",
	}}
}

// checkEnvironment names the variables that commands do not inherit, which is as it should
// be unless a command needs one.
func checkEnvironment(env []string, cfg config.Config) finding {
	names := shell.Withheld(env, cfg.EnvKeep)
	if len(names) == 0 {
		return fine("commands inherit all of it")
	}
	return fine("commands do not inherit " + sanitize.Line(strings.Join(names, ", ")) +
		"; for one that they need: agent config set env_keep NAME")
}

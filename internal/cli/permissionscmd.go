package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// newPermissions returns agent permissions, which explains the classes of commands.
func newPermissions(p Process, f *flags) *cobra.Command {
	var asJSON bool
	explain := &cobra.Command{
		Use: "explain 'COMMAND'", Short: "Show the class of a command in this folder, and why; nothing is run", Args: exactly(1),
		ValidArgsFunction: fixed(),
		Example:           "  agent permissions explain 'ls -la | wc -l'\n  agent permissions explain --json 'git push --force'",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := workDir(f.dir)
			if err != nil {
				return err
			}
			set, err := loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
			if err != nil {
				return err
			}
			place := safecmd.Place{Dir: dir, Roots: []string{dir}, Home: set.Home, Path: os.Getenv("PATH")}
			j := place.Judge(args[0])
			if err := explainCommand(p, j, asJSON); err != nil || asJSON || j.Class != safecmd.Safe {
				return err
			}
			return explainAsking(p, set)
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print an object with class and parts")
	return parent("permissions", "The classes of commands", explain)
}

// classes describes the classes of commands for people.
var classes = map[safecmd.Class]string{
	safecmd.Safe:   "safe: it only reads, so it needs no question",
	safecmd.Ask:    "ask: it runs only after a yes",
	safecmd.Danger: "danger: it runs only after a yes, each time",
}

// explainAsking names the settings because of which a command that only reads asks too.
func explainAsking(p Process, set setup) error {
	switch {
	case set.SafeCommands == "ask":
		return showLine(p, "But it asks too: permissions.safe_commands is ask.")
	case set.untrusted:
		return showLine(p, "But it asks too: this folder brings settings that you do not trust; see agent trust add.")
	}
	return nil
}

func explainCommand(p Process, j safecmd.Judgement, asJSON bool) error {
	if asJSON {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(j); err != nil {
			return err
		}
		return show(p, b.String())
	}
	if err := showLine(p, classes[j.Class]); err != nil {
		return err
	}
	for _, part := range j.Parts {
		if err := showLine(p, fmt.Sprintf("  %-6s  %s  (%s)", part.Class, part.Text, part.Reason)); err != nil {
			return err
		}
	}
	return nil
}

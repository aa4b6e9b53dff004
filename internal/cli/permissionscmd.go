package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// newPermissions returns agent permissions, which explains the classes of commands.
func newPermissions(p Process, f *flags) *cobra.Command {
	var asJSON bool
	explain := &cobra.Command{
		Use: "explain 'COMMAND'", Short: "Show the class of a command in this folder, and why; nothing is run", Args: exactly(1),
		ValidArgsFunction: fixed(),
		Example:           "  agent permissions explain 'ls -la | wc -l'\n  agent permissions explain --json 'git push --force'",
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := workDir(f.dir)
			if err != nil {
				return err
			}
			home, err := config.Home()
			if err != nil {
				return err
			}
			place := safecmd.Place{Dir: dir, Roots: []string{dir}, Home: home, Path: os.Getenv("PATH")}
			return explainCommand(p, place.Judge(args[0]), asJSON)
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print an object with class and parts")
	return parent("permissions", "The classes of commands", explain)
}

// classes describes the classes of commands for people.
var classes = map[safecmd.Class]string{
	safecmd.Safe:   "safe: it only reads, and runs without a question",
	safecmd.Ask:    "ask: it runs only after a yes",
	safecmd.Danger: "danger: it runs only after a yes, each time",
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

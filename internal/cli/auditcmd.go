package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// newAudit returns agent audit, which shows, checks and exports the audit log.
func newAudit(p Process) *cobra.Command {
	a := auditCommand{p: p}
	show := &cobra.Command{
		Use: "show", Short: "Show the newest entries", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.show() },
	}
	show.Flags().IntVarP(&a.most, "number", "n", 20, "show the newest `n` entries; 0 for all")
	show.Flags().StringVar(&a.session, "session", "", "show only the session with this `id`")
	verify := &cobra.Command{
		Use: "verify", Short: "Check that no entry was changed or removed", Args: noArgs,
		Long: "Checks the chain of hashes from the first entry to the last, and prints the last hash.\n" +
			"Keep it elsewhere: somebody with your rights could write a whole new log.",
		RunE: func(*cobra.Command, []string) error { return a.verify() },
	}
	export := &cobra.Command{
		Use: "export", Short: "Print all entries as JSON, one a line", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.export() },
	}
	return parent("audit", "The log of proposals, answers and written files", show, verify, export)
}

// auditCommand is one of the commands of agent audit.
type auditCommand struct {
	p       Process
	most    int
	session string
}

// each calls visit with each entry of the log.
func (a *auditCommand) each(visit func(audit.Entry, *audit.BrokenError) error) error {
	home, err := config.Home()
	if err != nil {
		return err
	}
	return audit.Open(home).Each(visit)
}

func (a *auditCommand) show() error {
	var lines []string
	err := a.each(func(e audit.Entry, broken *audit.BrokenError) error {
		if a.session != "" && e.Session != a.session {
			return nil
		}
		line := e.Line()
		if broken != nil {
			line += "  (not reliable: " + broken.Why + ")"
		}
		lines = append(lines, line)
		if a.most > 0 && len(lines) > a.most {
			lines = lines[1:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := showLine(a.p, line); err != nil {
			return err
		}
	}
	return nil
}

func (a *auditCommand) verify() error {
	n, last := 0, ""
	err := a.each(func(e audit.Entry, broken *audit.BrokenError) error {
		if broken != nil {
			return fmt.Errorf("the audit log is not intact: %w", broken)
		}
		n, last = n+1, e.Sum
		return nil
	})
	if err != nil {
		return err
	}
	if n == 0 {
		return showLine(a.p, "The audit log is empty.")
	}
	return showLine(a.p, fmt.Sprintf("Log intact: %d entries, last hash %s", n, last))
}

func (a *auditCommand) export() error {
	return a.each(func(e audit.Entry, _ *audit.BrokenError) error {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintln(a.p.Stdout, sanitize.JSON(string(line)))
		}
		return err
	})
}

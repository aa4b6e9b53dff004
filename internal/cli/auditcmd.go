package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/config"
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
		line := entryLine(e)
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

// entryLine describes an entry in a line.
func entryLine(e audit.Entry) string {
	line := fmt.Sprintf("%s  %-9s %s", e.Time.Local().Format("2006-01-02 15:04:05"), e.Event, cmp.Or(e.Kind, e.Tool))
	if e.Subject != "" {
		line += "  " + strings.ReplaceAll(e.Subject, "\n", ", ")
	}
	if e.By != "" {
		line += "  by " + e.By
	}
	if e.Always != "" {
		line += ", always: " + e.Always
	}
	if e.Edited {
		line += ", edited"
	}
	return line
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
			_, err = fmt.Fprintln(a.p.Stdout, asciiJSON(string(line)))
		}
		return err
	})
}

// asciiJSON escapes all but printable ASCII characters of a JSON text, so that none of
// them reaches a terminal. The values stay the same.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if ' ' <= r && r <= '~' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

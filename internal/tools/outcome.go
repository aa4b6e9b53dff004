package tools

import (
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Outcome says what came of a command that had the given time: to the model, with its
// output, and to the user, in a few words.
func Outcome(out shell.Result, timeout time.Duration) (model, user string) {
	user = fmt.Sprintf("exit %d", out.ExitCode)
	if out.Took >= 100*time.Millisecond {
		user += fmt.Sprintf(", %.1f s", out.Took.Seconds())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "exit code: %d", out.ExitCode)
	if out.TimedOut {
		user = fmt.Sprintf("ended after %s", timeout)
		fmt.Fprintf(&b, " (ended after the timeout of %s; use background for what runs on)", timeout)
	}
	b.WriteByte('\n')
	if out.Spill != "" {
		fmt.Fprintf(&b, "%d bytes are left out below; read_file has all of it: %s\n", out.Omitted, out.Spill)
	}
	for _, note := range out.Notes {
		b.WriteString(note + "\n")
	}
	output := sanitize.Plain(out.Output)
	if strings.TrimSpace(output) == "" {
		output = "(no output)"
	}
	b.WriteString(output)
	return b.String(), user
}

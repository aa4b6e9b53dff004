package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/repl"
)

// TestDocumentation compares the table in the documentation with the commands, whose
// names must differ.
func TestDocumentation(t *testing.T) {
	list := append(repl.OwnCommands(), (&Set{}).List()...)
	names := map[string]bool{}
	for _, c := range list {
		if names[c.Name] {
			t.Errorf("there are two /%s", c.Name)
		}
		names[c.Name] = true
	}
	golden.Section(t, "../../../docs/commands.md", "<!-- commands: made of the commands of the program -->", "<!-- end of commands -->", "\n"+markdown(list))
}

// markdown lists commands by group, for the documentation.
func markdown(list []command.Command) string {
	var b strings.Builder
	for _, g := range command.Groups {
		head := fmt.Sprintf("### %s\n\n| Command | Does |\n|---|---|\n", g)
		tail := ""
		for _, c := range list {
			if c.Group == g {
				fmt.Fprintf(&b, "%s| `%s` | %s |\n", head, strings.ReplaceAll(c.Usage(), "|", `\|`), c.Help)
				head, tail = "", "\n"
			}
		}
		b.WriteString(tail)
	}
	return b.String()
}

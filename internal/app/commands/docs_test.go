package commands

import (
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
	golden.Section(t, "../../../docs/commands.md", "<!-- commands: made of the commands of the program -->", "<!-- end of commands -->", "\n"+command.Markdown(list))
}

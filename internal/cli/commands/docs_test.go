package commands

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/command"
)

var update = flag.Bool("update", false, "rewrite the table of docs/commands.md")

// TestDocumentation keeps the table of the documentation the same as the commands,
// which have names of their own.
func TestDocumentation(t *testing.T) {
	list := append(repl.OwnCommands(), (&Set{}).List()...)
	names := map[string]bool{}
	for _, c := range list {
		if names[c.Name] {
			t.Errorf("there are two /%s", c.Name)
		}
		names[c.Name] = true
	}
	const file, begin, end = "../../../docs/commands.md", "<!-- commands: made of the commands of the program -->\n", "<!-- end of commands -->"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	now, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the marks are gone")
	}
	want := "\n" + command.Markdown(list)
	if *update && now != want {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, now); d != "" {
		t.Errorf("run with -update: %s", d)
	}
}

package subagents

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools"
)

func TestDefinitions(t *testing.T) {
	home := scratch.Dir(t, map[string]string{
		"agents/a.md":      "---\nname: alpha\ndescription: >\n  finds\n  things\ntools: Read, Grep, Task, Bash\nmodel: inherit\ncolor: red\n---\nYou find.\n",
		"agents/b.md":      "---\r\ndescription: the default\r\n---\r\nYou read.\r\n",
		"agents/c.md":      "---\nname: alpha\ndescription: again\n---\nx\n",
		"agents/list.md":   "---\ndescription: d\ntools: [edit_file, mcp__notes__add, websearch]\nmodel: fast\n---\nx\n",
		"agents/bad.md":    "no front matter\n",
		"agents/name.md":   "---\nname: a b\ndescription: d\n---\nx\n",
		"agents/none.md":   "---\ndescription: d\ntools: Task\n---\nx\n",
		"agents/search.md": "---\ndescription: d\ntools: WebSearch\n---\nx\n",
		"agents/silent.md": "---\nname: silent\n---\nx\n",
		"agents/notes.txt": "x",
		"agents/wide.md":   "---\ndescription: d\ntools: WebFetch, Bash(git log:*, git show:*), mcp__t__*, mcp__u, Nonsense, NotebookEdit, agent, Agent, WebSearch(go.dev)\n---\nx\n",
		"agents/all.md":    "---\ndescription: d\ntools: '*'\n---\nx\n",
	})
	all, notes := OfUser(home)
	list, twice := First(all)
	for i := range list {
		list[i].Path, list[i].File, list[i].Text = "", "", ""
	}
	want := []Definition{
		{Name: "alpha", Description: "finds things", Tools: []string{"read_file", "search_files", "execute_command"}, Role: "You find."},
		{Name: "b", Description: "the default", Tools: append(tools.Helpers(), "web_search"), Role: "You read."},
		{Name: "list", Description: "d", Tools: []string{"edit_file", "mcp__notes__add", "web_search"}, Model: "fast", Role: "x"},
		{Name: "wide", Description: "d", Tools: []string{"web_fetch", "execute_command", "mcp__t__*", "mcp__u__*", "edit_file"}, Role: "x"},
	}
	want = slices.Insert(want, 1, Definition{Name: "all", Description: "d", Tools: []string{"*"}, Role: "x"})
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{
		"agents/bad.md is left out: it does not begin", `agents/name.md is left out: its name "a b"`, "agents/none.md is left out: it lists no tool", "agents/search.md is left out: it lists the search of the web alone", "agents/silent.md is left out: its description is missing",
		`agents/wide.md: the limit (git log:*, git show:*) of its tool Bash is not kept`, `agents/wide.md: it gets no tool "Nonsense", which is unknown`, `agents/wide.md: it gets no search of the web: the provider would not keep the limit (go.dev)`,
	} {
		if len(notes) != 8 || !strings.Contains(notes[i], want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	if len(twice) != 1 || !strings.Contains(twice[0], "the agent alpha is defined in") {
		t.Errorf("%q", twice)
	}
	if all, notes := OfUser(t.TempDir()); all != nil || notes != nil {
		t.Errorf("without a folder: %v, %q", all, notes)
	}
}

// TestToolNames: the table has each tool of ours, and a list permits those that it names, except
// those that no sub-agent gets.
func TestToolNames(t *testing.T) {
	for _, spec := range tools.NewSet(tools.Deps{Agents: &Crew{}}).Specs() {
		if tools.Ours(spec.Name) != spec.Name {
			t.Errorf("%s is not in the table of names", spec.Name)
		}
		if permits([]string{"*"}, spec.Name) != !tools.FactsOf(spec.Name).Alone {
			t.Errorf("* and %s", spec.Name)
		}
	}
	list := []string{"mcp__t__*", "read_file"}
	for name, want := range map[string]bool{"mcp__t__add": true, "mcp__tt__add": false, "read_file": true, "read_files": false, "edit_file": false, "task": false} {
		if permits(list, name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// Package toolnames is the one table of the names by which other programs know our tools, as
// people write them in hooks and in the definitions of sub-agents.
package toolnames

import (
	"slices"
	"strings"
)

// Tool is a tool of ours.
type Tool struct {
	Ours  string
	Name  string              // in the format of hooks; "" for ours
	Names []string            // by which hooks select it, besides ours
	Keys  map[string][]string // of its input in the format of hooks, by ours
}

// Notebook is the name of an edit of a notebook.
const Notebook = "NotebookEdit"

// A person who guards one name of an edit means every change of a file.
var (
	edits = []string{"Edit", "Write", "MultiEdit", Notebook}
	file  = map[string][]string{"path": {"file_path", "notebook_path"}}
)

// table has the tools in the order of their definitions. A name in several entries is, in a
// definition, that of the first.
var table = []Tool{
	{"read_file", "Read", []string{"Read", "NotebookRead"}, file},
	{"list_files", "LS", []string{"LS", "List"}, nil},
	{"find_files", "Glob", []string{"Glob"}, nil},
	{"search_files", "Grep", []string{"Grep"}, map[string][]string{"regex": {"pattern"}, "file_pattern": {"glob"}}},
	{"edit_file", "Edit", edits, file},
	{"write_file", "Write", edits, file},
	{"edit_lines", "Edit", edits, file},
	{"append_file", "Edit", edits, file},
	{"regex_replace", "Edit", edits, file},
	{"patch", "Edit", edits, file},
	{"apply_patch", "Edit", edits, file},
	{"delete_file", "", edits, file},
	{"move_file", "", edits, file},
	{"execute_command", "Bash", []string{"Bash", "BashOutput", "KillShell", "KillBash"}, map[string][]string{"background": {"run_in_background"}}},
	{"get_diagnostics", "", []string{"mcp__ide__getDiagnostics"}, nil},
	{"todo", "TodoWrite", []string{"TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"}, nil},
	{"present_plan", "ExitPlanMode", []string{"ExitPlanMode"}, nil},
	{"ask_user", "AskUserQuestion", []string{"AskUserQuestion"}, nil},
	{"web_fetch", "WebFetch", []string{"WebFetch"}, nil},
	{"task", "Task", []string{"Task", "Agent"}, map[string][]string{"agent": {"subagent_type"}}},
	{"tool_search", "", []string{"ToolSearch"}, nil},
}

// Of returns one of our tools; one that has no other name is not in the table.
func Of(ours string) Tool {
	i := slices.IndexFunc(table, func(t Tool) bool { return t.Ours == ours })
	if i < 0 {
		return Tool{Ours: ours, Name: ours}
	}
	t := table[i]
	if t.Name == "" {
		t.Name = ours
	}
	return t
}

// All returns all names of our tools.
func All() (names []string) {
	for _, t := range table {
		names = append(append(names, t.Ours), t.Names...)
	}
	return names
}

// Ours returns our tool with a name in a definition, in any case; "" for none.
func Ours(name string) string {
	for _, own := range []func(Tool) bool{
		func(t Tool) bool { return t.Ours == name },
		func(t Tool) bool { return strings.EqualFold(t.Name, name) },
		func(t Tool) bool {
			return slices.ContainsFunc(t.Names, func(n string) bool { return strings.EqualFold(n, name) })
		},
	} {
		if i := slices.IndexFunc(table, own); i >= 0 {
			return table[i].Ours
		}
	}
	return ""
}

// Cover reports whether a list has the name of a tool. A * at the end of an entry is for any rest.
func Cover(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		begin, more := strings.CutSuffix(entry, "*")
		return entry == name || more && strings.HasPrefix(name, begin)
	})
}

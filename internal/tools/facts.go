package tools

// Facts describe a tool, without its services.
type Facts struct {
	Name     string
	Kind     Kind
	Hook     string              // its name in the format of hooks; "" for Name
	Names    []string            // by which other programs know it: in hooks and in definitions of sub-agents
	Keys     map[string][]string // of its input in the format of hooks, by ours
	Mistaken []string            // by which models call it, too, in small letters without underscores
	Helper   bool                // a sub-agent has it whose definition lists no tools
	Alone    bool                // no sub-agent has it
}

// Kind is the kind of a tool, as the Agent Client Protocol names it.
type Kind string

// The kinds of tools.
const (
	KindRead    Kind = "read"
	KindSearch  Kind = "search"
	KindEdit    Kind = "edit"
	KindDelete  Kind = "delete"
	KindMove    Kind = "move"
	KindExecute Kind = "execute"
	KindFetch   Kind = "fetch"
	KindThink   Kind = "think"
	KindOther   Kind = "other"
)

// changes reports whether a tool of this kind changes files.
func (k Kind) changes() bool { return k == KindEdit || k == KindDelete || k == KindMove }

// NotebookEdit is the name of an edit of a notebook in the format of hooks.
const NotebookEdit = "NotebookEdit"

// A person who guards one name of an edit means every change of a file.
var (
	editNames = []string{"Edit", "Write", "MultiEdit", NotebookEdit}
	pathKeys  = map[string][]string{"path": {"file_path", "notebook_path"}}
)

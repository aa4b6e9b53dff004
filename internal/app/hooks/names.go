package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
)

// known is a tool as hooks know it: its name in their format, the names that matchers may
// use besides ours, and the names of keys by ours.
type known struct {
	name    string
	aliases []string
	keys    map[string]string
}

// edits are the names of tools that change a file. Each may also make one.
var edits = known{"Edit", []string{"Edit", "MultiEdit", "Write"}, map[string]string{"path": "file_path"}}

func knownTool(ours string) known {
	switch ours {
	case "read_file":
		return known{"Read", []string{"Read"}, map[string]string{"path": "file_path"}}
	case "write_file":
		return known{"Write", []string{"Write"}, map[string]string{"path": "file_path"}}
	case "edit_file", "edit_lines", "append_file", "regex_replace", "patch", "apply_patch":
		return edits
	case "delete_file", "move_file":
		return known{ours, edits.aliases, edits.keys}
	case "execute_command":
		return known{"Bash", []string{"Bash"}, map[string]string{"background": "run_in_background"}}
	case "search_files":
		return known{"Grep", []string{"Grep"}, map[string]string{"regex": "pattern", "file_pattern": "glob"}}
	case "find_files":
		return known{"Glob", []string{"Glob"}, nil}
	case "list_files":
		return known{"LS", []string{"LS"}, nil}
	case "task":
		return known{"Task", []string{"Task"}, nil}
	case "todo":
		return known{"TodoWrite", []string{"TodoWrite"}, nil}
	}
	return known{name: ours}
}

// OfTool returns the event name about a call of one of our tools, without the input. With
// several files, a call has an event for each.
func OfTool(name, tool, call string) Event {
	k := knownTool(tool)
	if name == PostToolUse && tool == "delete_file" {
		k.aliases = nil // a formatter of edited files would find no file
	}
	return Event{Name: name, Tool: k.name, Ours: tool, CallID: call, names: append([]string{tool}, k.aliases...)}
}

// SetInput gives the event the arguments of the call, with the keys that hooks know besides
// ours. file is the absolute path of the file that it is about; "" for none.
func (e *Event) SetInput(args json.RawMessage, file string) error {
	all, err := object(args)
	if err != nil {
		return err
	}
	for ours, theirs := range knownTool(e.Ours).keys {
		if value, ok := all[ours]; ok {
			all[theirs] = value
		}
	}
	if file != "" && knownTool(e.Ours).keys["path"] != "" {
		if all["file_path"], err = json.Marshal(file); err != nil {
			return err
		}
	}
	e.Input, err = json.Marshal(all)
	return err
}

// Args returns our arguments for an input that a hook changed. It replaces all of the
// arguments; a key may have either name.
func (e Event) Args(before, changed json.RawMessage) (json.RawMessage, error) {
	was, err := object(before)
	if err != nil {
		return nil, err
	}
	sent, err := object(e.Input)
	if err != nil {
		return nil, err
	}
	all, err := object(changed)
	if err != nil {
		return nil, fmt.Errorf("updatedInput: %w", err)
	}
	for ours, theirs := range knownTool(e.Ours).keys {
		value, ok := all[theirs]
		delete(all, theirs)
		_, has := all[ours]
		switch {
		case ok && string(value) != string(sent[theirs]):
			all[ours] = value
		case ok && !has && was[ours] != nil:
			all[ours] = was[ours]
		}
	}
	return json.Marshal(all)
}

func object(data json.RawMessage) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if strings.TrimSpace(string(data)) == "" {
		return all, nil
	}
	err := json.Unmarshal(data, &all)
	return all, err
}

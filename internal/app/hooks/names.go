package hooks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// OfTool returns the event name about a call of one of our tools, without the input. With
// several files, a call has an event for each.
func OfTool(name, tool, call string) Event {
	k := tools.FactsOf(tool)
	if name == PostToolUse && tool == "delete_file" {
		k.Names = nil // a formatter of edited files would find no file
	}
	return Event{Name: name, Tool: k.Hook, Ours: tool, CallID: call, names: append([]string{tool}, k.Names...)}
}

// compiled returns the expression of a matcher, nil for all. People write mcp__NAME__* as for
// files: as an expression it would match no tool.
func compiled(matcher string) *regexp.Regexp {
	if matcher == "" || matcher == "*" {
		return nil
	}
	parts := alternatives(matcher)
	for i, part := range parts {
		if rest, ok := strings.CutSuffix(part, "__*"); ok {
			parts[i] = rest + "__.*"
		}
	}
	matcher = strings.Join(parts, "|")
	return regexp.MustCompile("^(?:" + matcher + ")$") // compiled once before, by config
}

// starts are the sources of a start, in the order in which a session has them.
var starts = []string{"startup", "resume", "clear"}

// Unmatched returns notes about hooks with a matcher of no tool, or of no start: they never run.
// Names of servers' tools are not judged, and of alternatives each is.
func Unmatched(list []config.Hook) (notes []string) {
	for _, h := range list {
		known := tools.AllNames()
		switch h.Event {
		case SessionStart:
			known = starts
		case PreToolUse, PostToolUse:
		default:
			continue // their matchers have no meaning
		}
		for _, name := range alternatives(h.Matcher) {
			if re := compiled(name); re != nil && !strings.Contains(name, "mcp__") && !slices.ContainsFunc(known, re.MatchString) {
				notes = append(notes, fmt.Sprintf("the hook %s of %s in %s does not run for %q: no %s has that name", h.Command, h.Event, h.Source, name,
					map[bool]string{true: "start", false: "tool"}[h.Event == SessionStart]))
			}
		}
	}
	return notes
}

// alternatives returns the parts of a matcher between bars, all of it if it has brackets.
func alternatives(matcher string) []string {
	if strings.ContainsAny(matcher, `()[]\`) {
		return []string{matcher}
	}
	return strings.Split(matcher, "|")
}

// SetInput gives the event the arguments of the call, with the keys that hooks know besides
// ours. file is the absolute path of the file that it is about; "" for none.
func (e *Event) SetInput(args json.RawMessage, file string) error {
	all, err := object(args)
	if err != nil {
		return err
	}
	keys := tools.FactsOf(e.Ours).Keys
	for ours, theirs := range keys {
		if value, ok := all[ours]; ok {
			all[theirs[0]] = value
		}
	}
	notebook := strings.EqualFold(filepath.Ext(file), ".ipynb")
	if file != "" && keys["path"] != nil {
		if all["file_path"], err = json.Marshal(file); err != nil {
			return err
		}
		if notebook {
			all["notebook_path"] = all["file_path"]
		}
	}
	e.names = slices.DeleteFunc(slices.Clone(e.names), func(name string) bool { return name == tools.NotebookEdit && !notebook })
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
	for ours, names := range tools.FactsOf(e.Ours).Keys {
		_, has := all[ours]
		for _, theirs := range names {
			value, ok := all[theirs]
			delete(all, theirs)
			switch {
			case ok && string(value) != string(sent[theirs]):
				all[ours] = value
			case ok && !has && all[ours] == nil && was[ours] != nil:
				all[ours] = was[ours]
			}
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

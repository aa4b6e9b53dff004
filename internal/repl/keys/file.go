package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// File is the name of the user's key file, in the program's home folder.
const File = "keys.yaml"

// maxFile is the maximum size of the key file, in bytes.
const maxFile = 64 << 10

// Load reads the user's key file, if it exists. Its error names each wrong line and the fix;
// the Map holds the others.
func Load(path string) (Map, error) {
	data, err := regularfile.ReadFile(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Map{}, nil
	case errors.Is(err, regularfile.ErrTooLarge):
		return Map{}, fmt.Errorf("%s is larger than %d KiB", path, maxFile>>10)
	case err != nil:
		return Map{}, fmt.Errorf("read %s: %w", path, err)
	}
	m, err := parse(data)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// parse parses a mapping of actions to a key or a list of keys.
func parse(data []byte) (Map, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc); errors.Is(err, io.EOF) {
		return Map{}, nil
	} else if err != nil {
		return Map{}, err
	}
	top := doc.Content[0]
	if top.Tag == "!!null" {
		return Map{}, nil
	}
	if top.Kind != yaml.MappingNode {
		return Map{}, fmt.Errorf("line %d: expected one action per line, such as %s: enter", top.Line, Send)
	}
	m := Map{keys: map[Action][]string{}}
	var wrong []error
	lines := map[Action]int{}
	for i := 0; i < len(top.Content); i += 2 {
		name, value := top.Content[i], top.Content[i+1]
		if err := m.set(name.Value, value); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %s: %w", name.Line, sanitize.Line(name.Value), err))
			continue
		}
		lines[Action(name.Value)] = name.Line
	}
	for c := m.conflict(); c != nil; c = m.conflict() {
		last := c.a // the later of the lines that conflict is not used
		if lines[c.b] > lines[c.a] {
			last = c.b
		}
		wrong = append(wrong, fmt.Errorf("line %d: %s: %w", lines[last], last, c))
		delete(m.keys, last) // its old keys may be another line's new ones: look again
	}
	return m, errors.Join(wrong...)
}

// set handles one line of the file.
func (m *Map) set(name string, value *yaml.Node) error {
	i := slices.IndexFunc(table, func(b binding) bool { return string(b.Action) == name })
	if i < 0 {
		names := make([]string, len(table))
		for j, b := range table {
			names[j] = string(b.Action)
		}
		if near := nearest.Name(name, names); near != "" {
			return fmt.Errorf("unknown action; did you mean %s?", near)
		}
		return errors.New("unknown action; /keys lists them")
	}
	b := table[i]
	if _, twice := m.keys[b.Action]; twice {
		return errors.New("this action is listed twice")
	}
	list := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		list = value.Content
	}
	all := []string{}
	for _, n := range list {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return errors.New("expected a key or a list of keys; [] means none")
		}
		key, err := parseKey(n.Value)
		if err == nil {
			err = b.may(key)
		}
		if err != nil {
			return err
		}
		all = append(all, key)
	}
	switch {
	case b.fixed:
		return errors.New("the keys of this action cannot be changed")
	case b.needed && len(all) == 0:
		return errors.New("this action needs a key")
	}
	m.keys[b.Action] = all
	return nil
}

// may returns an error if b cannot have a key.
func (b binding) may(key string) error {
	switch {
	case slices.Contains(b.Keys, key) || !typesText(key):
		return nil
	case b.answers:
		return fmt.Errorf("%s is too easy to type by accident: answers to questions need Ctrl, Alt or a function key", Spell(key))
	case b.Place == Prompt || b.Place == Everywhere || b.Place == Search || b.Place == List:
		return fmt.Errorf("%s is for typing text: use it with Ctrl or Alt, or a function key", Spell(key))
	}
	return nil
}

// conflictError is a key that would do two things in one place.
type conflictError struct {
	key   string
	a, b  Action
	place Place
}

func (c *conflictError) Error() string {
	return fmt.Sprintf("%s is the key of %s and of %s (%s): change one of them", c.key, c.a, c.b, strings.ToLower(string(c.place)))
}

// conflict returns the first conflict, or nil. The table itself has none.
func (m *Map) conflict() *conflictError {
	for _, p := range places[1:] {
		here := rows(p)
		for i, a := range here {
			for _, b := range here[i+1:] {
				for _, k := range m.of(a.Action) {
					ours := slices.Contains(a.Keys, k) && slices.Contains(b.Keys, k)
					if slices.Contains(m.of(b.Action), k) && !ours {
						return &conflictError{k, a.Action, b.Action, p}
					}
				}
			}
		}
	}
	return nil
}

package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Edit returns the file's content with one key set to value; comments and the order of
// keys stay. Keys are dotted (ide.enabled, providers.NAME.base_url,
// providers.NAME.models.MODEL.price_input, where MODEL may contain dots). Edit checks
// the whole result; name is the file's name for errors.
func Edit(name string, data []byte, key, value string) ([]byte, error) {
	path, leaf, err := locate(key)
	if err != nil {
		return nil, err
	}
	want, err := newValue(leaf, key, value)
	if err != nil {
		return nil, err
	}
	if _, err := parse(name, data); err != nil {
		return nil, err
	}
	doc, err := editable(name, data)
	if err != nil {
		return nil, err
	}
	if err := hides(doc.Content[0], path); err != nil {
		return nil, err
	}
	spliced, ok := splice(data, doc.Content[0], path, want)
	put(doc.Content[0], path, want)
	out := encode(doc)
	if ok && sameMeaning(spliced, out) {
		out = spliced
	}
	_, err = parse(name, out)
	return out, err
}

// sameMeaning reports whether two files set the same keys to the same values. It guards
// against a wrong cut in the text.
func sameMeaning(a, b []byte) bool {
	var x, y any
	return yaml.Unmarshal(a, &x) == nil && yaml.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func encode(n *yaml.Node) []byte {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil // writing to a buffer cannot fail, and the nodes are our own
	}
	return out.Bytes()
}

// splice makes the two common edits in the text itself, so that blank lines stay: a new
// key at the end, and another value on the same line.
func splice(data []byte, top *yaml.Node, path []string, want *yaml.Node) ([]byte, bool) {
	old := find(top, path)
	switch {
	case find(top, path[:1]) == nil && top.Style&yaml.FlowStyle == 0:
		if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
			data = append(bytes.Clone(data), '\n')
		}
		return append(bytes.Clone(data), encode(chain(path, want))...), true
	case old == nil || old.Kind != yaml.ScalarNode || old.Value == "" || want.Kind != yaml.ScalarNode:
		return nil, false
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	line := lines[old.Line-1]
	text, at := asWritten(old), old.Column-1
	if at > len(line) || !bytes.HasPrefix(line[at:], text) {
		return nil, false
	}
	fresh := bytes.TrimSuffix(encode(want), []byte("\n"))
	lines[old.Line-1] = slices.Concat(line[:at], fresh, line[at+len(text):])
	return bytes.Join(lines, nil), true
}

// asWritten returns the text of a scalar that needs no escapes.
func asWritten(n *yaml.Node) []byte {
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0:
		return []byte("'" + n.Value + "'")
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return []byte(`"` + n.Value + `"`)
	}
	return []byte(n.Value)
}

// find returns the value at path below the mapping m; nil if it is missing.
func find(m *yaml.Node, path []string) *yaml.Node {
	for i := 0; i+1 < len(m.Content) && m.Kind == yaml.MappingNode; i += 2 {
		if m.Content[i].Value == path[0] {
			if len(path) == 1 {
				return m.Content[i+1]
			}
			return find(m.Content[i+1], path[1:])
		}
	}
	return nil
}

// editable parses data and returns its top-level mapping.
func editable(name string, data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, syntaxError(name, err)
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode}
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		doc.Content = []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}
	}
	return &doc, nil
}

// CheckKey returns an error if no setting can have the dotted key.
func CheckKey(key string) error {
	_, _, err := locate(key)
	return err
}

// Values returns the values that the setting with the dotted key can have, nil if they are not few.
func Values(key string) []string {
	_, s, err := locate(key)
	switch {
	case err != nil:
		return nil
	case s.kind == boolean:
		return []string{"true", "false"}
	}
	return s.choices
}

// locate looks a dotted key up in the schema.
func locate(key string) ([]string, *schema, error) {
	var path []string
	s, rest := root, key
	for s.kind == group || s.kind == table || s.elem != nil && rest != "" {
		if rest == "" {
			return nil, nil, fmt.Errorf("%q has keys below it: name one of them", key)
		}
		name, tail := s.cut(rest)
		sub := s.elem
		if s.kind == group {
			sub = s.field(name)
		}
		if sub == nil {
			return nil, nil, s.unknown("", prefixOf(path), name)
		}
		path = append(path, name)
		s, rest = sub, tail
	}
	if rest != "" {
		return nil, nil, fmt.Errorf("%q is a single value: it has no %q", strings.Join(path, "."), rest)
	}
	return path, s, nil
}

// cut removes the first name from a dotted key. The names of models and headers may
// contain dots.
func (s *schema) cut(rest string) (name, tail string) {
	switch {
	case s.kind == table && s.elem.kind == text:
		return rest, ""
	case s.dots:
		if i := strings.LastIndexByte(rest, '.'); i > 0 {
			return rest[:i], rest[i+1:]
		}
		return rest, ""
	}
	name, tail, _ = strings.Cut(rest, ".")
	return name, tail
}

func prefixOf(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return strings.Join(path, ".") + "."
}

// newValue returns the node for value. A list is written as YAML: [a, b].
func newValue(s *schema, key, value string) (*yaml.Node, error) {
	if s.kind == list || s.kind == folders || s.kind == object || s.kind == rules {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(value), &n); err != nil || len(n.Content) != 1 {
			return nil, fmt.Errorf("%s: want %s", key, s.wanted())
		}
		return n.Content[0], nil // parse checks it
	}
	err := s.check(value)
	if s.kind == modelRef && value != "" { // one in a file is checked when the model is looked up
		_, _, err = Split(value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	n := &yaml.Node{}
	n.SetString(value)
	if s.kind == boolean || s.kind == count || s.kind == number {
		n.Tag, n.Style = "", 0
	}
	return n, nil
}

// put sets the value at path below the mapping m, and adds missing mappings.
func put(m *yaml.Node, path []string, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != path[0] {
			continue
		}
		old := m.Content[i+1]
		switch {
		case len(path) > 1 && old.Kind == yaml.MappingNode:
			put(old, path[1:], value)
		case len(path) > 1:
			m.Content[i+1] = chain(path[1:], value)
		default:
			value.HeadComment, value.LineComment, value.FootComment = old.HeadComment, old.LineComment, old.FootComment
			m.Content[i+1] = value
		}
		return
	}
	key := &yaml.Node{}
	key.SetString(path[0])
	m.Content = append(m.Content, key, chain(path[1:], value))
}

func chain(path []string, value *yaml.Node) *yaml.Node {
	if len(path) == 0 {
		return value
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	put(m, path, value)
	return m
}

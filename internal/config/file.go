package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// document is a checked file.
type document struct {
	file      string
	data      []byte
	lines     map[string]int // lines of the scalars, by dotted key
	providers map[string]Provider
	servers   map[string]MCPServer
	languages map[string]LanguageServer
	rules     []Rule
	hooks     []Hook
	notes     []string // for the user
}

// parse checks data against the schema. The error names file and line.
func parse(file string, data []byte) (document, error) {
	doc := document{file: file, data: data, lines: map[string]int{}}
	top, err := decode(file, data)
	if err != nil || top == nil {
		return doc, err
	}
	for _, k := range rename(top) {
		doc.notes = append(doc.notes, fmt.Sprintf("%s:%d: %s is now called %s: rename it", file, k.Line, k.Value, renamed[k.Value]))
	}
	if len(doc.notes) > 0 {
		doc.data = encode(top)
	}
	if err := doc.walk(root, top, ""); err != nil {
		return doc, err
	}
	var raw struct {
		Providers map[string]Provider  `yaml:"providers"`
		Servers   map[string]MCPServer `yaml:"mcp"`
	}
	if err := top.Decode(&raw); err != nil {
		return doc, fmt.Errorf("%s: %w", file, err)
	}
	doc.providers, doc.servers = raw.Providers, raw.Servers
	if err := doc.takeLanguageServers(top); err != nil {
		return doc, err
	}
	return doc, doc.checkServers(raw.Servers)
}

// yamlError matches an error of the YAML parser. The parser counts lines from 0 in errors
// about missing parts, from 1 in others, and leaves out a first line.
var yamlError = lazyregexp.New(`^yaml: (?:line (\d+): )?(.*)`)

// noLine matches the errors of the YAML parser without a line, whatever it is.
var noLine = lazyregexp.New(`^yaml: (unknown anchor|control characters|invalid|incomplete|input)`)

// syntaxError names the line of an error of the YAML parser like that of any other mistake.
func syntaxError(file string, err error) error {
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil || noLine.MatchString(m[0]) {
		return fmt.Errorf("%s: %w", file, err)
	}
	line, _ := strconv.Atoi(cmp.Or(m[1], "1")) // digits
	switch {
	case m[1] != "" && strings.HasPrefix(m[2], "did not find"):
		line++
	case strings.HasPrefix(m[2], "found character that cannot start"):
		m[2] = "this is not YAML: indent with blanks instead of tabs, and put a value that begins with @, % or ` in quotes"
	}
	return fmt.Errorf("%s:%d: %s", file, line, m[2])
}

// decode returns the top-level value of the file; nil if it is empty.
func decode(file string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var n yaml.Node
	if err := dec.Decode(&n); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file has more than one document", file)
	}
	if len(n.Content) != 1 || n.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return n.Content[0], nil
}

// rename gives the top-level keys their new names, and returns the renamed ones.
func rename(top *yaml.Node) (old []yaml.Node) {
	for i := 0; top.Kind == yaml.MappingNode && i < len(top.Content); i += 2 {
		k := top.Content[i]
		if now, ok := renamed[k.Value]; ok {
			old = append(old, *k)
			k.Value = now
		}
	}
	return old
}

// walk checks n, whose dotted key is prefix (with a final dot, or empty).
func (d *document) walk(s *schema, n *yaml.Node, prefix string) error {
	where := fmt.Sprintf("%s:%d: ", d.file, n.Line)
	key := strings.TrimSuffix(prefix, ".")
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fmt.Errorf("%s%s: anchors and aliases are not supported", where, key)
	case n.Tag == "!!null":
		return nil // a key without a value is not set
	case s.kind == group || s.kind == table || s.elem != nil && n.Kind == yaml.MappingNode:
		return d.mapping(s, n, prefix, where)
	case s.kind == list:
		return d.list(n, key, where)
	case s.kind == folders:
		return d.folders(s, n, key, where)
	case s.kind == rules:
		return d.addRules(s, n, key, where)
	case s.kind == hooks:
		return d.addHooks(n, where)
	case s.kind == object:
		return checkObject(n, key, where)
	case n.Kind != yaml.ScalarNode:
		return fmt.Errorf("%s%s: want a single value", where, key)
	}
	if err := s.check(n.Value); err != nil {
		return fmt.Errorf("%s%s: %w", where, key, err)
	}
	d.lines[key] = n.Line
	return nil
}

func (d *document) mapping(s *schema, n *yaml.Node, prefix, where string) error {
	if n.Kind != yaml.MappingNode {
		if prefix == "" {
			return fmt.Errorf("%swant a list of key: value", where)
		}
		return fmt.Errorf("%s%s: want keys below it", where, strings.TrimSuffix(prefix, "."))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		where := fmt.Sprintf("%s:%d: ", d.file, k.Line)
		if seen[k.Value] {
			return fmt.Errorf("%sduplicate key %q", where, prefix+k.Value)
		}
		seen[k.Value] = true
		sub := s.elem
		if s.kind == group {
			sub = s.field(k.Value)
		}
		if sub == nil {
			return s.unknown(where, prefix, k.Value)
		}
		if err := d.walk(sub, v, prefix+k.Value+"."); err != nil {
			return err
		}
	}
	return nil
}

// checkObject accepts a mapping that can be written as JSON.
func checkObject(n *yaml.Node, key, where string) error {
	var v map[string]any
	if err := n.Decode(&v); err != nil {
		return fmt.Errorf("%s%s: want keys with values, as in a JSON object", where, key)
	}
	if _, err := json.Marshal(v); err != nil {
		return fmt.Errorf("%s%s: this cannot be sent as JSON: %w", where, key, err)
	}
	return nil
}

// folders checks a list of folders, or a single one.
func (d *document) folders(s *schema, n *yaml.Node, key, where string) error {
	items := n.Content
	if n.Kind == yaml.ScalarNode {
		items = []*yaml.Node{n}
	} else if err := d.list(n, key, where); err != nil {
		return err
	}
	for _, item := range items {
		if err := s.check(item.Value); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", d.file, item.Line, key, err)
		}
	}
	d.lines[key] = n.Line
	return nil
}

func (d *document) list(n *yaml.Node, key, where string) error {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return fmt.Errorf("%s%s: want a list, such as [pass, show, openai]", where, key)
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return fmt.Errorf("%s%s: the list may only have strings", where, key)
		}
	}
	return nil
}

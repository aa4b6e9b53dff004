package config

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Rule is a permission rule as it is written in a file. internal/permission gives it its
// meaning.
type Rule struct {
	Effect string // allow, ask or deny
	Text   string // such as run(go test *)
	// Covers and Not are examples of the rule's author: commands or paths that it must
	// cover, and others that it must not.
	Covers, Not []string
	Source      string // file:line, or the flag
}

// ReadRules returns the rules in a file that has the form of the configuration. The
// other keys may be there, and have no effect.
func ReadRules(file string) ([]Rule, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	top, err := decode(file, data)
	if err != nil || top == nil {
		return nil, err
	}
	rename(top)
	doc := document{file: file, lines: map[string]int{}}
	whole := &schema{kind: group, fields: append(slices.Clone(root.fields), ownProject.fields[0])}
	err = doc.walk(whole, top, "")
	return doc.rules, err
}

// addRules reads the rules below the key of an effect.
func (d *document) addRules(s *schema, n *yaml.Node, key, where string) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("%s%s: want a list of rules, such as [run(go test *)]", where, key)
	}
	for _, item := range n.Content {
		r := Rule{Effect: s.name, Source: fmt.Sprintf("%s:%d", d.file, item.Line)}
		if err := r.read(item); err != nil {
			return fmt.Errorf("%s: %s: %w", r.Source, key, err)
		}
		d.rules = append(d.rules, r)
	}
	return nil
}

// read reads a rule: its text, or a mapping with examples.
func (r *Rule) read(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		r.Text = n.Value
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return errors.New("want a rule such as run(go test *), or rule:, covers: and not: below each other")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var err error
		switch k, v := n.Content[i].Value, n.Content[i+1]; k {
		case "rule":
			err = v.Decode(&r.Text)
		case "covers":
			err = v.Decode(&r.Covers)
		case "not":
			err = v.Decode(&r.Not)
		default:
			return fmt.Errorf("unknown key %q; known are rule, covers, not", k)
		}
		if err != nil {
			return fmt.Errorf("%s: want a text for rule, and lists of texts for covers and not", n.Content[i].Value)
		}
	}
	if r.Text == "" {
		return errors.New("the rule is missing: add rule: run(go test *)")
	}
	return nil
}

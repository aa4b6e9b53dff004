package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Project is the file of a project as the person who trusts it has seen it.
type Project struct {
	File string // for messages and sources
	Data []byte
}

// projectKeys are the keys that a project may set. None of them widens a permission,
// names an address, a key or a program, or is a matter of the person's taste.
var projectKeys = []string{
	"model", "max_turns", "max_minutes", "max_session_tokens", "max_cost_usd", "max_cost_usd_per_day", "max_request_usd", "compact_at", "encoding",
	"ide.inject_diagnostics", "ide.inject_open_editors", "ide.inject_selection", "ide.context",
	"permissions.ask", "permissions.deny",
}

// ceilings are the project keys that limit a session: a project may only lower them.
// Zero means no limit.
var ceilings = []string{"max_turns", "max_minutes", "max_session_tokens", "max_cost_usd", "max_cost_usd_per_day", "max_request_usd"}

// Allowed returns the settings of a project that apply, as "key: value" in the order of
// the file, and the ones that do not, each with the reason. It returns an error if the
// whole file is unusable.
func (p Project) Allowed() (counts, left []string, err error) {
	f, left, err := p.read()
	if err != nil {
		return nil, nil, err
	}
	each(f.top, "", func(key string, n *yaml.Node) {
		counts = append(counts, key+": "+n.Value)
	})
	for _, r := range f.rules {
		counts = append(counts, "permissions."+r.Effect+": "+r.Text)
	}
	return counts, left, nil
}

// projectFile is the part of a project's file that a project may set. top is nil if
// nothing is left.
type projectFile struct {
	top   *yaml.Node
	rules []Rule
}

// read returns the file without the keys that a project may not set, which left
// describes.
func (p Project) read() (f projectFile, left []string, err error) {
	top, err := decode(p.File, p.Data)
	if err != nil || top == nil {
		return f, nil, err
	}
	if top.Kind != yaml.MappingNode {
		return f, nil, fmt.Errorf("%s:%d: want a list of key: value", p.File, top.Line)
	}
	rename(top)
	left = prune(top, "")
	doc := document{file: p.File, lines: map[string]int{}}
	if err := doc.walk(root, top, ""); err != nil {
		return f, nil, err
	}
	if n := find(top, []string{"model"}); n != nil && isScript(n.Value) {
		return f, nil, fmt.Errorf("%s:%d: model: a project cannot choose a script", p.File, n.Line)
	}
	return projectFile{top, doc.rules}, left, nil
}

// isScript reports whether ref names a file to replay, in any spelling.
func isScript(ref string) bool {
	provider, _, err := Split(ref)
	return err == nil && provider == ScriptProvider
}

// prune removes the keys that a project may not set from a mapping, and describes them.
func prune(m *yaml.Node, prefix string) (left []string) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		key := prefix + k.Value
		below := func(allowed string) bool { return strings.HasPrefix(allowed, key+".") }
		switch {
		case slices.Contains(projectKeys, key):
			kept = append(kept, k, v)
		case v.Kind == yaml.MappingNode && slices.ContainsFunc(projectKeys, below):
			left = append(left, prune(v, key+".")...)
			kept = append(kept, k, v)
		default:
			left = append(left, fmt.Sprintf("line %d: a project cannot set %s", k.Line, key))
		}
	}
	m.Content = kept
	return left
}

// each calls f with the scalars below a mapping.
func each(m *yaml.Node, prefix string, f func(key string, n *yaml.Node)) {
	if m == nil {
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key := prefix + m.Content[i].Value
		switch v := m.Content[i+1]; {
		case v.Kind == yaml.MappingNode:
			each(v, key+".", f)
		case v.Kind == yaml.ScalarNode && v.Tag != "!!null":
			f(key, v)
		}
	}
}

// LoadProject is like Load, with the file of a trusted project, which takes precedence
// over the user's. It leaves out the keys that a project may not set; left names them
// with the reasons.
func LoadProject(flags Overrides, p Project) (c Config, left []string, err error) {
	home, err := Home()
	if err != nil {
		return Config{}, nil, err
	}
	f, left, err := p.read()
	if err != nil {
		return Config{}, nil, err
	}
	var over layer
	each(f.top, "", func(key string, n *yaml.Node) {
		over = append(over, projectValue{key, n.Value, fmt.Sprintf("%s:%d", p.File, n.Line)})
	})
	if c, err = loadLayers(home, flags, nil); err != nil {
		return c, left, err
	}
	if v, ok := over.model(); ok && c.BaseURL != "" {
		left = append(left, v.source+": model: its requests would go to your own base_url")
		over = slices.DeleteFunc(over, func(o projectValue) bool { return o.key == v.key })
	}
	c, err = loadLayers(home, flags, &over)
	c.Rules = append(c.Rules, f.rules...)
	for _, v := range over {
		left = append(left, fmt.Sprintf("%s: %s would raise your own limit", v.source, v.key))
	}
	return c, left, err
}

// layer holds the values of a project that were not used yet.
type layer []projectValue

func (l layer) model() (projectValue, bool) {
	i := slices.IndexFunc(l, func(v projectValue) bool { return v.key == "model" })
	if i < 0 {
		return projectValue{}, false
	}
	return l[i], true
}

type projectValue struct{ key, value, source string }

// use removes and returns the value of a key, unless it would raise the user's limit.
func (l *layer) use(key, mine string) (v projectValue, ok bool) {
	if l == nil {
		return v, false
	}
	i := slices.IndexFunc(*l, func(v projectValue) bool { return v.key == key })
	if i < 0 || slices.Contains(ceilings, key) && !lowers((*l)[i].value, mine) {
		return v, false
	}
	v = (*l)[i]
	*l = slices.Delete(*l, i, i+1)
	return v, true
}

// lowers reports whether a limit is at least as strict as the user's.
func lowers(value, mine string) bool {
	v, err1 := strconv.ParseFloat(value, 64)
	m, err2 := strconv.ParseFloat(mine, 64)
	return err1 == nil && err2 == nil && (m == 0 || v > 0 && v <= m)
}

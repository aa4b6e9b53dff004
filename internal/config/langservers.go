package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/mcp/servername"
)

// languageServers is the key that switches language servers off, or holds a person's entries for some.
const languageServers = "language_servers"

// LanguageServer is an entry of a person for a language server: a known one, of which the parts that are set change, or one
// of their own. Its command may name variables of the environment, as that of an MCPServer.
type LanguageServer struct {
	Command   []string          `yaml:"command"`   // program and arguments, no shell
	Languages map[string]string `yaml:"languages"` // the protocol's ids of its languages, by the ends of file names, such as .go
	Markers   []string          `yaml:"markers"`   // files of a project's folder that tell its languages
	Settings  map[string]any    `yaml:"settings"`  // of its own form, for its start
	Disabled  bool              `yaml:"disabled"`
}

var languageServer = &schema{kind: group, fields: []*schema{
	{name: "command", kind: list},
	{name: "languages", kind: table, elem: &schema{kind: text}},
	{name: "markers", kind: list},
	{name: "settings", kind: object},
	{name: "disabled", kind: boolean},
}}

// LanguageServerKeys returns the keys of a language server.
func LanguageServerKeys() (names []string) {
	for _, f := range languageServer.fields {
		names = append(names, f.name)
	}
	return names
}

// takeLanguageServers reads the entries of a file for language servers, and leaves in its data only values.
func (d *document) takeLanguageServers(top *yaml.Node) error {
	n := find(top, []string{languageServers})
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	if err := n.Decode(&d.languages); err != nil {
		return fmt.Errorf("%s: %s: %w", d.file, languageServers, err)
	}
	cutKey(top, languageServers)
	d.data = encode(top)
	for _, name := range slices.Sorted(maps.Keys(d.languages)) {
		if err := d.languages[name].check(name); err != nil {
			return fmt.Errorf("%s: %s.%s: %w", d.file, languageServers, name, err)
		}
	}
	return nil
}

func (s LanguageServer) check(name string) error {
	if !servername.Valid(name) {
		return fmt.Errorf("a server's name has at most %d letters and digits, with single - or _ between them", servername.Max)
	}
	for end, id := range s.Languages {
		if strings.LastIndexByte(end, '.') != 0 || len(end) < 2 || strings.ContainsAny(end, `/\`) || id == "" {
			return errors.New("languages has the ends of file names with the protocol's ids of their languages, such as {.zig: zig}")
		}
	}
	return nil
}

// Resolved returns the server with its command line expanded, as that of an MCPServer.
func (s LanguageServer) Resolved() (LanguageServer, error) {
	s.Command = slices.Clone(s.Command)
	for i, text := range s.Command {
		got, err := expand(text)
		if err != nil {
			return s, fmt.Errorf("%q %w", text, err)
		}
		s.Command[i] = got
	}
	return s, nil
}

// hides returns an error if a value at path would take the place of entries in the file, or of a value that switches them off.
func hides(top *yaml.Node, path []string) error {
	old := find(top, path[:1])
	switch {
	case path[0] != languageServers || old == nil:
		return nil
	case len(path) == 1 && old.Kind == yaml.MappingNode:
		return fmt.Errorf("%s has entries, which this would remove: set AGENT_LANGUAGE_SERVERS, or disabled of each", languageServers)
	case len(path) > 1 && old.Value == "off":
		return fmt.Errorf("%s is off: set it to auto first", languageServers)
	}
	return nil
}

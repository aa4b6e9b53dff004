package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/mcp/servername"
)

// MCPServer is a server of the Model Context Protocol: a program or an address. Its texts may
// name variables of the environment; see Expand and Resolved.
type MCPServer struct {
	Command []string          `yaml:"command"` // program and arguments, no shell
	Env     map[string]string `yaml:"env"`     // the environment that it gets besides a few usual variables
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"`
	// ClientID is the client for a login that an authorization server knows, CallbackPort the
	// port that its redirect address has; both are for servers that register no client.
	ClientID     string `yaml:"client_id"`
	CallbackPort int    `yaml:"callback_port"`
	// InProject starts the program in the project's folder, if that is trusted, where a
	// package runner also looks for programs; otherwise it starts in the agent's own.
	InProject bool   `yaml:"in_project"`
	Cwd       string `yaml:"cwd"`  // the folder that the program starts in; in the project's if InProject
	Load      string `yaml:"load"` // auto, or always for tools that need not be searched for
	Disabled  bool   `yaml:"disabled"`
}

var mcpServer = &schema{kind: group, fields: []*schema{
	{name: "command", kind: list},
	{name: "env", kind: table, elem: &schema{kind: text}},
	{name: "url", kind: address},
	{name: "headers", kind: table, elem: &schema{kind: text}},
	{name: "client_id", kind: text},
	{name: "callback_port", kind: count},
	{name: "in_project", kind: boolean},
	{name: "cwd", kind: text},
	{name: "load", kind: choice, choices: []string{"auto", "always"}},
	{name: "disabled", kind: boolean},
}}

// checkServers returns an error if a server's entry makes no sense.
func (d *document) checkServers(servers map[string]MCPServer) error {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if err := servers[name].check(name); err != nil {
			return fmt.Errorf("%s: mcp.%s: %w", d.file, name, err)
		}
	}
	return nil
}

func (s MCPServer) check(name string) error {
	switch {
	case !servername.Valid(name):
		return fmt.Errorf("a server's name has at most %d letters and digits, with single - or _ between them", servername.Max)
	case (len(s.Command) == 0) == (s.URL == ""):
		return errors.New("want either command, such as [npx, -y, some-server], or url")
	case s.URL != "" && (len(s.Env) > 0 || s.InProject || s.Cwd != ""):
		return errors.New("env, in_project and cwd are for a command")
	case s.URL == "" && (len(s.Headers) > 0 || s.ClientID != "" || s.CallbackPort != 0):
		return errors.New("headers, client_id and callback_port are for a url")
	case s.CallbackPort > 65535:
		return errors.New("callback_port is at most 65535")
	}
	return nil
}

var reference = lazyregexp.New(`\$\{[^{}]*\}`)

// Expand replaces each ${NAME} in the values by the environment variable, ${NAME:-TEXT} by TEXT if
// that is empty or not set, and a ~ at the start by the home directory. It fails if a variable
// without such a text is not set.
func Expand(values map[string]string) (map[string]string, error) {
	out := maps.Clone(values)
	for key, value := range values {
		var err error
		if out[key], err = expand(value); err != nil {
			return nil, fmt.Errorf("%s %w", key, err)
		}
	}
	return out, nil
}

func expand(value string) (string, error) {
	missing := ""
	text := reference.ReplaceAllStringFunc(value, func(ref string) string {
		name, other, has := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}"), ":-")
		got, ok := os.LookupEnv(name)
		switch {
		case has && got == "":
			return other
		case !ok:
			missing = name
		}
		return got
	})
	if missing != "" {
		return "", fmt.Errorf("needs the environment variable %s, which is not set", missing)
	}
	if rest, ok := strings.CutPrefix(value, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("begins with ~: %w", err)
		}
		text = home + filepath.FromSlash(strings.TrimPrefix(text, "~"))
	}
	return text, nil
}

// Resolved returns the server with its command line, folder and address expanded as by Expand, so
// that a person sees the program and the place. Its environment and headers, which may hold keys, stay.
func (s MCPServer) Resolved() (MCPServer, error) {
	s.Command = slices.Clone(s.Command)
	texts := []*string{&s.Cwd, &s.URL}
	for i := range s.Command {
		texts = append(texts, &s.Command[i])
	}
	for _, text := range texts {
		got, err := expand(*text)
		if err != nil {
			return s, fmt.Errorf("%q %w", *text, err)
		}
		*text = got
	}
	return s, nil
}

// Folder returns the folder that the program starts in: own, or the project's. An error means that
// it has to be written otherwise.
func (s MCPServer) Folder(own, project string) (string, error) {
	switch {
	case filepath.IsAbs(s.Cwd):
		return filepath.Clean(s.Cwd), nil
	case s.InProject:
		return filepath.Join(project, s.Cwd), nil
	case s.Cwd == "":
		return own, nil
	}
	return "", fmt.Errorf("its cwd %q is relative: write an absolute path, or one that begins with ~/", s.Cwd)
}

// RemoveServer returns the file's content without the server called name. It fails if
// the server is missing; comments of other entries stay.
func RemoveServer(file string, data []byte, name string) ([]byte, error) {
	if _, err := parse(file, data); err != nil {
		return nil, err
	}
	doc, err := editable(file, data)
	if err != nil {
		return nil, err
	}
	top := doc.Content[0]
	servers := find(top, []string{"mcp"})
	if servers == nil || !cutKey(servers, name) {
		return nil, fmt.Errorf("no MCP server %q is in %s", name, file)
	}
	if len(servers.Content) == 0 {
		cutKey(top, "mcp")
	}
	return encode(doc), nil
}

// cutKey removes a key with its value from a mapping, and reports whether it was there.
func cutKey(m *yaml.Node, key string) bool {
	for i := 0; i+1 < len(m.Content) && m.Kind == yaml.MappingNode; i += 2 {
		if m.Content[i].Value == key {
			m.Content = slices.Delete(m.Content, i, i+2)
			return true
		}
	}
	return false
}

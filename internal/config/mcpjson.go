package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/hexsum"
)

// maxServerText is the size of the largest server of a project, in bytes: a person reads
// it before it starts.
const maxServerText = 2000

// ProjectServers returns the MCP servers that a project's .mcp.json names, with the
// reasons why others are left out. A program starts in the project's folder. They are resolved.
func ProjectServers(data []byte) (servers map[string]MCPServer, left []string, err error) {
	var file struct {
		Servers map[string]struct {
			Type    string
			Command string
			Args    []string
			Cwd     string
			Env     map[string]string
			URL     string
			Headers map[string]string
			OAuth   struct {
				ClientID     string
				CallbackPort int
			}
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, nil, err
	}
	servers = map[string]MCPServer{}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		one := file.Servers[name]
		s := MCPServer{Cwd: one.Cwd, Env: one.Env, URL: one.URL, Headers: one.Headers, InProject: one.URL == "", ClientID: one.OAuth.ClientID, CallbackPort: one.OAuth.CallbackPort}
		if one.Command != "" {
			s.Command = append([]string{one.Command}, one.Args...)
		}
		err := s.check(name)
		if err == nil {
			s, err = s.Resolved()
		}
		switch {
		case one.Type == "sse":
			err = fmt.Errorf("it needs SSE, which is not supported")
		case err == nil && len(strings.Join(s.Lines(), "\n")) > maxServerText:
			err = fmt.Errorf("its entry has more than %d characters", maxServerText)
		}
		if err != nil {
			left = append(left, name+": "+err.Error())
			continue
		}
		servers[name] = s
	}
	return servers, left, nil
}

// Lines describes all of the server for a person, who decides whether it may start. They
// are not sanitized.
func (s MCPServer) Lines() []string {
	lines := []string{s.URL}
	if s.URL == "" {
		lines[0] = commandLine(s.Command)
	}
	if s.Cwd != "" {
		lines = append(lines, "  in the folder "+s.Cwd)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Env)) {
		lines = append(lines, "  with "+key+"="+s.Env[key])
	}
	for _, key := range slices.Sorted(maps.Keys(s.Headers)) {
		lines = append(lines, "  with the header "+key+": "+s.Headers[key])
	}
	if s.ClientID != "" {
		lines = append(lines, "  with the OAuth client "+s.ClientID)
	}
	if s.CallbackPort != 0 {
		lines = append(lines, fmt.Sprintf("  with the callback port %d", s.CallbackPort))
	}
	return lines
}

// Hash returns a hash of everything that Lines describes.
func (s MCPServer) Hash() string {
	return hexsum.Of(strings.Join(s.Lines(), "\n"))
}

// commandLine returns a program with its arguments on one line. Words that a blank would
// make ambiguous are quoted.
func commandLine(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		if shown[i] = w; w == "" || strings.ContainsAny(w, " \t\r\n\"'\\") {
			shown[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(shown, " ")
}

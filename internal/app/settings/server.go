package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Server is an MCP server as a person describes it in a command.
type Server struct {
	Name                   string
	Command                []string // the program and its arguments, or
	URL                    string
	Env, Headers           []string // NAME=VALUE
	ClientID, CallbackPort string
}

// Pairs returns the settings of the server.
func (s Server) Pairs() ([]Pair, error) {
	if (len(s.Command) > 0) == (s.URL != "") {
		return nil, &WrongError{errors.New("give either a program, behind --, or --url")}
	}
	key := "mcp." + s.Name + "."
	var pairs []Pair
	if len(s.Command) > 0 {
		command, err := json.Marshal(s.Command) // which is YAML too
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, Pair{key + "command", string(command)})
	}
	for _, p := range []Pair{{"url", s.URL}, {"client_id", s.ClientID}, {"callback_port", s.CallbackPort}} {
		if p.Value != "" {
			pairs = append(pairs, Pair{key + p.Key, p.Value})
		}
	}
	for table, values := range map[string][]string{"env": s.Env, "headers": s.Headers} {
		for _, v := range values {
			name, value, ok := strings.Cut(v, "=")
			if !ok || name == "" {
				return nil, &WrongError{fmt.Errorf("%q is not NAME=VALUE", v)}
			}
			pairs = append(pairs, Pair{key + table + "." + name, value})
		}
	}
	return pairs, nil
}

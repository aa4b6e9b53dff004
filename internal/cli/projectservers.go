package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/projectscripts"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

// projectServer is an MCP server that the project names.
type projectServer struct {
	trust.Server
	entry   config.MCPServer
	scripts []string // the project's programs that the entry names
	answer  trust.Answer
}

// useServers sets the MCP servers of the project that the user allows, and asks about those
// without an answer if asks is set. A folder that the user refused to trust has none.
func (s *setup) useServers(ctx context.Context, p Process, dir string, asks bool) error {
	if s.untrusted || s.instructions.use == noInstructions {
		return nil
	}
	all, err := s.findServers(dir)
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("the project's %s is not used: %v", trust.ServersFile, err))
		return nil
	}
	s.projectServers = map[string]config.MCPServer{}
	allowed := map[string]string{} // hashes by name
	for _, one := range all {
		if one.answer == trust.Unknown || one.answer == trust.Changed {
			if !asks {
				s.notes = append(s.notes, "the MCP server "+one.Name+" of the project is not started: you have not allowed it; start agent here in a terminal to be asked")
				continue
			}
			s.askedTrust = true
			allowed, err := firstrun.ProjectServer(ctx, dialogTerminal(p, s.Config), s.instructions.store, one.Server, one.entry, one.scripts, one.answer == trust.Changed)
			if err != nil {
				return err
			}
			if allowed {
				one.answer = trust.Trusted
			}
		}
		if one.answer == trust.Trusted {
			s.projectServers[one.Name] = one.entry
			allowed[one.Name] = one.Hash
		}
	}
	s.serverChanged = func(name string) bool {
		before, ok := allowed[name]
		if !ok {
			return false // one of the person's own
		}
		now, _, err := hashOf(dir, s.projectServers[name])
		return err != nil || now != before
	}
	return nil
}

// hashOf returns a hash of an entry and of the programs in the project's folder that it names,
// and those programs. Without any it is the hash of the entry.
func hashOf(dir string, entry config.MCPServer) (hash string, scripts []string, err error) {
	words := slices.Clone(entry.Command)
	for _, name := range slices.Sorted(maps.Keys(entry.Env)) { // such as NODE_OPTIONS
		words = append(words, entry.Env[name])
	}
	scripts, digest, err := projectscripts.Look(dir, words)
	if err != nil || len(scripts) == 0 {
		return entry.Hash(), nil, err
	}
	sum := sha256.Sum256([]byte(entry.Hash() + digest))
	return hex.EncodeToString(sum[:]), scripts, nil
}

// findServers returns the servers that the project names, except those whose names the user's
// own have.
func (s *setup) findServers(dir string) ([]projectServer, error) {
	data, folder, err := trust.ReadServers(dir)
	if err != nil || data == nil {
		return nil, err
	}
	entries, left, err := config.ProjectServers(data)
	if err != nil {
		return nil, err
	}
	for _, l := range left {
		s.notes = append(s.notes, "skipped in the project's "+trust.ServersFile+": "+l)
	}
	var all []projectServer
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if _, own := s.MCP[name]; own {
			s.notes = append(s.notes, "the MCP server "+name+" of the project is not used: one of yours has that name")
			continue
		}
		one := projectServer{entry: entries[name], Server: trust.Server{Dir: dir, Folder: folder, Name: name}}
		if one.Hash, one.scripts, err = hashOf(dir, one.entry); err != nil {
			return nil, err
		}
		if one.answer, err = s.instructions.store.ServerAnswer(one.Server); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// state describes the server for a list. states are those of the servers that were started.
func (p projectServer) state(states map[string]mcp.Status) string {
	if started, ok := states[p.Name]; ok {
		return started.String()
	}
	switch p.answer {
	case trust.Refused:
		return "refused; agent mcp rm " + p.Name + " forgets that"
	case trust.Changed:
		return "not started: it has changed since you answered; agent asks when it starts here"
	}
	return "not started: agent asks when it starts here"
}

// hasServer reports whether an MCP server of that name is configured, or allowed for the project.
func (s *setup) hasServer(name string) bool {
	_, own := s.MCP[name]
	_, project := s.projectServers[name]
	return own || project
}

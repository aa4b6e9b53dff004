package setup

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/footprint"
	"github.com/bb2d0cf4/agent/internal/hexsum"
)

// ProjectServer is an MCP server that a project names.
type ProjectServer struct {
	trust.Server
	Entry   config.MCPServer
	Scripts []string // the project's files that it runs; "." if it may run any
	Answer  trust.Answer
}

// useServers sets the MCP servers of the project that the user allows, and asks about those
// without an answer. A folder that the user refused to trust has none.
func (s *Setup) useServers(ctx context.Context, asker Asker, dir string) error {
	if s.Untrusted || s.Instructions.use == noInstructions {
		return nil
	}
	all, notes, err := s.FindServers(dir)
	s.Notes = append(s.Notes, notes...)
	if err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("the project's %s is not used: %v", trust.ServersFile, err))
		return nil
	}
	s.ProjectServers = map[string]config.MCPServer{}
	allowed := map[string]string{} // hashes by name
	for _, one := range all {
		if one.Answer == trust.Unknown || one.Answer == trust.Changed {
			if asker == nil {
				s.Notes = append(s.Notes, "the MCP server "+one.Name+" of the project is not started: you have not allowed it; start agent here in a terminal to be asked")
				continue
			}
			s.AskedTrust = true
			yes, err := asker.Server(ctx, s.Config, s.Instructions.store, one)
			if err != nil {
				return err
			}
			if yes {
				one.Answer = trust.Trusted
			}
		}
		if one.Answer == trust.Trusted {
			s.ProjectServers[one.Name] = one.Entry
			allowed[one.Name] = one.Hash
		}
	}
	s.ServerChanged = func(name string) bool {
		before, ok := allowed[name]
		if !ok {
			return false // one of the person's own
		}
		now, _ := hashOf(dir, s.ProjectServers[name])
		return now != before
	}
	return nil
}

// hashOf returns a hash of an entry and of the files that its program runs in dir, and those files.
func hashOf(dir string, entry config.MCPServer) (hash string, scripts []string) {
	if len(entry.Command) == 0 {
		return entry.Hash(), nil
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(entry.Env)) { // such as NODE_OPTIONS
		env = append(env, name+"="+entry.Env[name])
	}
	at, err := entry.Folder(dir, dir)
	if err != nil {
		at = dir // it is not started
	}
	what := footprint.Words(at, entry.Command, env)
	what.Still = true
	f := footprint.Of(what)
	defer f.Close()
	for _, path := range f.Files() {
		if name := f.Short(path); !filepath.IsAbs(name) {
			scripts = append(scripts, name)
		}
	}
	if reach, _ := f.Reach(); reach > footprint.Named {
		scripts = append(scripts, ".")
	}
	if len(f.Files()) == 0 && len(scripts) == 0 {
		return entry.Hash(), nil
	}
	return hexsum.Of(entry.Hash() + f.Digest()), scripts
}

// FindServers returns the servers that the project names, except those whose names the user's
// own have, and notes for the user about those that are left out.
func (s *Setup) FindServers(dir string) (all []ProjectServer, notes []string, err error) {
	data, folder, err := trust.ReadServers(dir)
	if err != nil || data == nil {
		return nil, nil, err
	}
	entries, left, err := config.ProjectServers(data)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range left {
		notes = append(notes, "skipped in the project's "+trust.ServersFile+": "+l)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if _, own := s.MCP[name]; own {
			notes = append(notes, "the MCP server "+name+" of the project is not used: one of yours has that name")
			continue
		}
		one := ProjectServer{Entry: entries[name], Server: trust.Server{Dir: dir, Folder: folder, Name: name}}
		one.Hash, one.Scripts = hashOf(dir, one.Entry)
		if one.Answer, err = s.Instructions.store.ServerAnswer(one.Server); err != nil {
			return nil, notes, err
		}
		all = append(all, one)
	}
	return all, notes, nil
}

// HasServer reports whether an MCP server of that name is configured, or allowed for the project.
func (s *Setup) HasServer(name string) bool {
	_, own := s.MCP[name]
	_, project := s.ProjectServers[name]
	return own || project
}

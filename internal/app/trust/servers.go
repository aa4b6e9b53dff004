package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// ServersFile is the file in which a project names MCP servers.
const ServersFile = ".mcp.json"

// Server is a person's answer about an MCP server of a project. It counts for that folder
// and that entry alone.
type Server struct {
	Dir     string `json:"dir"` // without symbolic links
	Folder  Folder `json:"folder,omitzero"`
	Name    string `json:"name"`
	Hash    string `json:"hash"` // of the entry and of the project's programs that it names
	Allowed bool   `json:"allowed"`
}

// ReadServers returns the content of ServersFile in a folder, nil without one, and the
// folder's identity. dir must not contain symbolic links.
func ReadServers(dir string) ([]byte, Folder, error) {
	project, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Folder{}, err
	}
	defer project.Close()
	data, err := read(project, ServersFile)
	return data, folderOf(project), err
}

func (s Store) serversFile() string { return filepath.Join(s.home, "projectservers.json") }

func (s Store) servers() statefile.JSON[[]Server] {
	return statefile.JSON[[]Server]{Path: s.serversFile()}
}

// explainServers adds the consequence to an error of the file.
func (s Store) explainServers(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, statefile.ErrMalformed):
		return fmt.Errorf("%s: %w, so no MCP server of a project starts; delete it to be asked again", s.serversFile(), err)
	}
	return fmt.Errorf("allowed MCP servers of projects: %w", err)
}

// Servers returns all answers about servers.
func (s Store) Servers() ([]Server, error) {
	all, err := s.servers().Read()
	return all, s.explainServers(err)
}

// ServerAnswer returns the answer about a server, whose Allowed is ignored.
func (s Store) ServerAnswer(srv Server) (Answer, error) {
	all, err := s.Servers()
	if err != nil {
		return Unknown, err
	}
	i := slices.IndexFunc(all, srv.isOf)
	switch {
	case i < 0:
		return Unknown, nil
	case all[i].Folder != (Folder{}) && !all[i].Folder.is(srv.Folder):
		return Unknown, nil
	case all[i].Hash != srv.Hash:
		return Changed, nil
	case !all[i].Allowed:
		return Refused, nil
	}
	return Trusted, nil
}

// isOf reports whether both are about the server of that name in that folder.
func (srv Server) isOf(other Server) bool { return srv.Dir == other.Dir && srv.Name == other.Name }

// AnswerServer saves an answer about a server, replacing an earlier one.
func (s Store) AnswerServer(ctx context.Context, srv Server) error {
	return s.explainServers(s.servers().Change(ctx, func(all []Server) []Server {
		all = append(slices.DeleteFunc(all, srv.isOf), srv)
		slices.SortFunc(all, func(a, b Server) int { return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Name, b.Name)) })
		return all
	}))
}

// ForgetServer deletes the answer about a server. It returns false if it had none.
func (s Store) ForgetServer(ctx context.Context, dir, name string) (was bool, err error) {
	err = s.servers().Change(ctx, func(all []Server) []Server {
		return slices.DeleteFunc(all, func(old Server) bool {
			gone := old.isOf(Server{Dir: dir, Name: name})
			was = was || gone
			return gone
		})
	})
	return was, s.explainServers(err)
}

// forgetServers deletes the answers about the servers of a folder and of those below.
func (s Store) forgetServers(ctx context.Context, dir string) error {
	all, err := s.Servers()
	if err != nil || len(all) == 0 {
		return err
	}
	return s.explainServers(s.servers().Change(ctx, func(all []Server) []Server {
		return slices.DeleteFunc(all, func(old Server) bool { return old.Dir == dir || inside(dir, old.Dir) })
	}))
}

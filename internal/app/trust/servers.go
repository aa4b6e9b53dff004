package trust

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/subpath"
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

func (s Store) servers() statefile.List[Server] {
	return statefile.List[Server]{
		JSON: statefile.JSON[[]Server]{
			Path: filepath.Join(s.home, "projectservers.json"),
			Name: "allowed MCP servers of projects", Malformed: "no MCP server of a project starts; delete it to be asked again",
		},
		Compare: func(a, b Server) int { return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Name, b.Name)) },
	}
}

// Servers returns all answers about servers.
func (s Store) Servers() ([]Server, error) { return s.servers().Read() }

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
	return s.servers().Put(ctx, srv, srv.isOf)
}

// ForgetServer deletes the answer about a server. It returns false if it had none.
func (s Store) ForgetServer(ctx context.Context, dir, name string) (was bool, err error) {
	return s.servers().Delete(ctx, Server{Dir: dir, Name: name}.isOf)
}

// forgetServers deletes the answers about the servers of a folder and of those below.
func (s Store) forgetServers(ctx context.Context, dir string) error {
	all, err := s.Servers()
	if err != nil || len(all) == 0 {
		return err
	}
	_, err = s.servers().Delete(ctx, func(old Server) bool { return subpath.In(dir, old.Dir) })
	return err
}

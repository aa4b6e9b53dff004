package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// begunExt is the extension of a file with the description of a session that a host knows
// and that has no records yet: it is no session for others.
const begunExt = ".begun"

// begunTime is how long a host can open a session without records.
const begunTime = 30 * 24 * time.Hour

func begunPath(path string) string { return path[:len(path)-len(fileExt)] + begunExt }

// Begin lets a later process open the session by its id before it has records. It also removes
// such files that have grown old.
func (s *Store) Begin() error {
	data, err := json.Marshal(s.meta())
	if err != nil {
		return err
	}
	project := filepath.Dir(s.path)
	if err := statefile.Mkdir(project); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(project, "*"+begunExt))
	if err != nil {
		return err
	}
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > begunTime {
			if err := statefile.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return statefile.Write(begunPath(s.path), data)
}

// hasBegun notes that the session has a file now.
func (s *Store) hasBegun() error {
	if err := statefile.Remove(begunPath(s.path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// openBegun returns the store of a session without records; nil without one of this id.
func (a *Archive) openBegun(id string) (*Store, error) {
	projects, err := a.projects()
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		path := filepath.Join(p, id+fileExt)
		data, err := os.ReadFile(begunPath(path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var m meta
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			return nil, fmt.Errorf("open session: %w", err)
		}
		return &Store{path: path, info: Info{ID: id, Dir: m.Dir, Model: m.Model, Created: m.Created}}, nil
	}
	return nil, nil
}

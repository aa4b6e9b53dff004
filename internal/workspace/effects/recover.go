package effects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// storePrefix returns the beginning of the names of a workspace's stores.
func storePrefix(root *workspace.Root) string {
	sum := sha256.Sum256([]byte(strings.Join(root.Roots(), "\x00")))
	return "kept-" + hex.EncodeToString(sum[:8]) + "-"
}

// abandoned is the age from which the copies of a killed process in another workspace are
// removed: nobody has opened that since, and they may hold secrets.
const abandoned = 7 * 24 * time.Hour

// Recover records the effects of commands during which a process was killed, and removes
// its copies. It returns a line for a person for each such process. In other workspaces,
// it only removes old copies.
func (t *Tracker) Recover(ctx context.Context) (found []string, err error) {
	dir := filepath.Join(t.home, "undo")
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	errs := []error{err}
	for _, e := range list {
		name, isStore := strings.CutSuffix(e.Name(), lockExt) // a store's first file and its last
		switch {
		case !isStore || !strings.HasPrefix(name, "kept-"):
		case !strings.HasPrefix(name, storePrefix(t.root)):
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
				errs = append(errs, removeStore(filepath.Join(dir, name)))
			}
		default:
			line, err := t.recoverStore(ctx, filepath.Join(dir, name))
			errs = append(errs, err)
			if line != "" {
				found = append(found, line)
			}
		}
	}
	return found, errors.Join(errs...)
}

// removeStore removes a store unless its process lives.
func removeStore(name string) error {
	lock, err := statefile.TryAcquire(name + lockExt)
	if errors.Is(err, statefile.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	return (&store{path: name, lock: lock}).close()
}

// recoverStore finishes one store unless its process lives. If ctx ends before, the store
// stays for the next time.
func (t *Tracker) recoverStore(ctx context.Context, name string) (line string, err error) {
	lock, err := statefile.TryAcquire(name + lockExt)
	if errors.Is(err, statefile.ErrLocked) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	s := &store{path: name, lock: lock}
	line, err = t.finish(ctx, s)
	if ctx.Err() != nil {
		return "", errors.Join(err, s.release())
	}
	return line, errors.Join(err, s.close())
}

// finish records the effects of the runs in a log that did not end, as those of the
// newest.
func (t *Tracker) finish(ctx context.Context, s *store) (line string, err error) {
	in, err := os.Open(s.path + logExt)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // killed as it made or removed the store
	}
	if err != nil {
		return "", err
	}
	p, err := readLog(in, len(t.root.Roots()))
	if err = errors.Join(err, in.Close()); err != nil || len(p.begun) == 0 {
		return "", err
	}
	if s.file, err = os.Open(s.path); err != nil {
		return "", err
	}
	dead := New(t.root, Options{Home: t.home})
	dead.include = t.include
	dead.makeTables()
	for i, tb := range dead.tables {
		tb.top = p.tables[i]
	}
	last := p.begun[len(p.begun)-1]
	dead.store, dead.synced = s, last.At
	r := &Run{tracker: dead, by: last.By}
	if err := r.record(ctx, t.recorded(last.By.Run)); err != nil || len(r.report.Files) == 0 {
		return "", err
	}
	return fmt.Sprintf("The program was killed while a command ran (%s), which had %s. /undo reverses that.", last.By.Command, r.report), nil
}

// recorded returns the paths of the entries of a run.
func (t *Tracker) recorded(run string) map[string]bool {
	paths := map[string]bool{}
	all, err := t.root.Past()
	if err != nil {
		return paths // Record will fail too
	}
	for _, e := range all {
		if e.Run == run {
			paths[e.Path] = true
		}
	}
	return paths
}

//go:build amd64 || arm64

package trial

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// Limits of a program that stays.
const (
	// maxServerMemory is the need of a type checker for a very large project, and half of a small machine.
	maxServerMemory = 4 << 30
	// maxServerProcesses is far more than a compiler with a process for each core has.
	maxServerProcesses = 500
)

// serverCaches are those of language servers, which may be large and are never written back.
var serverCaches = []cache{
	{at: ".cache/gopls", kept: true}, {at: ".cache/zls", kept: true}, {at: ".cache/clangd", kept: true}, {at: ".cache/jdtls", kept: true}, {at: ".cache/typescript", kept: true},
}

// Room returns the room for a program that stays, such as a language server, and sets its environment. It sees the folders of the
// workspace as they are at any time, to read, without the files with keys that they have now.
func (t *Trials) Room(ctx context.Context, cmd *exec.Cmd) (sandbox.Confiner, error) {
	r := room.New(filepath.Join(t.dir, "at"), temporary)
	r.Limit(unix.RLIMIT_FSIZE, maxWritten)
	r.Limit(unix.RLIMIT_CORE, 0)
	r.Most(maxServerProcesses, min(maxServerMemory, maxMemory()))
	env := environment(cmd.Env)
	t.ground(r, env)
	more, err := t.caches(r, env, false)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, append(more, "CARGO_TARGET_DIR=/tmp/target")...) // the project's own cannot be written
	t.showProgram(r, env, cmd.Path)
	for _, g := range t.roots {
		if err := g.show(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// showProgram shows the folder of a program and, of one in a package for Node.js, of all packages beside it.
func (t *Trials) showProgram(r *room.Room, env environment, path string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	dirs := []string{filepath.Dir(path), filepath.Dir(target)}
	if before, _, ok := strings.Cut(target, "/"+unsearched+"/"); ok {
		dirs[1] = before + "/" + unsearched
	}
	t.showPrograms(r, env.get("HOME"), dirs)
}

// show adds the folder to a room, as it is.
func (f *folder) show(ctx context.Context, r *room.Room) error {
	fresh := secrets{home: f.secrets.home} // a run may use that of f
	found, err := fresh.find(ctx, f.root)
	if err != nil {
		return err
	}
	r.Live(f.root)
	for _, rel := range found.hidden {
		path := filepath.Join(f.root, rel)
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			r.Private(path, 1<<12, 0)
		} else {
			r.Mask(path, "")
		}
	}
	for rel, content := range found.masked {
		r.Mask(filepath.Join(f.root, rel), content)
	}
	return nil
}

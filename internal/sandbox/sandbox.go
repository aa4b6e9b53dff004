// Package sandbox starts commands that the system confines: they, and everything that
// they start, write only below the named folders, reach the network only if allowed, and
// gain no rights. It guarantees that a command that cannot be confined does not start.
//
// On Linux it uses Landlock and seccomp, and no user namespace; on macOS sandbox-exec.
// It limits changes: a command can read the user's files, except for a few that it hides.
package sandbox

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Policy limits a command.
type Policy struct {
	// Write lists absolute paths of the folders and devices that may be written, with
	// everything below. A missing one grants nothing.
	Write []string
	// Network allows TCP and UDP, to any address.
	Network bool
	// Hide lists absolute paths of the folders and files that cannot be read, except for
	// those that Show lists. One in a writable folder can be read.
	Hide, Show []string
}

// Confiner starts commands in a sandbox.
type Confiner interface {
	// Confine starts cmd, or returns an error and starts nothing.
	Confine(cmd *exec.Cmd) (Cage, error)
}

// Confiner returns p, or nil without a policy.
func (p *Policy) Confiner() Confiner {
	if p == nil {
		return nil
	}
	return p
}

// Cage holds the processes of one started command.
type Cage interface {
	// Kill kills all of them at once, so that none can fork or hide before its turn. It reports
	// whether the system can: one with the gap of signals cannot.
	Kill() bool
	// Close releases the resources of the program for the cage. Its processes stay. It returns
	// true.
	Close() bool
}

// thread is the Cage of a command that a thread has started, in its own sandbox.
type thread struct {
	work chan func() // for the thread; nil if the system cannot signal all in the sandbox
}

func (t *thread) Kill() bool {
	if t.work == nil {
		return false
	}
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		killAll()
	}
	<-done
	return true
}

func (t *thread) Close() bool {
	if t.work != nil {
		close(t.work)
	}
	return true
}

// Offer describes the sandbox of this system.
type Offer struct {
	// Missing explains why the system has no sandbox; "" if it has one.
	Missing string
	// Gaps lists what this system cannot prevent although a newer one could.
	Gaps []string
}

// devices are the devices that any command may write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// maxLinks limits the symbolic links in a path, as Linux does.
const maxLinks = 40

// grants returns the resolved paths of p.Write. It leaves out a path that leads through
// another listed folder: that one covers it, and an earlier command could have put a link
// to any other folder there.
func (p Policy) grants() []string {
	inside := map[string]bool{}
	for _, path := range p.Write {
		inside[filepath.Clean(path)] = true
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			inside[resolved] = true
		}
	}
	var out []string
	for _, path := range p.Write {
		if resolved := resolve(path, inside); resolved != "" && !slices.Contains(out, resolved) {
			out = append(out, resolved)
		}
	}
	return out
}

// MayWrite reports whether the policy lets commands write a file or folder, or anything in
// a folder that holds it.
func (p Policy) MayWrite(path string) bool {
	resolved := resolve(path, nil)
	return slices.ContainsFunc(p.grants(), func(dir string) bool { return subpath.In(dir, resolved) })
}

// resolve follows the links of an absolute path; "" if it is missing or leads through one
// of the folders.
func resolve(path string, folders map[string]bool) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	at, rest, links := "/", split(path), 0
	for len(rest) > 0 {
		if folders[at] {
			return ""
		}
		next := filepath.Join(at, rest[0])
		info, err := os.Lstat(next)
		if err != nil {
			return ""
		}
		rest = rest[1:]
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return ""
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = slices.Concat(split(target), rest)
	}
	return at
}

// existing returns absolute paths with their links resolved as far as they exist.
func existing(paths []string) (all []string) {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		rest := ""
		for at := filepath.Clean(path); ; at = filepath.Dir(at) {
			if resolved, err := filepath.EvalSymlinks(at); err == nil {
				all = append(all, filepath.Join(resolved, rest))
				break
			}
			rest = filepath.Join(filepath.Base(at), rest)
		}
	}
	return all
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

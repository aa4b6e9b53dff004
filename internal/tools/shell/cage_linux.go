package shell

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cgroup is a control group of a command. A process leaves it only by being moved, and
// the system ends all of them in one.
type cgroup struct{ dir string }

// ownGroup returns the folder of our own group; "" if we may not divide it.
var ownGroup = sync.OnceValue(func() string {
	own, err1 := os.ReadFile("/proc/self/cgroup")
	mounts, err2 := os.ReadFile("/proc/self/mountinfo")
	if err1 != nil || err2 != nil {
		return ""
	}
	_, path, found := strings.Cut("\n"+string(own), "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before) // id, parent, device, root, mount point
		if !found || !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		rel, err := filepath.Rel(fields[3], path)
		if dir := filepath.Join(fields[4], rel); err == nil && filepath.IsLocal(rel) && syscall.Access(filepath.Join(dir, "cgroup.procs"), wOK) == nil {
			return dir
		}
	}
	return ""
})

const wOK = 2 // for access(2)

// groupName begins the names of our groups.
const groupName = "agent-"

// newGroup makes a group in our own; nil if that is not possible.
func newGroup() *cgroup {
	own := ownGroup()
	if own == "" {
		return nil
	}
	g := &cgroup{dir: filepath.Join(own, groupName+rand.Text())}
	if syscall.Mkdir(g.dir, 0o755) != nil {
		return nil
	}
	if syscall.Access(filepath.Join(g.dir, "cgroup.kill"), wOK) != nil { // before Linux 5.14
		g.Close()
		return nil
	}
	return g
}

// startInGroup starts a command in a group of its own, or without one if the system lets
// us make none.
func startInGroup(cmd *exec.Cmd) (cage, error) {
	var g *cgroup
	if groupsWork() {
		g = newGroup()
	}
	if g == nil {
		return nil, cmd.Start()
	}
	if err := g.start(cmd); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// groupsWork reports whether commands can be started in groups, which a container may
// forbid. It tries it once.
var groupsWork = sync.OnceValue(func() bool {
	g := newGroup()
	if g == nil {
		return false
	}
	defer g.Close()
	clearGroups(ownGroup())
	cmd := shellCommand(":", "/")
	cmd.Dir, cmd.Env = "/", []string{}
	return g.start(cmd) == nil && cmd.Wait() == nil
})

// oldGroup is the age from which on an empty group is not one that is about to be used.
const oldGroup = time.Minute

// clearGroups removes the old empty groups in a group, which strays and killed programs left.
func clearGroups(own string) {
	for _, g := range (&cgroup{own}).groups() {
		if info, err := os.Stat(g.dir); err == nil && time.Since(info.ModTime()) > oldGroup {
			g.Close() // else it has a process
		}
	}
}

// start starts cmd in the group from its first instant on.
func (g *cgroup) start(cmd *exec.Cmd) error {
	dir, err := os.Open(g.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return cmd.Start()
}

func (g *cgroup) Kill() bool {
	fd, err := syscall.Open(filepath.Join(g.dir, "cgroup.kill"), syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_, err = syscall.Write(fd, []byte("1"))
	return errors.Join(err, syscall.Close(fd)) == nil
}

// Close removes the group, with the empty ones that a program of ours made in it; one that
// still has processes stays.
func (g *cgroup) Close() bool {
	if !errors.Is(syscall.Rmdir(g.dir), syscall.EBUSY) {
		return true
	}
	for _, sub := range g.groups() {
		sub.Close()
	}
	return !errors.Is(syscall.Rmdir(g.dir), syscall.EBUSY)
}

// groups returns the groups in the group that programs of ours made.
func (g *cgroup) groups() (subs []*cgroup) {
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), groupName) {
			subs = append(subs, &cgroup{filepath.Join(g.dir, e.Name())})
		}
	}
	return subs
}

// Place returns the folder of the group.
func (g *cgroup) Place() string { return g.dir }

// populated reports whether the group may have a living process. Unlike the list of its
// processes, that never misses one which forks just now.
func (g *cgroup) populated() bool {
	data, err := readProc(filepath.Join(g.dir, "cgroup.events"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return bytes.Contains(append([]byte("\n"), data...), []byte("\npopulated 1\n"))
}

// processes returns the living processes of the group and of those in it, sorted.
func (g *cgroup) processes() []int {
	data, err := readProc(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var all []int
	for field := range bytes.FieldsSeq(data) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			all = append(all, pid)
		}
	}
	for _, sub := range g.groups() {
		all = append(all, sub.processes()...)
	}
	slices.Sort(all)
	return all
}

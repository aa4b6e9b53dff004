package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER, which package syscall lacks on
// some architectures.
const prSetChildSubreaper = 36

// adoptOrphans makes this process the parent of every orphan among its
// descendants, so that a daemon that forked twice is still found, below us. The
// call cannot fail since Linux 3.4; before, orphans are found by session only.
func adoptOrphans() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// entry is a process as /proc tells of it.
type entry struct {
	process
	parent, session int
	zombie          bool
}

// birth returns when pid began, zero if it is gone.
func birth(pid int) uint64 {
	e, err := readEntry(pid)
	if err != nil {
		return 0
	}
	return e.start
}

// readEntry reads /proc/pid/stat: "pid (name) state ppid pgrp session …", where
// the name may hold anything and the start time is the 22nd field.
func readEntry(pid int) (entry, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return entry{}, err
	}
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return entry{}, fmt.Errorf("process %d: unknown form of stat", pid)
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 20 {
		return entry{}, fmt.Errorf("process %d: stat has %d fields", pid, len(f))
	}
	e := entry{zombie: f[0] == "Z" || f[0] == "X"}
	e.pid, e.name = pid, printable(data[open+1:end])
	var errs [3]error
	e.parent, errs[0] = strconv.Atoi(f[1])
	e.session, errs[1] = strconv.Atoi(f[3])
	e.start, errs[2] = strconv.ParseUint(f[19], 10, 64)
	return e, errors.Join(errs[:]...)
}

// printable keeps a process from writing more than its name into a message.
func printable(name []byte) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return '?'
		}
		return r
	}, string(name))
}

// left returns the command's processes that are alive, except for the shell
// once it is waited for. Zombies that we adopted are reaped on the way.
//
// The usual case, nothing left, costs a few small reads: all that is left of the
// tree has become our child. Only if there is any child does it look at all
// processes, and twice before it says that none is the command's: one that is
// forked while they are read can be missed, but not again after its parent died.
func (c *command) left() []process {
	c.jobs.mu.Lock()
	defer c.jobs.mu.Unlock()
	for range 2 {
		c.alone = c.hasExited() && c.jobs.childless()
		if c.alone {
			return nil
		}
		if ps := c.look(); len(ps) > 0 {
			return ps
		}
	}
	return nil
}

// look searches all processes for the command's. Jobs.mu is held.
func (c *command) look() []process {
	all := snapshot()
	mine := map[int]bool{}
	for _, e := range all {
		if c.owns(e) {
			mine[e.pid] = true
		}
	}
	addDescendants(all, mine)
	var ps []process
	for _, e := range all {
		if !mine[e.pid] {
			continue
		}
		c.known[e.identity] = true
		if !e.zombie {
			ps = append(ps, e.process)
		}
	}
	c.reapAdopted(all)
	return ps
}

// childless says whether this process has no child but the registered shells.
// Where the kernel has no list of children, or a thread ends meanwhile, it is
// not sure and says no.
func (j *Jobs) childless() bool {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, thread := range threads {
		data, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			return false
		}
		for f := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(f); err != nil || !j.shells[pid] {
				return false
			}
		}
	}
	return true
}

// snapshot returns all processes that can be seen.
func snapshot() []entry {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []entry
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		if e, err := readEntry(pid); err == nil { // else it is gone
			all = append(all, e)
		}
	}
	return all
}

// reapAdopted waits for the zombies that we adopted: those that were seen to be
// the command's, and others that nobody has waited for in a while. The dead
// children of other packages are in our own session, and their owners wait for
// them.
func (c *command) reapAdopted(all []entry) {
	self := os.Getpid()
	own := ownSession()
	for _, e := range all {
		if !e.zombie || c.jobs.shells[e.pid] {
			continue
		}
		// The parent of what is known may have died since it was read: if the
		// zombie is not our child now, waiting for it fails and does no harm.
		if c.known[e.identity] || e.parent == self && e.session != own && c.jobs.lingers(e.identity) {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(e.pid, &status, syscall.WNOHANG, nil) // its status is nobody's concern
			delete(c.jobs.zombies, e.identity)
		}
	}
}

// lingers says whether p was a zombie a second ago already. One that is waited
// for is gone in far less.
func (j *Jobs) lingers(p identity) bool {
	since, seen := j.zombies[p]
	if !seen {
		j.zombies[p] = time.Now()
	}
	return seen && time.Since(since) >= time.Second
}

// owns says whether e belongs to the command by itself: the shell, a process in
// its session, an orphan with its mark, or one that holds its output.
func (c *command) owns(e entry) bool {
	shell := c.cmd.Process.Pid
	if e.pid == shell {
		return e.start == c.birth
	}
	if e.session == shell || c.known[e.identity] { // the dying have no environment any more
		return true
	}
	if e.parent != os.Getpid() || e.zombie || c.jobs.shells[e.pid] || e.session == ownSession() {
		return false
	}
	return hasMark(e.pid, c.mark) || c.feeds(e.pid)
}

// ownSession returns the session of this program, in which no command ever is.
func ownSession() int {
	sid, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0) // cannot fail for oneself
	return int(sid)
}

// hasMark says whether mark is in pid's environment. What cannot be read is not
// ours.
func hasMark(pid int, mark string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark))
}

// feeds says whether pid has the writing end of our pipe open. A child that is
// being started somewhere else in this program has it too, until it has become
// another program.
func (c *command) feeds(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if self, selfErr := os.Executable(); err != nil || selfErr != nil || exe == self {
		return false
	}
	info, err := c.pipe.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	want := fmt.Sprintf("pipe:[%d]", stat.Ino)
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && link == want {
			return true
		}
	}
	return false
}

// addDescendants adds to mine all that descend from what is in it.
func addDescendants(all []entry, mine map[int]bool) {
	for grown := true; grown; {
		grown = false
		for _, e := range all {
			if mine[e.parent] && !mine[e.pid] {
				mine[e.pid], grown = true, true
			}
		}
	}
}

// strays returns orphans that the command may have started but that carry
// nothing of it: another session, another environment, no output. They are
// named, not ended, because they might be somebody else's; while other commands
// run it cannot be told whose they are. Each is named once.
func (c *command) strays() []process {
	if c.alone {
		return nil
	}
	c.jobs.mu.Lock()
	defer c.jobs.mu.Unlock()
	if c.jobs.active > 1 {
		return nil
	}
	all := snapshot()
	self := os.Getpid()
	own := ownSession()
	var ps []process
	for _, e := range all {
		young := c.birth > 0 && e.start >= c.birth
		if e.parent != self || e.zombie || e.session == own || !young || c.jobs.named[e.identity] {
			continue
		}
		if !hasMark(e.pid, markName+"=") && !c.owns(e) { // a mark that is not ours is another command's
			c.jobs.named[e.identity] = true
			ps = append(ps, e.process)
		}
	}
	return ps
}

// signal signals the shell's group and every process in ps that is still the
// one that was seen.
func (c *command) signal(ps []process, sig syscall.Signal) {
	if len(ps) == 0 {
		return
	}
	_ = c.signalGroup(sig) // an empty group is fine
	for _, p := range ps {
		handle, err := os.FindProcess(p.pid)
		if err != nil {
			continue
		}
		if birth(p.pid) == p.start { // the handle stands for this process from here on
			_ = handle.Signal(sig) // refused: it will be named as a survivor
		}
		_ = handle.Release()
	}
}

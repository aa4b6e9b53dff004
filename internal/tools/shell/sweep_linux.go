package shell

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sweep ends processes that left cannot find, because they fork and end faster than it
// reads. It returns them, and those that it could not end.
func (t *tree) sweep() (ended, survivors []process) {
	all := t.family.cage(t.shell.pid)
	if g, ok := all.(*cgroup); ok {
		return g.sweep()
	}
	if all != nil && all.Kill() {
		waitGone(t.orphans, selfEndTime, afterExit.kill, nil) // they are dying
		return nil, nil
	}
	if t.alone {
		return nil, nil
	}
	return t.chase()
}

// sweep ends the processes of the group if they keep changing. Others are found.
func (g *cgroup) sweep() (ended, survivors []process) {
	before := g.processes()
	for i := 0; ; i++ {
		if i == unchangedLooks || !g.populated() {
			return nil, nil
		}
		<-time.After(lookPause)
		now := g.processes()
		if len(now) == 0 || !slices.Equal(before, now) {
			break
		}
	}
	ended = g.left()
	if survivors = g.end(); len(survivors) > 0 {
		return nil, survivors
	}
	return ended, nil
}

// end ends all processes of the group, and returns those that survive.
func (g *cgroup) end() []process {
	for late := time.Now().Add(onRequest.kill); g.populated() && time.Now().Before(late); <-time.After(time.Millisecond) {
		g.Kill()
	}
	if !g.populated() {
		return nil
	}
	return g.left()
}

// left returns the processes of the group.
func (g *cgroup) left() (ps []process) {
	for _, pid := range g.processes() {
		ps = append(ps, named(pid))
	}
	return ps
}

// endGroup ends all processes of the group in a folder, and removes it.
func endGroup(dir string) {
	g := &cgroup{dir}
	g.end()
	g.Close() // else it has a process that nobody can end
}

// named returns a process that may have ended meanwhile.
func named(pid int) process {
	e, err := readEntry(pid)
	if err != nil {
		return process{identity: identity{pid: pid}, name: "a process that kept forking"}
	}
	return e.process
}

const (
	// unchangedLooks is after how many looks without a change processes do not fork any more.
	unchangedLooks = 3
	lookPause      = 10 * time.Millisecond
	// chaseTime is how long runaways are chased.
	chaseTime = time.Second
)

// chase kills orphans of the command as soon as they become our children. It returns the
// last one if they still fork when its time is over.
func (t *tree) chase() (ended, survivors []process) {
	t.family.mu.Lock()
	defer t.family.mu.Unlock()
	seen := map[identity]bool{}
	for begin, still := time.Now(), 0; still < unchangedLooks; {
		last, moved := t.strike(seen)
		if still++; moved {
			still = 0
			ended = []process{last}
		}
		if time.Since(begin) > chaseTime {
			return nil, ended
		}
		if still > 0 {
			<-time.After(lookPause)
		}
	}
	return ended, nil
}

// strike kills the orphans of the command, and reports whether there was one, or one that
// died since the last time. family.mu is held.
func (t *tree) strike(seen map[identity]bool) (last process, moved bool) {
	first := len(seen) == 0
	for _, pid := range ownChildren() {
		e, err := readEntry(pid)
		if err != nil || t.family.shells[pid] || pid == t.family.dog.pid() || e.session == ownSession() || seen[e.identity] {
			continue
		}
		if e.zombie {
			seen[e.identity] = true
			if !first {
				last, moved = e.process, true
			}
		} else if t.owns(e) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // a child of ours, whose number nobody else can have
			t.known[e.identity] = true
			last, moved = e.process, true
		}
	}
	seen[identity{}] = true // the first time is over
	return last, moved
}

// orphans returns living children of ours that are confined and no shell.
func (t *tree) orphans() (ps []process) {
	t.family.mu.Lock()
	defer t.family.mu.Unlock()
	for _, pid := range ownChildren() {
		if e, err := readEntry(pid); err == nil && !e.zombie && !t.family.shells[pid] && isConfined(pid) {
			ps = append(ps, e.process)
		}
	}
	return ps
}

// ownChildren returns the children of our main thread, which adopts the orphans; none if
// the kernel has no list of them.
func ownChildren() (pids []int) {
	self := strconv.Itoa(os.Getpid())
	data, err := readProc("/proc/self/task/" + self + "/children")
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

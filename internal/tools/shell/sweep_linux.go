package shell

import (
	"fmt"
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
		return t.sweepGroup(g)
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

// sweepGroup ends the processes of the group if one of them has a trace of the command,
// or if they keep changing. Others are strays.
func (t *tree) sweepGroup(g *cgroup) (ended, survivors []process) {
	var before []process
	for look := 0; look <= unchangedLooks; look++ {
		now := g.left()
		switch {
		case len(now) == 0:
			return nil, nil
		case slices.ContainsFunc(now, t.traced), look > 0 && !slices.EqualFunc(before, now, sameProcess):
			if survivors = g.end(); len(survivors) > 0 {
				return nil, survivors
			}
			return now, nil
		}
		before = now
		<-time.After(lookPause)
	}
	return nil, nil
}

func sameProcess(a, b process) bool { return a.identity == b.identity && a != forking }

// end ends all processes of the group, and returns those that survive.
func (g *cgroup) end() []process {
	for late := time.Now().Add(onRequest.kill); g.populated() && time.Now().Before(late); <-time.After(time.Millisecond) {
		g.Kill() // each time: it may miss a process that is being forked
	}
	return g.left()
}

// forking is the name of processes that fork and end faster than they can be listed.
var forking = process{name: "a process that keeps forking"}

// left returns the living processes of the group, at least one if it is not empty.
func (g *cgroup) left() (ps []process) {
	if !g.populated() {
		return nil
	}
	for _, pid := range g.processes() {
		if e, err := readEntry(pid); err == nil {
			ps = append(ps, e.process)
		}
	}
	if len(ps) == 0 && g.populated() {
		return []process{forking}
	}
	return ps
}

// endGroup ends all processes of the group in a folder, and removes it.
func endGroup(dir string) {
	g := &cgroup{dir}
	g.end()
	g.Close() // else it has a process that nobody can end
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
	for _, pid := range slices.Backward(ownChildren()) { // the dead of a daemon, in front, may be many
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

// ownChildren returns the children of our main thread, which adopts the orphans, the oldest
// first. If the kernel has no list of them, it returns all our children.
func ownChildren() (pids []int) {
	self := os.Getpid()
	data, err := readProc(fmt.Sprintf("/proc/self/task/%d/children", self))
	if err != nil {
		for _, e := range snapshot() {
			if e.parent == self {
				pids = append(pids, e.pid)
			}
		}
		return pids
	}
	for field := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

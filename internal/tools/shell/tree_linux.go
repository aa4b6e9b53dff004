package shell

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// left returns the living processes of the command, except a shell that has been waited
// for. It reaps adopted zombies on the way.
//
// Usually nothing is left, and that takes one system call, because all remaining
// processes of the tree have become our children. Only if there is a child that is not a
// shell does left look at all processes, and it does so twice before it returns none: a
// process forked during the first look can be missed, but not again after its parent
// died.
func (t *tree) left() []process {
	t.family.mu.Lock()
	defer t.family.mu.Unlock()
	for range 2 {
		t.alone = t.hasExited() && t.family.childless()
		if t.alone {
			return nil
		}
		if ps := t.look(); len(ps) > 0 {
			return ps
		}
	}
	return nil
}

// look searches all processes for those of the command. family.mu is held.
func (t *tree) look() []process {
	all := snapshot()
	mine := map[int]bool{}
	for _, e := range all {
		if t.owns(e) {
			mine[e.pid] = true
		}
	}
	addDescendants(all, mine)
	var ps []process
	for _, e := range all {
		if !mine[e.pid] {
			continue
		}
		t.known[e.identity] = true
		if !e.zombie {
			ps = append(ps, e.process)
		}
	}
	t.family.reapAdopted(all, t.known)
	return ps
}

// owns reports whether e itself identifies as the command's: the shell, a process in its
// session, an orphan with its mark, or one that holds its output.
func (t *tree) owns(e entry) bool {
	if e.pid == t.shell.pid {
		return e.start == t.shell.start
	}
	if e.session == t.shell.pid || t.known[e.identity] { // dying processes have no environment
		return true
	}
	if e.parent != os.Getpid() || e.zombie || t.family.shells[e.pid] || e.session == ownSession() {
		return false
	}
	return t.traced(e.process) || t.confinedAlone() && isConfined(e.pid)
}

// traced reports whether a process has the command's mark or its output.
func (t *tree) traced(p process) bool { return hasMark(p.pid, t.mark) || feeds(p.pid, t.pipe) }

// confinedAlone reports whether this is the only running command in a sandbox: an orphan
// in one is its own then, or was left by an earlier command.
func (t *tree) confinedAlone() bool {
	return t.family.confined[t.shell.pid] && len(t.family.confined) == 1
}

// isConfined reports whether a process has more system call filters than this program: a
// process keeps its filters for ever, and so do its descendants.
func isConfined(pid int) bool { return filters(strconv.Itoa(pid)) > filters("self") }

// filters returns the number of system call filters of a process; zero if unknown.
func filters(pid string) int {
	data, err := readProc("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "\nSeccomp_filters:")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return n
}

// strays returns processes that the command may have started but that carry no trace of
// it: another session, another environment, no output. They are named and not ended,
// because they might belong to others. Each is named once.
func (t *tree) strays() []process {
	g, _ := t.family.cage(t.shell.pid).(*cgroup)
	t.family.mu.Lock()
	defer t.family.mu.Unlock()
	var ps []process
	if g != nil {
		ps = g.left()
	}
	if !t.alone && t.family.active <= 1 { // while other commands run, the owner of an orphan is unknown
		ps = append(ps, t.orphaned()...)
	}
	return slices.DeleteFunc(ps, func(p process) bool {
		named := t.family.named[p.identity]
		t.family.named[p.identity] = p.pid > 0
		return named
	})
}

// orphaned returns orphans that are younger than the shell, without a trace of a command.
// family.mu is held.
func (t *tree) orphaned() (ps []process) {
	self, own := os.Getpid(), ownSession()
	for _, e := range snapshot() {
		young := t.shell.start > 0 && e.start >= t.shell.start
		if e.parent == self && !e.zombie && e.session != own && young && e.pid != t.family.dog.pid() &&
			!hasMark(e.pid, markName+"=") && !t.owns(e) { // with another mark, it belongs to another command
			ps = append(ps, e.process)
		}
	}
	return ps
}

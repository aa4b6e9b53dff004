package shell

import "os"

// left returns the command's processes that are alive, except for the shell
// once it is waited for. Zombies that we adopted are reaped on the way.
//
// The usual case, nothing left, costs one question to the system: all that is
// left of the tree has become our child. Only if there is any child but shells
// does it look at all processes, and twice before it says that none is the command's: one that is
// forked while they are read can be missed, but not again after its parent died.
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

// look searches all processes for the command's. family.mu is held.
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

// owns says whether e belongs to the command by itself: the shell, a process in
// its session, an orphan with its mark, or one that holds its output.
func (t *tree) owns(e entry) bool {
	if e.pid == t.shell.pid {
		return e.start == t.shell.start
	}
	if e.session == t.shell.pid || t.known[e.identity] { // the dying have no environment any more
		return true
	}
	if e.parent != os.Getpid() || e.zombie || t.family.shells[e.pid] || e.session == ownSession() {
		return false
	}
	return hasMark(e.pid, t.mark) || feeds(e.pid, t.pipe)
}

// strays returns orphans that the command may have started but that carry
// nothing of it: another session, another environment, no output. They are
// named, not ended, because they might be somebody else's; while other commands
// run it cannot be told whose they are. Each is named once.
func (t *tree) strays() []process {
	if t.alone {
		return nil
	}
	t.family.mu.Lock()
	defer t.family.mu.Unlock()
	if t.family.active > 1 {
		return nil
	}
	all := snapshot()
	self := os.Getpid()
	own := ownSession()
	var ps []process
	for _, e := range all {
		young := t.shell.start > 0 && e.start >= t.shell.start
		if e.parent != self || e.zombie || e.session == own || !young || t.family.named[e.identity] || e.pid == t.family.dog.pid() {
			continue
		}
		if !hasMark(e.pid, markName+"=") && !t.owns(e) { // a mark that is not ours is another command's
			t.family.named[e.identity] = true
			ps = append(ps, e.process)
		}
	}
	return ps
}

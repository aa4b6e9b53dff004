package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER, which package syscall lacks on some
// architectures.
const prSetChildSubreaper = 36

// adoptOrphans makes this process the parent of every orphaned descendant, so that it
// still finds a daemon that forked twice. The call cannot fail since Linux 3.4; before,
// orphans are found by session only.
func adoptOrphans() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// entry is a process in /proc.
type entry struct {
	process
	parent, session int
	zombie          bool
}

// readProc reads a file of /proc, which is small and never blocks. os.ReadFile makes five
// times as many system calls to learn that.
func readProc(name string) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	data := make([]byte, 0, 512)
	for {
		n, err := syscall.Read(fd, data[len(data):cap(data)])
		if err != nil {
			_ = syscall.Close(fd)
			return nil, &os.PathError{Op: "read", Path: name, Err: err}
		}
		data = data[:len(data)+n]
		if n == 0 {
			return data, syscall.Close(fd)
		}
		data = slices.Grow(data, 1)
	}
}

// birth returns the start time of pid, zero if it is gone.
func birth(pid int) uint64 {
	e, err := readEntry(pid)
	if err != nil {
		return 0
	}
	return e.start
}

// Fields of /proc/pid/stat behind the name; see proc_pid_stat(5).
const (
	statState   = 0
	statParent  = 1
	statSession = 3
	statUser    = 11
	statSystem  = 12
	statStart   = 19
	statEnvEnd  = 48
)

// readStat reads /proc/pid/stat: "pid (name) state ppid pgrp session …". The name may
// hold anything.
func readStat(pid int) (name []byte, fields []string, err error) {
	data, err := readProc(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, nil, err
	}
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return nil, nil, fmt.Errorf("process %d: unknown form of stat", pid)
	}
	fields = strings.Fields(string(data[end+1:]))
	if len(fields) <= statStart {
		return nil, nil, fmt.Errorf("process %d: stat has %d fields", pid, len(fields))
	}
	return data[open+1 : end], fields, nil
}

func readEntry(pid int) (entry, error) {
	name, f, err := readStat(pid)
	if err != nil {
		return entry{}, err
	}
	e := entry{zombie: isDead(f[statState])}
	e.pid, e.name, e.runs = pid, printable(string(name)), f[statState] == "R" || f[statState] == "D"
	var errs [5]error
	var user, system uint64
	e.parent, errs[0] = strconv.Atoi(f[statParent])
	e.session, errs[1] = strconv.Atoi(f[statSession])
	e.start, errs[2] = strconv.ParseUint(f[statStart], 10, 64)
	user, errs[3] = strconv.ParseUint(f[statUser], 10, 64)
	system, errs[4] = strconv.ParseUint(f[statSystem], 10, 64)
	e.spent = user + system
	return e, errors.Join(errs[:]...)
}

func isDead(state string) bool { return state == "Z" || state == "X" }

// snapshot returns all visible processes.
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

// ownSession returns the session of this program, which no command shares.
func ownSession() int {
	sid, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0) // cannot fail for oneself
	return int(sid)
}

// execTime is how long a process may take to replace its program.
const execTime = 500 * time.Millisecond

// hasMark reports whether mark is in pid's environment. An unreadable environment is not
// ours. A process that replaces its program has none until the new one has it.
func hasMark(pid int, mark string) bool {
	for late := time.Now().Add(execTime); ; <-time.After(time.Millisecond) {
		place := environmentOf(pid)
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(env) > 0 || place != "0" && place == environmentOf(pid) || time.Now().After(late) {
			return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark))
		}
	}
}

// environmentOf returns the address of the environment in pid's memory, which differs from
// program to program; "0" while a program is replaced, and "" for a dead process.
func environmentOf(pid int) string {
	_, f, err := readStat(pid)
	if err != nil || len(f) <= statEnvEnd || isDead(f[statState]) {
		return ""
	}
	return f[statEnvEnd]
}

// feeds reports whether pid has the writing end of pipe open. A child that is being
// started elsewhere in this program has it too until it executes its program.
func feeds(pid int, pipe *os.File) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if self, selfErr := os.Executable(); err != nil || selfErr != nil || exe == self {
		return false
	}
	return holds(pid, pipeName(pipe))
}

// pipeName returns the name of a pipe in /proc.
func pipeName(pipe *os.File) string {
	info, err := pipe.Stat()
	if err != nil {
		return "unknown"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("pipe:[%d]", stat.Ino)
}

// holds reports whether pid has one of the pipes open.
func holds(pid int, pipes ...string) bool {
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && slices.Contains(pipes, link) {
			return true
		}
	}
	return false
}

// addDescendants adds the descendants of the processes in mine.
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

// signal signals the group, if there is one, and every process in ps that has not been
// replaced since it was seen.
func signal(group int, ps []process, sig syscall.Signal) {
	if len(ps) == 0 {
		return
	}
	if group > 0 {
		_ = signalGroup(group, sig) // an empty group is fine
	}
	for _, p := range ps {
		handle, err := os.FindProcess(p.pid)
		if err != nil {
			continue
		}
		if birth(p.pid) == p.start { // the handle refers to this process from here on
			_ = handle.Signal(sig) // if refused, it is named as a survivor
		}
		_ = handle.Release()
	}
}

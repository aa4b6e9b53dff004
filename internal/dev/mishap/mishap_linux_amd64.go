package mishap

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Kind is the kind of a mishap.
type Kind string

// The kinds. A torn program has written half of its data and is killed then: only calls that
// write more than one byte count.
const (
	Killed Kind = "killed"
	Torn   Kind = "torn"
	Failed Kind = "failed" // the call returns an error and does nothing
)

// Result is the end of a program.
type Result struct {
	Call         string // at which the mishap happened; "" if the program made fewer
	Died         bool
	Said, Warned string // on standard output and standard error
}

// changing lists the system calls that change the disk, with the error that each fails
// with.
var changing = map[uint64]struct {
	name string
	errn syscall.Errno
}{
	syscall.SYS_WRITE: {"write", syscall.ENOSPC}, syscall.SYS_PWRITE64: {"pwrite", syscall.ENOSPC}, syscall.SYS_OPENAT: {"openat", syscall.ENOSPC},
	syscall.SYS_MKDIRAT: {"mkdirat", syscall.ENOSPC}, syscall.SYS_LINKAT: {"linkat", syscall.ENOSPC}, syscall.SYS_RENAMEAT: {"renameat", syscall.EIO},
	syscall.SYS_RENAME: {"rename", syscall.EIO}, syscall.SYS_UNLINKAT: {"unlinkat", syscall.EIO}, syscall.SYS_FSYNC: {"fsync", syscall.EIO},
	syscall.SYS_FDATASYNC: {"fdatasync", syscall.EIO}, syscall.SYS_FTRUNCATE: {"ftruncate", syscall.EIO}, syscall.SYS_FCHMOD: {"fchmod", syscall.EPERM},
	syscall.SYS_FCHMODAT: {"fchmodat", syscall.EPERM}, syscall.SYS_FCHOWN: {"fchown", syscall.EPERM}, syscall.SYS_FSETXATTR: {"fsetxattr", syscall.ENOSPC},
	renameat2: {"renameat2", syscall.EIO}, syscall.SYS_SYMLINKAT: {"symlinkat", syscall.ENOSPC},
}

const renameat2 = 316 // which package syscall lacks

// Mishap happens to a program at its Nth call that changes something below the roots, or
// never if N is 0.
type Mishap struct {
	Roots  []string // absolute, symlinks resolved
	N      int
	Kind   Kind
	Synced func(path string) // called after each sync of a file or folder; may be nil

	tb    testing.TB
	pid   int
	seen  int
	got   Result
	after map[int]func(*syscall.PtraceRegs) // run when a thread's call returns
}

// To runs the program of cmd, of which Path, Args, Dir and Env count, to its end. Programs
// that it starts are not watched.
func (m *Mishap) To(tb testing.TB, cmd *exec.Cmd) Result {
	tb.Helper()
	m.tb = tb
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(tb.TempDir(), "said"))
		m.must(err)
		defer f.Close()
		files[i] = f
	}
	runtime.LockOSThread() // only the starting thread may trace
	defer runtime.UnlockOSThread()
	child, err := os.StartProcess(cmd.Path, cmd.Args, &os.ProcAttr{
		Dir: cmd.Dir, Env: append(cmd.Environ(), "GOMAXPROCS=1"), Files: []*os.File{nil, files[0], files[1]},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}, // tells its threads from other children
	})
	if err != nil {
		tb.Skip("processes cannot be traced here:", err)
	}
	defer func() { _ = child.Release() }()
	m.pid, m.after = child.Pid, map[int]func(*syscall.PtraceRegs){}
	var status syscall.WaitStatus
	_, err = syscall.Wait4(m.pid, &status, 0, nil)
	m.must(err)
	const exitKill = 0x100000
	m.must(syscall.PtraceSetOptions(m.pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill))
	m.must(syscall.PtraceSyscall(m.pid, 0))
	m.follow()
	for i, to := range []*string{&m.got.Said, &m.got.Warned} {
		text, err := os.ReadFile(files[i].Name())
		m.must(err)
		*to = string(text)
	}
	return m.got
}

func (m *Mishap) must(err error) {
	if err != nil {
		m.tb.Helper()
		m.tb.Fatal(err)
	}
}

// follow handles stops until the process has ended.
func (m *Mishap) follow() {
	for {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-m.pid, &status, syscall.WALL|syscall.WNOTHREAD, nil)
		if err == syscall.EINTR {
			continue
		}
		m.must(err)
		switch {
		case (status.Exited() || status.Signaled()) && thread == m.pid:
			m.got.Died = status.Signaled()
			return
		case !status.Stopped():
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			m.stopped(thread)
			_ = syscall.PtraceSyscall(thread, 0) // it may be dead by now
		case status.StopSignal() == syscall.SIGTRAP, status.StopSignal() == syscall.SIGSTOP:
			_ = syscall.PtraceSyscall(thread, 0)
		default:
			_ = syscall.PtraceSyscall(thread, int(status.StopSignal()))
		}
	}
}

// stopped handles a thread that begins or ends a call.
func (m *Mishap) stopped(thread int) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(thread, &regs) != nil {
		return // it was killed
	}
	if f := m.after[thread]; f != nil {
		delete(m.after, thread)
		f(&regs)
		return
	}
	begins := int64(regs.Rax) == -int64(syscall.ENOSYS)
	if begins && m.Synced != nil && (regs.Orig_rax == syscall.SYS_FSYNC || regs.Orig_rax == syscall.SYS_FDATASYNC) {
		m.learn(thread, regs.Rdi)
	}
	call, known := changing[regs.Orig_rax]
	if !begins || !known || m.got.Call != "" || !m.counts(&regs) {
		return
	}
	if m.seen++; m.seen == m.N {
		m.got.Call = call.name
		m.strike(thread, &regs, call.errn)
	}
}

// strike lets the mishap happen to a thread that begins a call.
func (m *Mishap) strike(thread int, regs *syscall.PtraceRegs, errn syscall.Errno) {
	switch m.Kind {
	case Failed:
		regs.Orig_rax = ^uint64(0)
		m.must(syscall.PtraceSetRegs(thread, regs))
		m.after[thread] = func(regs *syscall.PtraceRegs) {
			regs.Rax = uint64(-int64(errn))
			m.must(syscall.PtraceSetRegs(thread, regs))
		}
	case Torn:
		regs.Rdx /= 2
		m.must(syscall.PtraceSetRegs(thread, regs))
		m.after[thread] = func(*syscall.PtraceRegs) { m.must(syscall.Kill(m.pid, syscall.SIGKILL)) }
	default:
		m.must(syscall.Kill(m.pid, syscall.SIGKILL))
	}
}

// learn records a sync on the disk when the thread's call returns.
func (m *Mishap) learn(thread int, file uint64) {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", m.pid, file))
	m.must(err)
	m.after[thread] = func(regs *syscall.PtraceRegs) {
		if regs.Rax == 0 {
			m.Synced(path)
		}
	}
}

// counts reports whether a call changes something below the roots, and can be torn if it must be.
func (m *Mishap) counts(regs *syscall.PtraceRegs) bool {
	writes := regs.Orig_rax == syscall.SYS_WRITE || regs.Orig_rax == syscall.SYS_PWRITE64
	if m.Kind == Torn && (!writes || regs.Rdx < 2) {
		return false
	}
	switch regs.Orig_rax {
	case syscall.SYS_OPENAT:
		return regs.Rdx&syscall.O_CREAT != 0
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", m.pid, regs.Rdi))
		below := false
		for _, root := range m.Roots {
			below = below || strings.HasPrefix(file, root+"/")
		}
		return err == nil && below
	}
	return true
}

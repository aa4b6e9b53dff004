package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// misfortune is a failure at one of a process's system calls.
type misfortune string

// The misfortunes. A torn process has written half of its data; at any other call, it is
// killed before it.
const (
	killed misfortune = "killed"
	torn   misfortune = "torn"
	failed misfortune = "failed" // the call returns an error and does nothing
)

// traced is the result of a traced process.
type traced struct {
	call string // the failed call; empty if the process made fewer calls
	died bool
	said string
	lost loss // in a power failure
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

// tracer runs this binary in a role and makes its n-th call that changes something below
// the roots fail.
type tracer struct {
	t     *testing.T
	roots []string
	pid   int
	n     int
	what  misfortune
	seen  int
	got   traced
	disk  *disk                             // records each sync; may be nil
	after map[int]func(*syscall.PtraceRegs) // run when a thread's call returns
}

func (tr *tracer) run(as string, args ...string) traced {
	tr.t.Helper()
	out, err := os.Create(filepath.Join(tr.t.TempDir(), "said"))
	must(tr.t, err)
	defer out.Close()
	runtime.LockOSThread() // only the starting thread may trace
	defer runtime.UnlockOSThread()
	child, err := os.StartProcess(os.Args[0], append([]string{os.Args[0]}, args...), &os.ProcAttr{
		Env: append(os.Environ(), role+"="+as, "GOMAXPROCS=1"), Files: []*os.File{nil, out, os.Stderr},
		Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		tr.t.Skip("processes cannot be traced here:", err)
	}
	defer child.Release()
	tr.pid, tr.after = child.Pid, map[int]func(*syscall.PtraceRegs){}
	var status syscall.WaitStatus
	_, err = syscall.Wait4(tr.pid, &status, 0, nil)
	must(tr.t, err)
	const exitKill = 0x100000
	must(tr.t, syscall.PtraceSetOptions(tr.pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill))
	must(tr.t, syscall.PtraceSyscall(tr.pid, 0))
	tr.follow()
	said, err := os.ReadFile(out.Name())
	must(tr.t, err)
	tr.got.said = string(said)
	return tr.got
}

// follow handles stops until the process has ended.
func (tr *tracer) follow() {
	for {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-1, &status, syscall.WALL|syscall.WNOTHREAD, nil)
		if err == syscall.EINTR {
			continue
		}
		must(tr.t, err)
		switch {
		case (status.Exited() || status.Signaled()) && thread == tr.pid:
			tr.got.died = status.Signaled()
			return
		case !status.Stopped():
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			tr.stopped(thread)
			_ = syscall.PtraceSyscall(thread, 0) // it may be dead by now
		case status.StopSignal() == syscall.SIGTRAP, status.StopSignal() == syscall.SIGSTOP:
			_ = syscall.PtraceSyscall(thread, 0)
		default:
			_ = syscall.PtraceSyscall(thread, int(status.StopSignal()))
		}
	}
}

// stopped handles a thread that begins or ends a call.
func (tr *tracer) stopped(thread int) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(thread, &regs) != nil {
		return // it was killed
	}
	if f := tr.after[thread]; f != nil {
		delete(tr.after, thread)
		f(&regs)
		return
	}
	begins := int64(regs.Rax) == -int64(syscall.ENOSYS)
	if begins && tr.disk != nil && (regs.Orig_rax == syscall.SYS_FSYNC || regs.Orig_rax == syscall.SYS_FDATASYNC) {
		tr.learn(thread, regs.Rdi)
	}
	call, known := changing[regs.Orig_rax]
	if !begins || !known || tr.got.call != "" || !tr.counts(&regs) {
		return
	}
	if tr.seen++; tr.seen != tr.n {
		return
	}
	tr.got.call = call.name
	switch {
	case tr.what == failed:
		regs.Orig_rax = ^uint64(0)
		must(tr.t, syscall.PtraceSetRegs(thread, &regs))
		tr.after[thread] = func(regs *syscall.PtraceRegs) {
			regs.Rax = uint64(-int64(call.errn))
			must(tr.t, syscall.PtraceSetRegs(thread, regs))
		}
	case tr.what == torn && regs.Rdx > 1 && (call.name == "write" || call.name == "pwrite"):
		regs.Rdx /= 2
		must(tr.t, syscall.PtraceSetRegs(thread, &regs))
		tr.after[thread] = func(*syscall.PtraceRegs) { must(tr.t, syscall.Kill(tr.pid, syscall.SIGKILL)) }
	default:
		must(tr.t, syscall.Kill(tr.pid, syscall.SIGKILL))
	}
}

// learn records a sync on the disk when the thread's call returns.
func (tr *tracer) learn(thread int, file uint64) {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, file))
	must(tr.t, err)
	tr.after[thread] = func(regs *syscall.PtraceRegs) {
		if regs.Rax == 0 {
			tr.disk.sync(path)
		}
	}
}

// counts reports whether a call changes something below the roots.
func (tr *tracer) counts(regs *syscall.PtraceRegs) bool {
	switch regs.Orig_rax {
	case syscall.SYS_OPENAT:
		return regs.Rdx&syscall.O_CREAT != 0
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, regs.Rdi))
		below := false
		for _, root := range tr.roots {
			below = below || strings.HasPrefix(file, root+"/")
		}
		return err == nil && below
	}
	return true
}

//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// terminal opens a terminal as the user's would be, and returns its name.
func terminal(t *testing.T, _ world) string {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(master.Close(), slave.Close()); err != nil {
			t.Error(err)
		}
	})
	return slave.Name()
}

// setuidProgram makes a program that runs as root for every user.
func setuidProgram(t *testing.T, _ world) string {
	t.Helper()
	name := scratch.Copy(t, "/usr/bin/id", filepath.Join(scratch.Public(t), "id"))
	if err := os.Chmod(name, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	return name
}

// capableProgram makes a program that may read and write every file for every user.
func capableProgram(t *testing.T, _ world) string {
	t.Helper()
	name := scratch.Copy(t, "/bin/cat", filepath.Join(scratch.Public(t), "cat"))
	const version2, effective = 0x02000000, 1
	data := make([]byte, 20)
	*(*uint32)(unsafe.Pointer(&data[0])) = version2 | effective
	*(*uint32)(unsafe.Pointer(&data[4])) = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if err := unix.Setxattr(name, "security.capability", data, 0); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(filepath.Dir(name), "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// rawErr returns nil for the errno 0.
func rawErr(_, _ uintptr, errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

var devicesAndPrivileges = []escape{
	{name: "make a character device", needs: "devices that root may make", root: true, try: func(world) error { return unix.Mknod("mem", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 1))) }},
	{name: "make a block device", needs: "devices that root may make", root: true, try: func(world) error { return unix.Mknod("disk", unix.S_IFBLK|0o666, int(unix.Mkdev(7, 0))) }},
	{name: "write to a terminal", prepare: terminal, try: func(w world) error { return opened(w.extra, os.O_WRONLY|unix.O_NOCTTY) }},
	{name: "type into a terminal", needs: "TIOCSTI", root: true, prepare: terminal, try: func(w world) error {
		fd, err := unix.Open(w.extra, unix.O_RDONLY|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		key := byte('x')
		return rawErr(unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&key))))
	}},
	{name: "resize a terminal", prepare: terminal, try: func(w world) error {
		fd, err := unix.Open(w.extra, unix.O_RDONLY|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 1, Col: 1})
	}},
	{name: "write settings of a process", try: func(w world) error {
		return os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", w.victim), []byte("500"), 0)
	}},
	{name: "write settings of the kernel", needs: "settings that root may write", root: true, try: func(world) error {
		const name = "/proc/sys/kernel/printk_delay"
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, data, 0)
	}},
	{name: "setuid program", needs: "setuid programs in the temporary folder", nobody: true, prepare: setuidProgram, try: func(w world) error {
		out, err := exec.Command(w.extra, "-u").Output()
		if err == nil && strings.TrimSpace(string(out)) != "0" {
			err = fmt.Errorf("the user is %s", out)
		}
		return err
	}},
	{name: "program with capabilities", needs: "capabilities of files in the temporary folder", nobody: true, prepare: capableProgram, try: func(w world) error {
		return exec.Command(w.extra, filepath.Join(filepath.Dir(w.extra), "secret")).Run()
	}},
	{name: "set the name of the host", needs: "a name that root may set", root: true, try: func(world) error {
		name, err := os.Hostname()
		return firstError(err, unix.Sethostname([]byte(name)))
	}},
	{name: "set the clock", needs: "a clock that root may set", root: true, try: func(world) error {
		var now unix.Timeval
		return firstError(unix.Gettimeofday(&now), unix.Settimeofday(&now))
	}},
	{name: "program for the kernel", needs: "bpf", root: true, try: func(world) error {
		attr := struct{ kind, key, value, entries, rest uint32 }{kind: 2, key: 4, value: 4, entries: 1} // an array
		return rawErr(unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)))
	}},
	{name: "key of the login", needs: "keyrings", prepare: func(t *testing.T, _ world) string {
		t.Cleanup(func() {
			if id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "sandbox-test", 0); err == nil {
				_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0) // it is gone at the next start of the system
			}
		})
		return ""
	}, try: func(world) error {
		_, err := unix.AddKey("user", "sandbox-test", []byte("escaped"), unix.KEY_SPEC_USER_KEYRING)
		return err
	}},
	{name: "io_uring", needs: "io_uring", network: true, try: func(world) error {
		params := make([]byte, 120)
		return rawErr(unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0))
	}},
	{name: "page faults of the kernel", needs: "userfaultfd", root: true, try: func(world) error {
		return rawErr(unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0))
	}},
}

// vec returns the arguments of process_vm_readv.
func vec(b []byte, remote uintptr) ([]unix.Iovec, []unix.RemoteIovec) {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	return local, []unix.RemoteIovec{{Base: remote, Len: len(b)}}
}

// writable returns the address of the lowest page of a process's stack, which it does not use.
func writable(pid int) (uintptr, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, err
	}
	var last uintptr
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n == 3 && strings.HasPrefix(mode, "rw") && strings.Contains(line, "[stack]") {
			last = from
		}
	}
	if last == 0 {
		return 0, errors.New("no memory found")
	}
	return last, nil
}

// stack returns an address in the victim, which only a process outside can look up.
func stack(t *testing.T, w world) string {
	t.Helper()
	addr, err := writable(w.victim)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(uint64(addr))
}

func (w world) address() (addr uintptr) {
	var n uint64
	if _, err := fmt.Sscan(w.extra, &n); err != nil {
		panic(err)
	}
	return uintptr(n)
}

// traced attaches to a process and leaves it.
func traced(attach func() error, pid int) error {
	runtime.LockOSThread()
	if err := attach(); err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}

// ended reports whether the victim has ended, which takes a moment after a signal.
func ended(w world) bool {
	for range 100 {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.victim))
		if err != nil || strings.Contains(string(data), ") Z ") {
			return true
		}
		<-time.After(time.Millisecond)
	}
	return false
}

var processes = []escape{
	{name: "trace by attaching", needs: "tracing of processes that are not children", try: func(w world) error {
		return traced(func() error {
			if err := unix.PtraceAttach(w.victim); err != nil {
				return err
			}
			_, err := unix.Wait4(w.victim, nil, unix.WALL, nil)
			return err
		}, w.victim)
	}},
	{name: "trace by seizing", needs: "tracing of processes that are not children", try: func(w world) error { runtime.LockOSThread(); return unix.PtraceSeize(w.victim) }},
	{name: "read memory in proc", needs: "tracing of processes that are not children", prepare: stack, try: func(w world) error {
		f, err := os.Open(fmt.Sprintf("/proc/%d/mem", w.victim))
		if err != nil {
			return err
		}
		_, err = f.ReadAt(make([]byte, 8), int64(w.address()))
		return err
	}},
	{name: "write memory in proc", needs: "tracing of processes that are not children", prepare: stack, try: func(w world) error {
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", w.victim), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(make([]byte, 8), int64(w.address()))
		return err
	}},
	{name: "map of memory", try: func(w world) error {
		_, err := writable(w.victim)
		return err
	}},
	{name: "environment of a process", try: func(w world) error {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.victim))
		if err == nil && !strings.Contains(string(data), "KEY=canary") {
			err = errors.New("it has no key")
		}
		return err
	}},
	{name: "read memory by a call", needs: "tracing of processes that are not children", prepare: stack, try: func(w world) error {
		local, remote := vec(make([]byte, 8), w.address())
		_, err := unix.ProcessVMReadv(w.victim, local, remote, 0)
		return err
	}},
	{name: "write memory by a call", needs: "tracing of processes that are not children", prepare: stack, try: func(w world) error {
		local, remote := vec(make([]byte, 8), w.address())
		_, err := unix.ProcessVMWritev(w.victim, local, remote, 0)
		return err
	}},
	{name: "steal an open file", needs: "tracing of processes that are not children", got: world.changed, try: func(w world) error {
		pidfd, err := unix.PidfdOpen(w.victim, 0)
		if err != nil {
			return err
		}
		fd, err := unix.PidfdGetfd(pidfd, 3, 0)
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte("escaped"))
		return err
	}},
	{name: "open file of a process", got: world.changed, try: func(w world) error { return opened(fmt.Sprintf("/proc/%d/fd/3", w.victim), os.O_WRONLY) }},
	{name: "signal", got: ended, try: func(w world) error { return unix.Kill(w.victim, unix.SIGKILL) }},
	{name: "signal to a group", got: ended, try: func(w world) error { return unix.Kill(-w.victim, unix.SIGKILL) }},
	{name: "signal to a thread", got: ended, try: func(w world) error { return unix.Tgkill(w.victim, w.victim, unix.SIGKILL) }},
	{name: "signal by a descriptor", got: ended, try: func(w world) error {
		pidfd, err := unix.PidfdOpen(w.victim, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
	}},
	{name: "signal by a pipe", got: ended, try: func(w world) error {
		var p [2]int
		if err := unix.Pipe(p[:]); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, w.victim); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK); err != nil {
			return err
		}
		_, err := unix.Write(p[1], []byte("x"))
		return err
	}},
	{name: "limit of a process", try: func(w world) error {
		return unix.Prlimit(w.victim, unix.RLIMIT_FSIZE, &unix.Rlimit{}, nil)
	}},
}

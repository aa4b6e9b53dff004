package early

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// System calls and constants that package syscall lacks; their numbers are the same on all
// architectures.
const (
	sysMountSetattr   = 442
	sysCreateRuleset  = 444
	sysAddRule        = 445
	sysRestrictSelf   = 446
	atRecursive       = 0x8000
	oPath             = 0x200000
	pathBeneath       = 1
	capVersion3       = 0x20080522
	prCapBSetDrop     = 24
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	capAmbientClear   = 4
	seccompModeFilter = 2
)

// Attributes of a mount, for "bind" and "attributes".
const (
	ReadOnly = 1 << iota
	NoSetuid
	NoDevices
	NoExec
)

// roomSteps returns the steps by their names. Arguments are paths, text or decimal numbers.
func roomSteps() map[string]func(r *room, args []string) error {
	return map[string]func(*room, []string) error{
		"identity": func(_ *room, a []string) error { return identity(a[0], a[1]) },
		"private":  func(*room, []string) error { return syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") },
		"loopback": func(*room, []string) error { return loopback() },
		"folder":   func(_ *room, a []string) error { return folder(a[0], a[1]) },
		"file":     func(_ *room, a []string) error { return file(a[0], a[1], a[2]) },
		"link":     func(_ *room, a []string) error { return syscall.Symlink(a[0], a[1]) },
		"detach": func(_ *room, a []string) error {
			return errors.Join(syscall.Unmount(a[0], syscall.MNT_DETACH), syscall.Rmdir(a[0]))
		},
		"remove":     func(_ *room, a []string) error { return syscall.Unlink(a[0]) },
		"bind":       func(_ *room, a []string) error { return bind(a[0], a[1], a[2]) },
		"attributes": func(_ *room, a []string) error { return attributes(a[0], a[1], 0) },
		"tmpfs":      (*room).tmpfs,
		"view":       func(_ *room, a []string) error { return view(a[0], a[1], a[2]) },
		"overlay":    func(_ *room, a []string) error { return overlay(a[0], a[1], a[2], a[3]) },
		"processes": func(_ *room, a []string) error {
			return syscall.Mount("proc", a[0], "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
		},
		"terminals": func(_ *room, a []string) error {
			return syscall.Mount("devpts", a[0], "devpts", syscall.MS_NOSUID|syscall.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
		},
		"root":  func(_ *room, a []string) error { return root(a[0]) },
		"chdir": func(_ *room, a []string) error { return syscall.Chdir(a[0]) },
		"limit": func(_ *room, a []string) error { return limit(a[0], a[1]) },
		"most": func(r *room, a []string) error {
			r.most = usage{int(number(a[0])), int64(number(a[1]))}
			return os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // before the programs of the person
		},
		"ruleset":      (*room).ruleset,
		"allow":        func(r *room, a []string) error { return r.rules.allow(a[0]) },
		"restrict":     func(r *room, _ []string) error { return r.rules.restrict() },
		"capabilities": func(_ *room, a []string) error { return capabilities(a[0]) },
		"filter":       func(_ *room, a []string) error { return filter([]byte(a[0])) },
	}
}

// number parses a decimal number that this program has written.
func number(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64) // a wrong one would be zero, which the kernel refuses or limits most
	return n
}

// call makes a system call. The memory that the arguments point to stays in its place meanwhile.
//
//go:uintptrescapes
func call(trap, a, b, c, d, e uintptr) error {
	if _, _, errno := syscall.RawSyscall6(trap, a, b, c, d, e, 0); errno != 0 {
		return errno
	}
	return nil
}

// identity gives a user who is not root the same numbers in the namespace as outside.
func identity(uid, gid string) error {
	for _, f := range [][2]string{{"setgroups", "deny"}, {"uid_map", uid + " " + uid + " 1"}, {"gid_map", gid + " " + gid + " 1"}} {
		if err := os.WriteFile("/proc/self/"+f[0], []byte(f[1]), 0); err != nil {
			return err
		}
	}
	return nil
}

// loopback starts the loopback interface of the new network.
func loopback() (err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, syscall.Close(fd)) }()
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	return call(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)), 0, 0)
}

// folder makes a folder with those above it.
func folder(path, mode string) error {
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		if err := syscall.Access(path[:at], 0); err != nil {
			if err := folder(path[:at], "493"); err != nil { // 0755
				return err
			}
		}
	}
	if err := syscall.Mkdir(path, 0o700); err != nil {
		if errors.Is(err, syscall.EEXIST) {
			return nil
		}
		return err
	}
	return syscall.Chmod(path, uint32(number(mode)))
}

// file makes a file.
func file(path, content, mode string) error {
	if err := folder(path[:strings.LastIndexByte(path, '/')], "493"); err != nil {
		return err
	}
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_CLOEXEC, 0o600) // os.WriteFile makes twice as many system calls
	if err != nil {
		return err
	}
	for data := []byte(content); len(data) > 0 && err == nil; {
		var n int
		n, err = syscall.Write(fd, data)
		data = data[max(n, 0):]
	}
	return errors.Join(err, syscall.Close(fd), syscall.Chmod(path, uint32(number(mode))))
}

// bind mounts a folder or file with all that is mounted below it.
func bind(from, to, attr string) error {
	if err := syscall.Mount(from, to, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return err
	}
	return attributes(to, attr, atRecursive)
}

// attributes adds attributes to the mount at an absolute path.
func attributes(path, attr string, flags uintptr) error {
	at, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	set := [4]uint64{number(attr)}
	return call(sysMountSetattr, 0, uintptr(unsafe.Pointer(at)), flags, uintptr(unsafe.Pointer(&set)), unsafe.Sizeof(set))
}

// tmpfs mounts a file system in memory with options.
func (r *room) tmpfs(a []string) error {
	if strings.Contains(a[1], "size=") {
		r.full = append(r.full, a[2])
	}
	return syscall.Mount("tmpfs", a[0], "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, a[1])
}

// overlay mounts a view of the folder lower at to, whose changes go to upper. The folders are
// opened, because a path may have characters that mean something in the options. "volatile" leaves
// out all syncs: nothing in upper has to outlast a power failure.
func overlay(lower, upper, work, to string) error {
	// The last mount has left a mark that it was volatile. Only this process may remove it.
	mark := work + "/work/incompat/volatile"
	for _, err := range []error{syscall.Unlink(mark + "/dirty"), syscall.Rmdir(mark)} {
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	var fds [3]int
	for i, path := range []string{lower, upper, work} {
		fd, err := syscall.Open(path, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer syscall.Close(fd)
		fds[i] = fd
	}
	options := fmt.Sprintf("lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,userxattr,volatile", fds[0], fds[1], fds[2])
	return syscall.Mount("overlay", to, "overlay", syscall.MS_NOSUID|syscall.MS_NODEV, options)
}

// view shows a folder to read, as an overlay: unlike by a bind, nobody reaches a program by a socket in it. A folder in which
// others are mounted cannot be shown so, and is bound.
func view(lower, to, attr string) error {
	const mode = "493" // 0755
	empty := to + ".empty"
	if err := folder(empty, mode); err != nil {
		return err
	}
	var options string
	for _, path := range []string{lower, empty} {
		fd, err := syscall.Open(path, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		options += fmt.Sprintf(":/proc/self/fd/%d", fd)
	}
	err := syscall.Mount("overlay", to, "overlay", syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, "userxattr,lowerdir="+options[1:])
	if err != nil {
		err = bind(lower, to, attr)
	}
	return errors.Join(err, syscall.Rmdir(empty))
}

// root makes a mounted folder the root, and lets go of the old one.
func root(path string) error {
	if err := syscall.Chdir(path); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return err
	}
	return syscall.Chdir("/")
}

func limit(resource, most string) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(int(number(resource)), &now); err != nil {
		return err
	}
	n := min(now.Max, number(most))
	return syscall.Setrlimit(int(number(resource)), &syscall.Rlimit{Cur: n, Max: n})
}

// ruleset is a set of rules of Landlock that is not in force yet.
type ruleset struct {
	fd           int
	dirs, others uint64 // the rights to grant
}

// ruleset makes a set of rules: its attributes, and the rights to grant to folders and to others.
func (r *room) ruleset(a []string) error {
	attr := []byte(a[0])
	fd, _, errno := syscall.RawSyscall(sysCreateRuleset, uintptr(unsafe.Pointer(&attr[0])), uintptr(len(attr)), 0)
	if errno != 0 {
		return errno
	}
	r.rules = ruleset{int(fd), number(a[1]), number(a[2])}
	return nil
}

// allow grants the rights below a path.
func (s ruleset) allow(path string) error {
	fd, err := syscall.Open(path, oPath|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ENOENT) {
		return nil // nothing to grant
	}
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	rights := s.dirs
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		rights = s.others
	}
	rule := struct {
		rights uint64
		fd     int32
	}{rights, int32(fd)}
	return call(sysAddRule, uintptr(s.fd), pathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0)
}

// restrict puts the rules in force. Without new rights for programs, the kernel lets everybody do so.
func (s ruleset) restrict() error {
	if err := call(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := call(sysRestrictSelf, uintptr(s.fd), 0, 0, 0, 0); err != nil {
		return err
	}
	return syscall.Close(s.fd)
}

// capabilities leaves the thread and its programs no other capabilities than those in keep.
func capabilities(keep string) error {
	kept := number(keep)
	_ = call(syscall.SYS_PRCTL, prCapAmbient, capAmbientClear, 0, 0, 0) // an error before Linux 4.3, which has no such capabilities
	for c := range uintptr(64) {
		if kept&(1<<c) != 0 {
			continue
		}
		if err := call(syscall.SYS_PRCTL, prCapBSetDrop, c, 0, 0, 0); errors.Is(err, syscall.EINVAL) {
			break // the kernel has no more
		} else if err != nil {
			return err
		}
	}
	header := struct {
		version uint32
		pid     int32
	}{version: capVersion3}
	var data [2]struct{ effective, permitted, inheritable uint32 }
	if err := call(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0, 0, 0); err != nil {
		return err
	}
	for i := range data {
		half := uint32(kept >> (32 * i))
		data[i].effective &= half
		data[i].permitted &= half
		data[i].inheritable = 0
	}
	return call(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0, 0, 0)
}

// filter makes the kernel judge system calls by a program.
func filter(program []byte) error {
	const instruction = 8 // bytes
	prog := struct {
		size uint16
		code unsafe.Pointer
	}{uint16(len(program) / instruction), unsafe.Pointer(&program[0])}
	return call(syscall.SYS_PRCTL, syscall.PR_SET_SECCOMP, seccompModeFilter, uintptr(unsafe.Pointer(&prog)), 0, 0)
}

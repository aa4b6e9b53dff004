//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock confines files and TCP. The filter denies the calls that lead around it: other
// mounts and namespaces, the sockets of programs that are not confined, io_uring, which
// no filter sees, and what only root may do.

// newNamespace has the flags of clone and unshare for new namespaces. In a user namespace
// a process has all rights, and the kernel more code to attack.
const newNamespace = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// never are denied with EPERM, whatever their arguments.
var never = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, // keys of the whole login
	unix.SYS_SYSLOG, // messages of the kernel
}

// Offsets in seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // 64 bits each
)

// program is a classic BPF program that judges a system call.
type program []unix.SockFilter

func (p *program) add(code uint16, k uint32, jt, jf uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

// arg loads the low half of an argument: both architectures are little-endian, and the
// kernel looks at no more of the arguments that are judged here.
func (p *program) arg(n uint32) { p.load(offArgs + 8*n) }

// ret ends the program.
func (p *program) ret(k uint32) { p.add(unix.BPF_RET|unix.BPF_K, k, 0, 0) }

// deny ends the program: the call fails.
func (p *program) deny(errno unix.Errno) { p.ret(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

func (p *program) allow() { p.ret(unix.SECCOMP_RET_ALLOW) }

// when appends then, for the case that the loaded value has the relation to k.
func (p *program) when(relation uint16, k uint32, then func(*program)) {
	var body program
	then(&body)
	p.add(unix.BPF_JMP|relation|unix.BPF_K, k, 0, uint8(len(body)))
	*p = append(*p, body...)
}

// call appends a judgement of one system call. then must end the program in any case.
func (p *program) call(number uint32, then func(*program)) {
	p.when(unix.BPF_JEQ, number, then)
}

// reach says which sockets a filter lets a command make.
type reach int

const (
	nowhere  reach = iota
	anywhere       // TCP and UDP
	// inRoom are those of a command with a network of its own, which sees no Unix socket of
	// another program.
	inRoom
)

// families lists the address families of r.
func (r reach) families() []uint32 {
	return [][]uint32{nil, {unix.AF_INET, unix.AF_INET6}, {unix.AF_INET, unix.AF_INET6, unix.AF_UNIX}}[r]
}

// filter returns the program for this architecture.
func filter(allowed reach) program {
	var p program
	p.load(offArch)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, arch, 1, 0)
	p.deny(unix.EPERM) // other architectures number their calls differently
	p.load(offNumber)
	if otherABI > 0 {
		p.when(unix.BPF_JGE, otherABI, func(p *program) { p.deny(unix.ENOSYS) })
	}
	for _, number := range append(never, neverHere...) {
		p.call(number, func(p *program) { p.deny(unix.EPERM) })
	}
	p.namespaces()
	p.sockets(allowed)
	p.others()
	p.allow()
	return p
}

func (p *program) namespaces() {
	// The flags of clone3 are in memory. Without clone3, libraries use clone.
	p.call(unix.SYS_CLONE3, func(p *program) { p.deny(unix.ENOSYS) })
	p.call(unix.SYS_CLONE, func(p *program) { p.denyBits(0, newNamespace) })
	p.call(unix.SYS_UNSHARE, func(p *program) { p.denyBits(0, newNamespace|unix.CLONE_NEWTIME) })
}

// denyBits ends the program: it denies a call with one of the bits in argument n.
func (p *program) denyBits(n, bits uint32) {
	p.arg(n)
	p.when(unix.BPF_JSET, bits, func(p *program) { p.deny(unix.EPERM) })
	p.allow()
}

// sockets judges the making of sockets. Unix sockets are denied outside a room: programs that are not
// confined obey requests on them (a container engine, systemd, tmux), and neither
// Landlock nor a filter can tell such sockets from harmless ones.
func (p *program) sockets(allowed reach) {
	p.call(unix.SYS_SOCKET, func(p *program) {
		p.arg(0)
		for _, family := range allowed.families() {
			p.when(unix.BPF_JEQ, family, (*program).allow)
		}
		p.when(unix.BPF_JEQ, unix.AF_NETLINK, func(p *program) { // lists addresses; changing them needs a capability
			p.arg(2)
			p.when(unix.BPF_JEQ, unix.NETLINK_ROUTE, (*program).allow)
		})
		p.deny(unix.EACCES)
	})
	if allowed == inRoom {
		return
	}
	// A pair of stream sockets stays connected to itself; datagrams of a pair can be sent
	// to any Unix socket.
	p.call(unix.SYS_SOCKETPAIR, func(p *program) {
		p.arg(1)
		p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf, 0, 0) // without SOCK_CLOEXEC and SOCK_NONBLOCK
		p.when(unix.BPF_JEQ, unix.SOCK_STREAM, (*program).allow)
		p.when(unix.BPF_JEQ, unix.SOCK_SEQPACKET, (*program).allow)
		p.deny(unix.EACCES)
	})
}

func (p *program) others() {
	// Both type into a terminal as if the user did.
	p.call(unix.SYS_IOCTL, func(p *program) {
		p.arg(1)
		for _, request := range []uint32{unix.TIOCSTI, unix.TIOCLINUX} {
			p.when(unix.BPF_JEQ, request, func(p *program) { p.deny(unix.EPERM) })
		}
		p.allow()
	})
	// A limit of zero kills other programs of the user.
	p.call(unix.SYS_PRLIMIT64, func(p *program) {
		p.arg(0)
		p.when(unix.BPF_JEQ, 0, (*program).allow)
		p.deny(unix.EPERM)
	})
}

// install makes the kernel judge the calls of the calling thread, for ever.
func (p program) install() error {
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// hasSeccomp reports whether the kernel can apply a filter that returns errors.
func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

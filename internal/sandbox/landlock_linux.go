//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minABI is the first version of Landlock that confines truncate (Linux 6.2).
const minABI = 3

// Rights that change something. Executing stays free, and reading unless something is hidden.
const (
	fileRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// madeRights leaves out devices: MAKE_CHAR and MAKE_BLOCK are granted nowhere, because
	// a device made in a writable folder reaches the disk behind it.
	madeRights = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		// REFER moves and links files between writable folders. Without it, mv and git
		// fail even inside one.
		unix.LANDLOCK_ACCESS_FS_REFER
	deviceRights = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// landlock describes the kernel's Landlock.
type landlock struct {
	abi     int
	signals bool // can confine signals
}

// probeLandlock asks the kernel; abi is 0 if it has no Landlock, or if that is off.
func probeLandlock() landlock {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return landlock{}
	}
	l := landlock{abi: int(abi)}
	if l.abi < 6 {
		return l
	}
	// Before erratum 2 was fixed, a confined thread could not signal the other threads of
	// its own process. Go needs that, in us and in confined programs.
	const threadsFixed = 1 << 1
	errata, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	l.signals = errno == 0 && errata&threadsFixed != 0
	return l
}

// ruleset returns the rights and scopes that are denied unless a rule grants them.
func (l landlock) ruleset(p Policy) unix.LandlockRulesetAttr {
	r := unix.LandlockRulesetAttr{Handled_access_fs: fileRights | madeRights | deviceRights}
	if len(p.Hide) > 0 {
		r.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	if l.abi >= 4 && !p.Network {
		r.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if l.abi >= 5 {
		r.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if l.abi >= 6 {
		r.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if l.signals {
		r.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	return r
}

// restrict confines the calling thread for ever. The kernel also keeps a confined process
// from tracing others, and from their memory and environment in /proc.
func (l landlock) restrict(p Policy) (err error) {
	attr := l.ruleset(p)
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	rules := int(n)
	defer func() { err = errors.Join(err, unix.Close(rules)) }()
	for _, path := range p.grants() {
		if err := allow(rules, path, attr.Handled_access_fs&^deviceRights); err != nil {
			return err
		}
	}
	for _, path := range devices {
		if err := allow(rules, path, attr.Handled_access_fs); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := p.allowReading(rules); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

// allowReading grants the reading of all that is not hidden.
func (p Policy) allowReading(rules int) error {
	if len(p.Hide) == 0 {
		return nil
	}
	for _, path := range p.readable() {
		err := allow(rules, path, unix.LANDLOCK_ACCESS_FS_READ_FILE)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) { // it has gone, or cannot be read anyway
			return err
		}
	}
	return nil
}

// allow grants rights below a path, which has no link in it; to a file, those that a file
// can have.
func allow(rules int, path string, rights uint64) (err error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_add_rule for %s: %w", path, errno)
	}
	return nil
}

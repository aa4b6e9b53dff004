package sandbox

import "golang.org/x/sys/unix"

const (
	arch = unix.AUDIT_ARCH_X86_64
	// otherABI is the first number of the x32 calls, which hardly any kernel has.
	otherABI = 0x40000000
)

var neverHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM}

package sandbox

import "golang.org/x/sys/unix"

const (
	arch     = unix.AUDIT_ARCH_AARCH64
	otherABI = 0 // only amd64 has other calls
)

var neverHere []uint32

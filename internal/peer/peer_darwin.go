package peer

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxSystem is the highest user ID of a service account.
const maxSystem = 499

// IsSystem reports whether u is the administrator, or an account of a service: no
// person can have made it but the administrator.
func (u User) IsSystem() bool {
	n, err := strconv.ParseUint(string(u), 10, 32)
	return err == nil && n <= maxSystem
}

// sockets asks the kernel for its list of all sockets.
func sockets(query) ([]socket, error) {
	raw, err := unix.SysctlRaw("net.inet.tcp.pcblist_n")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return parseRecords(raw)
}

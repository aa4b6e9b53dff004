package peer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxSystem is the highest user ID of a service account.
const maxSystem = 499

// sockets asks the kernel for its list of all sockets.
func sockets(query) ([]socket, error) {
	raw, err := unix.SysctlRaw("net.inet.tcp.pcblist_n")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return parseRecords(raw)
}

package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// The reasons, beside ErrUnknown, why Check refuses a connection.
var (
	// ErrStranger means that the program belongs to another user.
	ErrStranger = errors.New("another user's program listens there")
	// ErrElsewhere means that the program runs on another machine.
	ErrElsewhere = errors.New("it is on another machine, whose users are not known here")
)

// Check returns nil if the user of this process holds the other end of a TCP
// connection, or is the only one who can accept it. The error is ErrStranger,
// ErrElsewhere, ErrUnknown, or the system's. Nothing secret may have been sent yet.
// Because Check looks at the open connection, nobody can take the place of the
// other end between the check and the first byte.
func Check(conn net.Conn) error { return finder(sockets).check(conn) }

// Dial connects to an address, as [net.Dialer.DialContext] does.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// CheckedDial returns dial with a check of each connection before it is used; a nil check
// accepts all.
func CheckedDial(dial Dial, check func(net.Conn) error) Dial {
	if check == nil {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := check(conn); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
}

func (f finder) check(conn net.Conn) error {
	local, remote, err := ends(conn)
	if err != nil {
		return err
	}
	if own, err := IsOwn(remote.Addr()); !own && err == nil && remote.Addr() != local.Addr() {
		return ErrElsewhere // with an error the system's table decides
	}
	if err := ambiguous(); err != nil {
		return err
	}
	u, err := f.holder(local, remote)
	switch {
	case err != nil:
		return err
	case u != Self():
		return fmt.Errorf("%w (%s's)", ErrStranger, u.Name())
	}
	return nil
}

// IsOwn reports whether an address is one of this machine's: a loopback address, or that
// of a network interface.
func IsOwn(addr netip.Addr) (bool, error) {
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true, nil
	}
	all, err := net.InterfaceAddrs()
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		ip, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		own, _ := netip.AddrFromSlice(ip.IP)
		return own.Unmap() == addr
	}), err
}

// Owner is the kind of user who runs a process.
type Owner int

// The owners.
const (
	Unknown Owner = iota // the system does not report it
	Nobody               // the process does not exist
	Mine                 // it runs as the user of this process
	Another              // it runs as another user
)

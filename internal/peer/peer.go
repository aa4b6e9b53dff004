// Package peer finds the user of this machine who listens on a port or holds the other
// end of a connection. It reports a user only if the system names that user as the
// owner of the socket; anything uncertain is an error.
package peer

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/user"
	"slices"
	"strings"
)

// User identifies a user of this machine: the numeric user ID on Unix, the SID on
// Windows.
type User string

// ErrNobody means that no process listens on the port.
var ErrNobody = errors.New("nobody listens there")

// ErrUnknown means that the system does not report the owner.
var ErrUnknown = errors.New("this system does not report its owner")

// Name returns the name of u, or its ID if it has none.
func (u User) Name() string {
	if known, err := user.LookupId(string(u)); err == nil {
		return known.Username
	}
	return string(u)
}

// socket is one of the system's TCP sockets.
type socket struct {
	local, remote netip.AddrPort // zero while it listens
	user          User           // empty if unknown
}

// query selects sockets: those that listen on a port and, if both are valid, the one
// with these two addresses.
type query struct {
	port          uint16
	local, remote netip.AddrPort
}

// finder returns at least the sockets that a query selects. It must look for listeners
// before it looks for the connection: a connection that nobody has accepted by then is
// in the queue of one of those listeners. The other way round, a listener could accept
// and close in between, and another user's could take its place.
type finder func(query) ([]socket, error)

// Listener returns the users that listen on a port of at, one of this machine's own
// addresses, of its loopback addresses or of all, sorted, each once. There can be several:
// one user may listen on one address and another on all. The error is ErrNobody,
// ErrUnknown, or the system's.
func Listener(at netip.AddrPort) ([]User, error) { return finder(sockets).listener(plain(at)) }

func (f finder) listener(at netip.AddrPort) ([]User, error) {
	all, err := f(query{port: at.Port()})
	if err != nil {
		return nil, err
	}
	return listeners(all, at)
}

func listeners(all []socket, at netip.AddrPort) ([]User, error) {
	var users []User
	for _, s := range all {
		addr := s.local.Addr()
		here := addr.IsLoopback() || addr.IsUnspecified() || addr == at.Addr()
		if s.remote.Port() != 0 || s.local.Port() != at.Port() || !here {
			continue
		}
		if s.user == "" {
			return nil, ErrUnknown
		}
		users = append(users, s.user)
	}
	if len(users) == 0 {
		return nil, ErrNobody
	}
	slices.Sort(users)
	return slices.Compact(users), nil
}

// Of returns the user who holds the other end of a TCP connection within this machine.
// Before the connection is accepted, that is the only user who listens on the port.
// The error is ErrUnknown, or the system's.
func Of(conn net.Conn) (User, error) { return finder(sockets).of(conn) }

func (f finder) of(conn net.Conn) (User, error) {
	local, remote, err := ends(conn)
	if err != nil {
		return "", err
	}
	return f.holder(local, remote)
}

// holder does the work of Of, given the addresses of both ends.
func (f finder) holder(local, remote netip.AddrPort) (User, error) {
	all, err := f(query{remote.Port(), remote, local})
	if err != nil {
		return "", err
	}
	return of(all, local, remote)
}

func of(all []socket, local, remote netip.AddrPort) (User, error) {
	i := slices.IndexFunc(all, func(s socket) bool { return s.local == remote && s.remote == local })
	if i >= 0 && all[i].user != "" {
		return all[i].user, nil
	}
	users, err := listeners(all, remote)
	if err != nil || len(users) > 1 {
		return "", ErrUnknown
	}
	return users[0], nil
}

// ends returns the addresses of both ends of a TCP connection. The error is
// ErrUnknown.
func ends(conn net.Conn) (local, remote netip.AddrPort, err error) {
	local, err1 := netip.ParseAddrPort(conn.LocalAddr().String())
	remote, err2 := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err := cmp.Or(err1, err2); err != nil {
		return local, remote, fmt.Errorf("%w: no TCP connection: %w", ErrUnknown, err)
	}
	return plain(local), plain(remote), nil
}

// IsLoopback reports whether host, a name or an address without a port, is this
// machine's own.
func IsLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// plain turns an IPv4 address embedded in IPv6 into IPv4, and drops the zone.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// This file asks for single sockets over netlink; see sock_diag(7), netlink(7) and the
// kernel's linux/inet_diag.h.

// errNoAnswer means that the kernel does not answer the question: a sandbox refuses
// netlink, a module is missing, or the socket was not found.
var errNoAnswer = errors.New("no answer over netlink")

// errMalformed means that an answer does not have the documented form. It is not
// errNoAnswer: what does not behave like the kernel is not asked in another way.
var errMalformed = fmt.Errorf("%w: the answer over netlink is malformed", ErrUnknown)

// The sizes of what is sent and received, in bytes.
const (
	sizeHeader  = unix.SizeofNlMsghdr
	sizeID      = 48                      // struct inet_diag_sockid
	sizeRequest = sizeHeader + 8 + sizeID // struct inet_diag_req_v2
	sizeMessage = 4 + sizeID + 20         // struct inet_diag_msg
	sizeAnswer  = 32 << 10                // the kernel's largest datagram
)

// The offsets in a message of what matters; those of the addresses are in its ID, which
// begins at atID.
const (
	atFamily, atState, atID, atOwner, atInode            = 0, 1, 4, 64, 68
	atSourcePort, atDestPort, atSource, atDest, atCookie = 0, 2, 4, 20, 40

	stateListen = 10 // TCP_LISTEN
)

// ask returns the sockets that q selects.
func ask(q query) ([]socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer unix.Close(fd)
	d := diag{fd: fd, buf: make([]byte, sizeAnswer)}
	var all []socket
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		found, err := d.exchange(listenersOf(family, q.port))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if !q.local.IsValid() || !q.remote.IsValid() {
		return all, nil
	}
	conn, err := d.connection(q.local, q.remote)
	if err != nil {
		return nil, err
	}
	return append(all, conn), nil
}

// request asks for sockets of one family.
type request struct {
	family uint8
	dump   bool // for any number of sockets, else for exactly one
	states uint32
	id     [sizeID]byte
}

// listenersOf requests the sockets of a family that listen on a port. A socket for both
// families has that of IPv6.
func listenersOf(family uint8, port uint16) request {
	r := request{family: family, dump: true, states: 1 << stateListen}
	binary.BigEndian.PutUint16(r.id[atSourcePort:], port)
	return r
}

// connectionOf requests the socket with two addresses.
func connectionOf(local, remote netip.AddrPort) request {
	r := request{family: unix.AF_INET6, states: ^uint32(0)}
	if local.Addr().Is4() && remote.Addr().Is4() {
		r.family = unix.AF_INET
	}
	binary.BigEndian.PutUint16(r.id[atSourcePort:], local.Port())
	binary.BigEndian.PutUint16(r.id[atDestPort:], remote.Port())
	copy(r.id[atSource:], local.Addr().AsSlice())
	copy(r.id[atDest:], remote.Addr().AsSlice())
	for i := atCookie; i < sizeID; i++ {
		r.id[i] = 0xff // any
	}
	return r
}

// diag is a conversation with the kernel.
type diag struct {
	fd  int
	seq uint32 // of the last request
	buf []byte
}

// connection returns the socket with two addresses. The kernel skips sockets that are
// bound to an interface, and may answer with a listener in their place; the tables have
// them all.
func (d *diag) connection(local, remote netip.AddrPort) (socket, error) {
	all, err := d.exchange(connectionOf(local, remote))
	if err != nil {
		return socket{}, err
	}
	i := slices.IndexFunc(all, func(s socket) bool { return s.local == local && s.remote == remote })
	if i < 0 {
		return socket{}, fmt.Errorf("%w: there is no such connection", errNoAnswer)
	}
	return all[i], nil
}

// exchange sends a request and returns the sockets of its answer.
func (d *diag) exchange(r request) ([]socket, error) {
	if err := d.send(r); err != nil {
		return nil, err
	}
	a := answer{seq: d.seq, dump: r.dump}
	for !a.complete {
		datagram, err := d.receive()
		if err != nil {
			return nil, err
		}
		if err := a.add(datagram); err != nil {
			return nil, err
		}
	}
	return a.all, nil
}

func (d *diag) send(r request) error {
	d.seq++
	flags := uint16(unix.NLM_F_REQUEST)
	if r.dump {
		flags |= unix.NLM_F_DUMP
	}
	b := binary.NativeEndian.AppendUint32(nil, sizeRequest)
	b = binary.NativeEndian.AppendUint16(b, unix.SOCK_DIAG_BY_FAMILY)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, d.seq)
	b = append(b, 0, 0, 0, 0, r.family, unix.IPPROTO_TCP, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, r.states)
	b = append(b, r.id[:]...)
	if err := unix.Sendto(d.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return nil
}

// receive returns the kernel's next datagram. It does not wait: the kernel answers
// while it takes the request.
func (d *diag) receive() ([]byte, error) {
	n, _, flags, from, err := unix.Recvmsg(d.fd, d.buf, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	kernel, netlink := from.(*unix.SockaddrNetlink)
	switch {
	case !netlink || kernel.Pid != 0:
		return nil, fmt.Errorf("%w: it is not the kernel's", errMalformed)
	case flags&unix.MSG_TRUNC != 0:
		return nil, fmt.Errorf("%w: it is too long", errMalformed)
	}
	return d.buf[:n], nil
}

// answer collects the messages of an answer.
type answer struct {
	seq      uint32 // of the request
	dump     bool   // it has any number of sockets and an end, else exactly one socket
	complete bool
	all      []socket
}

// add takes a datagram apart, which consists of whole messages. An answer that is not
// complete after it goes on in the next.
func (a *answer) add(datagram []byte) error {
	if len(datagram) < sizeHeader {
		return errMalformed
	}
	for rest := datagram; len(rest) > 0; {
		if a.complete || len(rest) < sizeHeader {
			return errMalformed
		}
		size := int(binary.NativeEndian.Uint32(rest))
		kind, flags := binary.NativeEndian.Uint16(rest[4:]), binary.NativeEndian.Uint16(rest[6:])
		if size < sizeHeader || size > len(rest) || binary.NativeEndian.Uint32(rest[8:]) != a.seq {
			return errMalformed
		}
		if flags&unix.NLM_F_DUMP_INTR != 0 || a.dump != (flags&unix.NLM_F_MULTI != 0) && kind != unix.NLMSG_ERROR {
			return errMalformed
		}
		if err := a.message(kind, rest[sizeHeader:size]); err != nil {
			return err
		}
		rest = rest[min((size+3)&^3, len(rest)):]
	}
	return nil
}

// message takes one message without its header.
func (a *answer) message(kind uint16, body []byte) error {
	switch kind {
	case unix.NLMSG_ERROR, unix.NLMSG_DONE:
		if len(body) < 4 {
			return errMalformed
		}
		code := int32(binary.NativeEndian.Uint32(body))
		if code < 0 {
			return fmt.Errorf("%w: %w", errNoAnswer, unix.Errno(-code))
		}
		if kind == unix.NLMSG_ERROR || !a.dump || code > 0 {
			return errMalformed // a receipt, which nobody asked for, or the end of no dump
		}
	case unix.SOCK_DIAG_BY_FAMILY:
		s, err := described(body)
		if err != nil {
			return err
		}
		a.all = append(a.all, s)
	default:
		return errMalformed
	}
	a.complete = kind == unix.NLMSG_DONE || !a.dump
	return nil
}

// described reads the description of a socket. As in the tables, a socket without an
// inode was not accepted yet or is closed: nobody holds it, whatever user it names.
func described(b []byte) (socket, error) {
	if len(b) < sizeMessage {
		return socket{}, errMalformed
	}
	size := 16
	switch b[atFamily] {
	case unix.AF_INET:
		size = 4
	case unix.AF_INET6:
	default:
		return socket{}, errMalformed
	}
	id := b[atID:]
	end := func(host, port int) netip.AddrPort {
		a, _ := netip.AddrFromSlice(id[host : host+size]) // its length is right
		return plain(netip.AddrPortFrom(a, binary.BigEndian.Uint16(id[port:])))
	}
	s := socket{local: end(atSource, atSourcePort), remote: end(atDest, atDestPort)}
	if b[atState] != stateListen && s.remote.Port() == 0 {
		return socket{}, errMalformed // it is neither
	}
	if binary.NativeEndian.Uint32(b[atInode:]) != 0 {
		s.user = number(binary.NativeEndian.Uint32(b[atOwner:]))
	}
	return s, nil
}

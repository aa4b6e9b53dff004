package peer

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// The kinds of the records that describe one socket, one after the other, and where
// in them is what matters (bsd/netinet/in_pcb.h and bsd/sys/socketvar.h of XNU). A
// record begins with its length and its kind.
const (
	kindSocket, kindPCB = 0x001, 0x010

	atRemotePort, atLocalPort, atVersion = 16, 18, 44
	atRemoteHost, atLocalHost            = 48, 64
	sizePCB                              = 80

	atUser, sizeSocket = 64, 72

	isIPv4 = 0x1
)

// parseRecords takes macOS's list of sockets apart. It begins and ends with a record
// that counts the others.
func parseRecords(raw []byte) ([]socket, error) {
	var all []socket
	order := binary.NativeEndian
	if len(raw) < 4 {
		return nil, ErrUnknown
	}
	for at := align(int(order.Uint32(raw))); at+8 <= len(raw); {
		size, kind := int(order.Uint32(raw[at:])), order.Uint32(raw[at+4:])
		if size < 8 || at+size > len(raw) {
			return nil, fmt.Errorf("%w: the list of sockets has another form than known", ErrUnknown)
		}
		record := raw[at : at+size]
		switch {
		case kind == kindPCB && size >= sizePCB:
			all = append(all, socket{
				local:  recorded(record[atLocalHost:], record[atLocalPort:], record[atVersion]),
				remote: recorded(record[atRemoteHost:], record[atRemotePort:], record[atVersion]),
			})
		case kind == kindSocket && size >= sizeSocket && len(all) > 0:
			all[len(all)-1].user = User(fmt.Sprint(order.Uint32(record[atUser:])))
		}
		at += align(size)
	}
	return all, nil
}

// recorded reads 16 bytes, whose last four are an address of IPv4, and a port.
func recorded(host, port []byte, version byte) netip.AddrPort {
	a := netip.AddrFrom16([16]byte(host[:16]))
	if version&isIPv4 != 0 {
		a = netip.AddrFrom4([4]byte(host[12:16]))
	}
	return plain(netip.AddrPortFrom(a, binary.BigEndian.Uint16(port)))
}

func align(n int) int { return (n + 7) &^ 7 }

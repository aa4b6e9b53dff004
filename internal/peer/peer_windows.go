package peer

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Self is the user who runs this program.
func Self() User { return userOf(windows.GetCurrentProcessToken()) }

// IsSystem reports whether u is the system, or an account of its services.
func (u User) IsSystem() bool { return u == "S-1-5-18" || u == "S-1-5-19" || u == "S-1-5-20" }

// userOf returns the user of a token, or "" if it cannot be read.
func userOf(token windows.Token) User {
	u, err := token.GetTokenUser()
	if err != nil {
		return ""
	}
	return User(u.User.Sid.String())
}

// Arguments of GetExtendedTcpTable: all sockets, with the processes that hold them.
const allWithProcess = 5

// sockets asks the system for its tables of all sockets.
func sockets(query) ([]socket, error) {
	table := windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")
	if err := table.Find(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var all []socket
	owners := map[uint32]User{}
	for _, v := range []struct {
		family uintptr
		size   int // of a row, in bytes
		row    func([]byte) (socket, uint32)
	}{{windows.AF_INET, 24, row4}, {windows.AF_INET6, 56, row6}} {
		rows, err := read(table, v.family, v.size)
		if err != nil {
			return nil, err
		}
		for ; len(rows) >= v.size; rows = rows[v.size:] {
			s, pid := v.row(rows)
			if _, known := owners[pid]; !known {
				owners[pid] = ownerOf(pid)
			}
			s.user = owners[pid]
			all = append(all, s)
		}
	}
	return all, nil
}

// read returns the rows of a table, which begins with their count.
func read(table *windows.LazyProc, family uintptr, row int) ([]byte, error) {
	size := uint32(16 << 10)
	for range 8 { // it may grow meanwhile
		buf := make([]byte, size)
		r, _, _ := table.Call(uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)), 0, family, allWithProcess, 0)
		switch err := windows.Errno(r); err {
		case 0:
			n := 4 + int(binary.LittleEndian.Uint32(buf))*row
			if n > len(buf) {
				return nil, ErrUnknown
			}
			return buf[4:n], nil
		case windows.ERROR_INSUFFICIENT_BUFFER:
		default:
			return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
	}
	return nil, ErrUnknown
}

// row4 reads a row of IPv4: the state, the local address and port, the remote ones, the
// process.
func row4(r []byte) (socket, uint32) {
	return socket{
		local:  plain(netip.AddrPortFrom(netip.AddrFrom4([4]byte(r[4:8])), binary.BigEndian.Uint16(r[8:]))),
		remote: remote(binary.LittleEndian.Uint32(r), netip.AddrPortFrom(netip.AddrFrom4([4]byte(r[12:16])), binary.BigEndian.Uint16(r[16:]))),
	}, binary.LittleEndian.Uint32(r[20:])
}

// row6 reads a row of IPv6: the local address, scope and port, the remote ones, the
// state, the process.
func row6(r []byte) (socket, uint32) {
	return socket{
		local:  plain(netip.AddrPortFrom(netip.AddrFrom16([16]byte(r[0:16])), binary.BigEndian.Uint16(r[20:]))),
		remote: remote(binary.LittleEndian.Uint32(r[48:]), netip.AddrPortFrom(netip.AddrFrom16([16]byte(r[24:40])), binary.BigEndian.Uint16(r[44:]))),
	}, binary.LittleEndian.Uint32(r[52:])
}

const stateListen = 2

// remote returns the remote address, or zero for a listening socket, where the system
// leaves garbage.
func remote(state uint32, a netip.AddrPort) netip.AddrPort {
	if state == stateListen {
		return netip.AddrPort{}
	}
	return plain(a)
}

// ownerOf returns the user of a process, or "" if the system refuses, as it does for
// the processes of other users.
func ownerOf(pid uint32) User {
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(p)
	var token windows.Token
	if err := windows.OpenProcessToken(p, windows.TOKEN_QUERY, &token); err != nil {
		return ""
	}
	defer token.Close()
	return userOf(token)
}

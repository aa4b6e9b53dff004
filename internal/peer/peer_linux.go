package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxSystem is the highest user ID of a service account.
const maxSystem = 999

// sockets asks the kernel for the selected sockets, or reads its tables if it does not
// answer such questions.
func sockets(q query) ([]socket, error) {
	all, err := ask(q)
	if errors.Is(err, errNoAnswer) {
		return table(q)
	}
	return all, err
}

// table reads the kernel's tables. That takes milliseconds even if they are short, as
// the kernel walks all its hash buckets.
func table(query) ([]socket, error) {
	var all []socket
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && name == "/proc/net/tcp6" {
			continue // a system without IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		found, err := parse(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// The fields of a line that matter.
const (
	fieldLocal, fieldRemote, fieldState, fieldUser, fieldInode = 1, 2, 3, 7, 9
	listening                                                  = "0A"
)

// parse takes a table apart, whose first line is a heading.
func parse(r io.Reader) ([]socket, error) {
	var all []socket
	lines := bufio.NewScanner(r)
	for n := 0; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if n == 0 || len(fields) <= fieldInode {
			continue
		}
		local, err1 := address(fields[fieldLocal])
		remote, err2 := address(fields[fieldRemote])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		s := socket{local: local, remote: remote}
		if fields[fieldState] != listening && s.remote.Port() == 0 {
			continue
		}
		if fields[fieldInode] != "0" { // else it was not accepted yet, or is closed
			s.user = User(fields[fieldUser])
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// address reads ADDRESS:PORT. Both are hexadecimal; the address is in words of four
// bytes, each in the order of the machine.
func address(s string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(s, ":")
	raw, err1 := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if len(raw) != 4 && len(raw) != 16 || err1 != nil || err2 != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address", s)
	}
	for word := range slices.Chunk(raw, 4) {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	a, _ := netip.AddrFromSlice(raw) // its length was checked
	return plain(netip.AddrPortFrom(a, uint16(n))), nil
}

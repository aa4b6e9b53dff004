//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// serve listens, accepts all connections, and returns the address.
func serve(network, address string) func(*testing.T, world) string {
	return func(t *testing.T, w world) string {
		t.Helper()
		l, err := net.Listen(network, strings.ReplaceAll(address, "OUT", w.out))
		if err != nil && strings.HasPrefix(address, "[::1]") {
			t.Skipf("no IPv6 here: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_ = conn.Close()
			}
		}()
		if strings.HasPrefix(network, "unix") {
			if err := allowAll(l.Addr().String()); err != nil {
				t.Fatal(err)
			}
		}
		return l.Addr().String()
	}
}

// allowAll lets every user connect to a socket that is a file.
func allowAll(name string) error {
	if !filepath.IsAbs(name) {
		return nil
	}
	return os.Chmod(name, 0o777)
}

// receive listens for datagrams; whether one came is in the file "got" beside the
// socket's.
func receive(network, address string) func(*testing.T, world) string {
	return func(t *testing.T, w world) string {
		t.Helper()
		conn, err := net.ListenPacket(network, strings.NewReplacer("OUT", w.out, "PID", strconv.Itoa(w.victim)).Replace(address))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		go func() {
			if _, _, err := conn.ReadFrom(make([]byte, 100)); err == nil {
				_ = put(w.outside("new"))
			}
		}()
		return conn.LocalAddr().String()
	}
}

// received reports whether the datagram came, which takes a moment.
func received(w world) bool {
	for range 100 {
		if w.made() {
			return true
		}
		<-time.After(time.Millisecond)
	}
	return false
}

func dial(network string) func(world) error {
	return func(w world) error {
		conn, err := net.Dial(network, w.extra)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

func send(network string) func(world) error {
	return func(w world) error {
		conn, err := net.Dial(network, w.extra)
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte("escaped"))
		return firstError(err, conn.Close())
	}
}

func listen(network, address string) func(world) error {
	return func(world) error {
		l, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		return l.Close()
	}
}

func socket(domain, kind, protocol int) func(world) error {
	return func(world) error {
		fd, err := unix.Socket(domain, kind, protocol)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}
}

// byPair sends a datagram with one end of a pair.
func byPair(w world) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("escaped"), 0, &unix.SockaddrUnix{Name: w.extra})
}

var sockets = []escape{
	{name: "TCP", prepare: serve("tcp", "127.0.0.1:0"), try: dial("tcp")},
	{name: "TCP over IPv6", needs: "IPv6", prepare: serve("tcp", "[::1]:0"), try: dial("tcp")},
	{name: "TCP server", harmless: "the network is its own", try: listen("tcp", "127.0.0.1:0")},
	{name: "multipath TCP", needs: "multipath TCP", prepare: serve("tcp", "127.0.0.1:0"), try: func(w world) error {
		_, port, err := net.SplitHostPort(w.extra)
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return err
		}
		const multipath = 262
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, multipath)
		if err != nil {
			return err
		}
		return unix.Connect(fd, &unix.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{name: "TCP from a shell", prepare: serve("tcp", "127.0.0.1:0"), try: func(w world) error {
		return sh("exec bash -c 'exec 3<>/dev/tcp/%s'", strings.Replace(w.extra, ":", "/", 1))
	}},
	{name: "UDP", prepare: receive("udp", "127.0.0.1:0"), got: received, try: send("udp")},
	{name: "UDP server", harmless: "the network is its own", try: func(world) error {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		return conn.Close()
	}},
	{name: "raw socket", root: true, network: true, try: socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
	{name: "packet socket", root: true, network: true, try: socket(unix.AF_PACKET, unix.SOCK_RAW, 0)},
	{name: "socket to the host of a virtual machine", needs: "virtual sockets", network: true, try: socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
	{name: "socket to the audit of the kernel", needs: "the audit of the kernel", network: true, try: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)},
	{name: "routes of the kernel", needs: "a loopback device that root may set", root: true, network: true, try: func(world) error { return setLoopback() }},
	{name: "Unix socket", network: true, prepare: serve("unix", "OUT/socket"), try: dial("unix")},
	{name: "Unix packets", network: true, prepare: serve("unixpacket", "OUT/socket"), try: dial("unixpacket")},
	{name: "Unix datagram", network: true, prepare: receive("unixgram", "OUT/socket"), got: received, try: send("unixgram")},
	{name: "abstract socket", network: true, prepare: func(t *testing.T, w world) string {
		return serve("unix", fmt.Sprintf("@sandbox-test-%d", w.victim))(t, w)
	}, try: dial("unix")},
	{name: "abstract datagram", network: true, prepare: receive("unixgram", "@sandbox-test-PID"), got: received, try: send("unixgram")},
	{name: "datagram by a pair", network: true, prepare: receive("unixgram", "OUT/socket"), got: received, try: byPair},
	{name: "abstract datagram by a pair", network: true, prepare: receive("unixgram", "@sandbox-test-PID"), got: received, try: byPair},
}

// setLoopback sets the size of packets on the loopback device to its present size.
func setLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFMTU, req); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFMTU, req)
}

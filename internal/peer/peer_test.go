package peer

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listen returns a listener and its port.
func listen(t *testing.T, network, address string) (net.Listener, int) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skip(err) // a system without IPv6
	}
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return l, l.Addr().(*net.TCPAddr).Port
}

func loopback(port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.IPv6Loopback(), uint16(port))
}

func TestListener(t *testing.T) {
	for _, at := range []struct{ network, address string }{
		{"tcp4", "127.0.0.1:0"}, {"tcp4", "0.0.0.0:0"}, {"tcp", ":0"}, {"tcp6", "[::1]:0"},
	} {
		t.Run(at.network+at.address, func(t *testing.T) {
			l, port := listen(t, at.network, at.address)
			for way, f := range ways() {
				got, err := f.listener(loopback(port))
				if d := cmp.Diff([]User{Self()}, got); d != "" || err != nil {
					t.Error(way, d, err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			for way, f := range ways() {
				if got, err := f.listener(loopback(port)); !errors.Is(err, ErrNobody) {
					t.Error(way, got, err)
				}
			}
		})
	}
}

// A user who listens on an interface of this machine is known too.
func TestInterface(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.7:5765")
	all := []socket{{local: at, user: "1001"}}
	if got, err := listeners(all, at); len(got) != 1 || got[0] != "1001" || err != nil {
		t.Error(got, err)
	}
	if u, err := of(all, netip.MustParseAddrPort("10.0.0.7:40000"), at); u != "1001" || err != nil {
		t.Error(u, err)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || !ip.IP.IsGlobalUnicast() || ip.IP.To4() == nil {
			continue
		}
		l, port := listen(t, "tcp4", net.JoinHostPort(ip.IP.String(), "0"))
		addr := l.Addr().(*net.TCPAddr).AddrPort().Addr()
		if own, err := IsOwn(addr); !own || err != nil {
			t.Errorf("%s: %v, %v", addr, own, err)
		}
		conn := dial(t, l)
		for way, f := range ways() {
			if got, err := f.listener(netip.AddrPortFrom(addr, uint16(port))); len(got) != 1 || got[0] != Self() || err != nil {
				t.Error(way, got, err)
			}
			if u, err := f.of(conn); u != Self() || err != nil {
				t.Error(way, u, err)
			}
		}
	}
	if own, err := IsOwn(netip.MustParseAddr("198.51.100.2")); own || err != nil {
		t.Error("another machine's:", own, err)
	}
}

// The other end is known before and after it was accepted.
func TestOf(t *testing.T) {
	l, _ := listen(t, "tcp", "127.0.0.1:0")
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	for way, f := range ways() {
		if u, err := f.of(near); u != Self() || err != nil {
			t.Errorf("before it was accepted, by %s: %s, %v", way, u, err)
		}
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	for way, f := range ways() {
		for _, c := range []net.Conn{near, far} {
			if u, err := f.of(c); u != Self() || err != nil {
				t.Error(way, u, err)
			}
		}
	}
	a, _ := net.Pipe()
	if u, err := Of(a); err == nil {
		t.Error("a pipe has a user", u)
	}
}

// A port whose listeners belong to several users is nobody's for certain.
func TestListeners(t *testing.T) {
	at := netip.MustParseAddrPort
	one, other := User("1000"), User("1001")
	for name, c := range map[string]struct {
		all  []socket
		want []User
		err  error
	}{
		"nobody":            {nil, nil, ErrNobody},
		"one":               {[]socket{{local: at("127.0.0.1:5765"), user: one}}, []User{one}, nil},
		"on two addresses":  {[]socket{{local: at("127.0.0.1:5765"), user: one}, {local: at("[::1]:5765"), user: one}}, []User{one}, nil},
		"two users":         {[]socket{{local: at("0.0.0.0:5765"), user: other}, {local: at("127.0.0.1:5765"), user: one}}, []User{one, other}, nil},
		"not told":          {[]socket{{local: at("127.0.0.1:5765")}}, nil, ErrUnknown},
		"another port":      {[]socket{{local: at("127.0.0.1:5766"), user: one}}, nil, ErrNobody},
		"another interface": {[]socket{{local: at("10.0.0.7:5765"), user: one}}, nil, ErrNobody},
		"a connection":      {[]socket{{local: at("127.0.0.1:5765"), remote: at("127.0.0.1:9"), user: one}}, nil, ErrNobody},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := listeners(c.all, loopback(5765))
			if d := cmp.Diff(c.want, got); d != "" || !errors.Is(err, c.err) {
				t.Error(d, err)
			}
			_, err = of(c.all, at("127.0.0.1:40000"), at("127.0.0.1:5765"))
			if (err == nil) != (len(c.want) == 1) {
				t.Error("of a connection that was not accepted:", err)
			}
		})
	}
}

// TestParseRecords holds the form of macOS's list, as its headers describe it.
func TestParseRecords(t *testing.T) {
	order := binary.NativeEndian
	record := func(kind uint32, size int, fill func([]byte)) []byte {
		r := make([]byte, align(size))
		order.PutUint32(r, uint32(size))
		order.PutUint32(r[4:], kind)
		fill(r)
		return r
	}
	count := record(0, 24, func([]byte) {})
	pcb := record(kindPCB, 100, func(r []byte) {
		binary.BigEndian.PutUint16(r[atLocalPort:], 5765)
		copy(r[atLocalHost+12:], []byte{127, 0, 0, 1})
		r[atVersion] = isIPv4
	})
	sock := record(kindSocket, 76, func(r []byte) { order.PutUint32(r[atUser:], 501) })
	other := record(0x020, 204, func([]byte) {})
	var raw []byte
	for _, r := range [][]byte{count, pcb, sock, other, count} {
		raw = append(raw, r...)
	}
	all, err := parseRecords(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := listeners(all, loopback(5765)); len(got) != 1 || got[0] != "501" || err != nil {
		t.Error(got, err)
	}
	for name, broken := range map[string][]byte{"empty": nil, "no length": append(count, make([]byte, 16)...), "cut": raw[:len(count)+50]} {
		if all, err := parseRecords(broken); !errors.Is(err, ErrUnknown) {
			t.Error(name, all, err)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example.com": false, "0.0.0.0": false, "192.0.2.1": false, "127.0.0.1:80": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %v", host, got)
		}
	}
}

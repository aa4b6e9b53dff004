package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/peer/peertest"
)

// needsNetlink skips a test where a sandbox refuses netlink.
func needsNetlink(t *testing.T) {
	t.Helper()
	if _, err := ask(query{port: 1}); errors.Is(err, errNoAnswer) {
		t.Skip(err)
	}
}

// agree fails unless question and table give the same answers about a connection and
// both of its ports.
func agree(t *testing.T, state string, conn net.Conn) {
	t.Helper()
	local, remote, err := ends(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []query{{remote.Port(), remote, local}, {local.Port(), local, remote}} {
		asked, err := ask(q)
		if err != nil {
			t.Errorf("%s: ask: %v", state, err)
			continue
		}
		read, err := table(q)
		if err != nil {
			t.Fatal(err)
		}
		// The table has all the sockets.
		read = slices.DeleteFunc(read, func(s socket) bool {
			isConn := s.local == q.local && s.remote == q.remote
			return !isConn && (s.remote.Port() != 0 || s.local.Port() != q.port)
		})
		order := func(a, b socket) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
		slices.SortFunc(read, order)
		slices.SortFunc(asked, order)
		same := cmp.Comparer(func(a, b socket) bool { return a == b })
		if d := cmp.Diff(read, asked, same); d != "" {
			t.Errorf("%s: table (-) and question (+) differ:\n%s", state, d)
		}
	}
}

// TestAskAgrees compares the answers for real sockets in each state.
func TestAskAgrees(t *testing.T) {
	needsNetlink(t)
	for _, at := range []struct{ network, address, to string }{
		{"tcp4", "127.0.0.1:0", "127.0.0.1"},
		{"tcp4", "127.0.0.2:0", "127.0.0.2"},
		{"tcp4", "0.0.0.0:0", "127.0.0.3"},
		{"tcp", "[::]:0", "127.0.0.1"},
		{"tcp", "[::]:0", "::1"},
		{"tcp6", "[::1]:0", "::1"},
	} {
		t.Run(at.address+" "+at.to, func(t *testing.T) {
			l, port := listen(t, at.network, at.address)
			conn := reach(t, netip.AddrPortFrom(netip.MustParseAddr(at.to), uint16(port)).String())
			agree(t, "in the queue", conn)
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			agree(t, "accepted", conn)
			if err := far.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			agree(t, "half closed", conn)
			_ = far.Close() // the table shows what became of it
			agree(t, "closed", conn)
		})
	}
	for _, what := range []string{"accept", "queue"} {
		t.Run("stranger "+what, func(t *testing.T) {
			s := peertest.Start(t, "TestStrangerProcess", what)
			conn := reach(t, s.Next("listens at "))
			if what == "accept" {
				s.Next("accepted")
			}
			agree(t, what, conn)
		})
	}
}

// TestAskNotFound: the question misses sockets that are bound to an interface; the
// tables decide then.
func TestAskNotFound(t *testing.T) {
	needsNetlink(t)
	var bind error
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { bind = unix.BindToDevice(int(fd), "lo") })
	}}
	l, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil || bind != nil {
		t.Skip(err, bind)
	}
	defer l.Close()
	conn := dial(t, l)
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	local, remote, err := ends(conn)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := ask(query{remote.Port(), remote, local}); !errors.Is(err, errNoAnswer) {
		t.Errorf("ask finds %v, %v", all, err)
	}
	_ = l.Close() // the connection decides
	check(t, "accepted", conn, nil)
}

// TestMappedListener: a socket of IPv6 may listen on an address of IPv4.
func TestMappedListener(t *testing.T) {
	needsNetlink(t)
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip(err)
	}
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	mapped := netip.MustParseAddr("::ffff:127.0.0.1").As16()
	if err := errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0),
		unix.Bind(fd, &unix.SockaddrInet6{Addr: mapped}),
		unix.Listen(fd, 1),
	); err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn := reach(t, fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port))
	agree(t, "in the queue", conn)
	check(t, "in the queue", conn, nil)
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	agree(t, "accepted", conn)
	check(t, "accepted", conn, nil)
}

// exchanged is a request with the first datagram of its real answer.
type exchanged struct {
	request
	datagram []byte
	all      []socket
}

// exchanges returns a dump, with a listener, and a question for a connection.
func exchanges(t *testing.T) []exchanged {
	t.Helper()
	needsNetlink(t)
	l, port := listen(t, "tcp4", "127.0.0.1:0")
	conn := dial(t, l)
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() }) // the test has ended
	local, remote, err := ends(conn)
	if err != nil {
		t.Fatal(err)
	}
	var list []exchanged
	for _, r := range []request{listenersOf(unix.AF_INET, uint16(port)), connectionOf(remote, local)} {
		d := talk(t)
		if err := d.send(r); err != nil {
			t.Fatal(err)
		}
		datagram, err := d.receive()
		if err != nil {
			t.Fatal(err)
		}
		a := answer{seq: d.seq, dump: r.dump}
		if err := a.add(datagram); err != nil || len(a.all) != 1 || a.all[0].user != Self() {
			t.Fatal(a, err)
		}
		list = append(list, exchanged{r, slices.Clone(datagram), a.all})
	}
	return list
}

// talk returns a conversation with the kernel that has asked nothing.
func talk(t *testing.T) diag {
	t.Helper()
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) }) // the test has ended
	return diag{fd: fd, buf: make([]byte, sizeAnswer)}
}

// TestMalformedAnswer: an answer that is cut or changed is an error, and never a yes.
func TestMalformedAnswer(t *testing.T) {
	for _, e := range exchanges(t) {
		read := func(b []byte) (answer, error) {
			a := answer{seq: 1, dump: e.dump}
			return a, a.add(b)
		}
		for n := range e.datagram {
			if a, err := read(e.datagram[:n]); err == nil && a.complete {
				t.Errorf("the first %d of %d bytes are a whole answer: %v", n, len(e.datagram), a.all)
			} else if err == nil && n%(sizeHeader+sizeMessage) != 0 {
				t.Errorf("the first %d of %d bytes are whole messages", n, len(e.datagram))
			}
		}
		for name, change := range map[string]func(b []byte){
			"no length":         func(b []byte) { binary.NativeEndian.PutUint32(b, 0) },
			"a short length":    func(b []byte) { binary.NativeEndian.PutUint32(b, sizeHeader+sizeMessage-1) },
			"a long length":     func(b []byte) { binary.NativeEndian.PutUint32(b, uint32(len(b)+1)) },
			"another kind":      func(b []byte) { binary.NativeEndian.PutUint16(b[4:], 21) },
			"nothing":           func(b []byte) { binary.NativeEndian.PutUint16(b[4:], unix.NLMSG_NOOP) },
			"overrun":           func(b []byte) { binary.NativeEndian.PutUint16(b[4:], unix.NLMSG_OVERRUN) },
			"an interruption":   func(b []byte) { b[6] |= unix.NLM_F_DUMP_INTR },
			"the other form":    func(b []byte) { b[6] ^= unix.NLM_F_MULTI },
			"another request":   func(b []byte) { b[8]++ },
			"an unknown family": func(b []byte) { b[sizeHeader] = unix.AF_UNIX },
		} {
			b := slices.Clone(e.datagram)
			change(b)
			if a, err := read(b); !errors.Is(err, errMalformed) || errors.Is(err, errNoAnswer) || !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v, %v", name, a, err)
			}
		}
		if a, err := read(append(slices.Clone(e.datagram), e.datagram...)); !errors.Is(err, errMalformed) && !e.dump {
			t.Error("two answers to one question:", a, err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			b := slices.Clone(e.datagram)
			for range 1 + random.IntN(3) {
				b[random.IntN(sizeHeader)] = byte(random.Uint32())
			}
			if a, err := read(b); err == nil && !slices.Equal(a.all, e.all) {
				t.Fatalf("% x: %v", b[:sizeHeader], a.all)
			}
		}
	}
}

// TestRefusal: the kernel's error is no answer, and its receipt is malformed.
func TestRefusal(t *testing.T) {
	for _, kind := range []uint16{unix.NLMSG_ERROR, unix.NLMSG_DONE} {
		for code, want := range map[int32]error{-int32(unix.ENOENT): unix.ENOENT, -int32(unix.EPERM): errNoAnswer, 0: errMalformed, 7: errMalformed} {
			flags := uint16(0)
			if code == 7 {
				flags = unix.NLM_F_MULTI // a dump that ends with a count
			}
			b := binary.NativeEndian.AppendUint32(nil, sizeHeader+4)
			b = binary.NativeEndian.AppendUint16(b, kind)
			b = binary.NativeEndian.AppendUint16(b, flags)
			b = binary.NativeEndian.AppendUint32(b, 1)
			b = binary.NativeEndian.AppendUint32(b, 0)
			b = binary.NativeEndian.AppendUint32(b, uint32(code))
			a := answer{seq: 1, dump: code == 7}
			if err := a.add(b); !errors.Is(err, want) || a.complete {
				t.Errorf("kind %d, code %d: %v", kind, code, err)
			}
			if a := (answer{seq: 1}); a.add(b[:sizeHeader+3]) == nil {
				t.Errorf("kind %d without a code is taken", kind)
			}
		}
	}
}

// TestReceive: a datagram that is cut or not the kernel's is malformed; none is no
// answer.
func TestReceive(t *testing.T) {
	needsNetlink(t)
	_, port := listen(t, "tcp4", "127.0.0.1:0")
	d := talk(t)
	if b, err := d.receive(); !errors.Is(err, errNoAnswer) {
		t.Errorf("nothing was asked: %x, %v", b, err)
	}
	d.buf = d.buf[:sizeHeader+sizeMessage-1]
	if all, err := d.exchange(listenersOf(unix.AF_INET, uint16(port))); !errors.Is(err, errMalformed) {
		t.Errorf("cut: %v, %v", all, err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if _, err := unix.Write(pair[1], exchanges(t)[0].datagram); err != nil {
		t.Fatal(err)
	}
	d = diag{fd: pair[0], buf: make([]byte, sizeAnswer)}
	if b, err := d.receive(); !errors.Is(err, errMalformed) {
		t.Errorf("another sender: %x, %v", b, err)
	}
}

// refuseNetlink makes the kernel refuse sockets of netlink to this process from now on,
// as sandboxes do.
func refuseNetlink() error {
	const (
		load, jump, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
		atNumber, atArg = 0, 16 // in struct seccomp_data
	)
	program := []unix.SockFilter{
		{Code: load, K: atNumber},
		{Code: jump, Jf: 3, K: unix.SYS_SOCKET},
		{Code: load, K: atArg},
		{Code: jump, Jf: 1, K: unix.AF_NETLINK},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	return nil
}

// refused marks the process of TestNetlinkRefused.
const refused = "AGENT_TEST_NETLINK_REFUSED"

// TestNetlinkRefused runs the tests of this package again where netlink is refused: the
// tables take its place.
func TestNetlinkRefused(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the filter is for little-endian machines of 64 bits")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRefusedProcess$", "-test.v")
	cmd.Env = append(os.Environ(), refused+"=1")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "--- SKIP: TestRefusedProcess (") {
		t.Skip(string(out))
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRefusedProcess is the other process of TestNetlinkRefused.
func TestRefusedProcess(t *testing.T) {
	if os.Getenv(refused) == "" {
		return
	}
	if err := refuseNetlink(); err != nil {
		t.Skip(err)
	}
	if _, err := ask(query{port: 1}); !errors.Is(err, errNoAnswer) || !errors.Is(err, unix.EPERM) {
		t.Fatal("netlink is not refused:", err)
	}
	t.Run("own", TestCheckOwn)
	t.Run("doubt", TestCheckDoubt)
	t.Run("of", TestOf)
	t.Run("listener", TestListener)
	t.Run("stranger", TestCheckStranger)
}

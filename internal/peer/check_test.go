package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/bb2d0cf4/agent/internal/peer/peertest"
)

// dial returns a connection to a listener.
func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	return reach(t, l.Addr().String())
}

func reach(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // a test may have closed it
	return conn
}

// TestCheckOwn: a program of the same user passes before and after it has accepted.
func TestCheckOwn(t *testing.T) {
	for _, at := range []struct{ network, address string }{
		{"tcp4", "127.0.0.1:0"}, {"tcp4", "127.0.0.2:0"}, {"tcp6", "[::1]:0"}, {"tcp", ":0"},
	} {
		t.Run(at.address, func(t *testing.T) {
			l, port := listen(t, at.network, at.address)
			address := l.Addr().String()
			if at.address == ":0" {
				address = fmt.Sprintf("127.0.0.1:%d", port)
			}
			conn := reach(t, address)
			check(t, "not accepted", conn, nil)
			other, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			_ = l.Close() // the accepted connection decides
			check(t, "accepted", conn, nil)
		})
	}
}

// check checks a connection in each way.
func check(t *testing.T, state string, conn net.Conn, want error) {
	t.Helper()
	for way, f := range ways() {
		if err := f.check(conn); !errors.Is(err, want) {
			t.Errorf("%s, by %s: %v", state, way, err)
		}
	}
}

// TestCheckDoubt: a connection whose owner is unknown is refused.
func TestCheckDoubt(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	check(t, "no TCP", a, ErrUnknown)
	l, _ := listen(t, "tcp4", "127.0.0.1:0")
	conn := dial(t, l)
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = l.Close(), other.Close() // a failure shows in the read
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	check(t, "nobody holds the other end", conn, ErrUnknown)
}

// elsewhere is a connection to another machine.
type elsewhere struct{ net.Conn }

func (elsewhere) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(198, 51, 100, 1), Port: 40_000}
}

func (elsewhere) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(198, 51, 100, 2), Port: 5765}
}

func TestCheckElsewhere(t *testing.T) {
	check(t, "another machine", elsewhere{}, ErrElsewhere)
}

// TestStrangerProcess is the other user's side of the next test.
func TestStrangerProcess(t *testing.T) {
	what, ok := peertest.Asked()
	if !ok {
		return
	}
	l, _ := listen(t, "tcp4", "127.0.0.1:0")
	fmt.Println("listens at " + l.Addr().String())
	if what == "accept" {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Println("accepted")
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
}

func TestCheckStranger(t *testing.T) {
	for _, what := range []string{"accept", "queue"} {
		s := peertest.Start(t, "TestStrangerProcess", what)
		conn := reach(t, s.Next("listens at "))
		if what == "accept" {
			s.Next("accepted")
		}
		check(t, what, conn, ErrStranger)
		uid := User(strconv.Itoa(peertest.UID))
		port := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Port()
		for way, f := range ways() {
			if got, err := f.of(conn); got != uid || err != nil {
				t.Errorf("%s, by %s: of returns %q, %v", what, way, got, err)
			}
			if got, err := f.listener(loopback(int(port))); len(got) != 1 || got[0] != uid || got[0].IsSystem() || err != nil {
				t.Errorf("%s, by %s: listener returns %q, %v", what, way, got, err)
			}
		}
	}
}

func TestProcess(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int]Owner{os.Getpid(): Mine, gone.Process.Pid: Nobody, 1 << 30: Nobody, 0: Unknown, -1: Unknown} {
		if got := Process(pid); got != want {
			t.Errorf("process %d: %d, want %d", pid, got, want)
		}
	}
}

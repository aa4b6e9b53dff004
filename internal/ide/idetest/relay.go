package idetest

import (
	"net"
	"strconv"
	"sync"
	"testing"
)

// Relay is a TCP relay between a client and an editor that can fail.
type Relay struct {
	Address string

	mu        sync.Mutex
	conns     []net.Conn
	down, up  gate
	fragments int
}

// gate blocks one direction: data is read only as far as buffers go.
type gate struct {
	once   sync.Once
	closed chan struct{}
}

func (g *gate) shut() { g.once.Do(func() { close(g.closed) }) }

// NewRelay relays to a port of this machine until the test ends.
func NewRelay(tb testing.TB, port int) *Relay {
	tb.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Relay{Address: l.Addr().String()}
	r.down.closed, r.up.closed = make(chan struct{}), make(chan struct{})
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			editor, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				_ = client.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, client, editor)
			r.mu.Unlock()
			frames := &frames{r: r}
			wait.Go(func() { pump(editor, client, &r.up, over, frames.count) })
			wait.Go(func() { pump(client, editor, &r.down, over, nil) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		close(over)
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		wait.Wait()
	})
	return r
}

// Stall stops both directions and keeps the connections open.
func (r *Relay) Stall() {
	r.down.shut()
	r.up.shut()
}

// StallUpwards stops the direction to the editor.
func (r *Relay) StallUpwards() { r.up.shut() }

// Fragments returns how many frames of the client were compressed or not a whole
// message.
func (r *Relay) Fragments() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fragments
}

func pump(to, from net.Conn, g *gate, over chan struct{}, see func([]byte)) {
	defer from.Close() // a writer must learn that nobody reads
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-g.closed:
			<-over // hold the data and the connection
			return
		default:
		}
		if see != nil {
			see(buf[:n])
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// frames reads a client's frames after the handshake.
type frames struct {
	r      *Relay
	buf    []byte
	skip   int
	opened bool
}

func (f *frames) count(p []byte) {
	f.buf = append(f.buf, p...)
	if !f.opened {
		end := indexHeaderEnd(f.buf)
		if end < 0 {
			return
		}
		f.opened, f.buf = true, f.buf[end:]
	}
	for {
		if n := min(f.skip, len(f.buf)); n > 0 {
			f.skip, f.buf = f.skip-n, f.buf[n:]
		}
		size, length := frameHeader(f.buf)
		if f.skip > 0 || size == 0 {
			return
		}
		const text, ping, pong, closing = 0x81, 0x89, 0x8a, 0x88
		switch f.buf[0] {
		case text, ping, pong, closing:
		default:
			f.r.mu.Lock()
			f.r.fragments++
			f.r.mu.Unlock()
		}
		f.buf, f.skip = f.buf[size:], length
	}
}

func indexHeaderEnd(b []byte) int {
	for i := 0; i+4 <= len(b); i++ {
		if string(b[i:i+4]) == "\r\n\r\n" {
			return i + 4
		}
	}
	return -1
}

// frameHeader returns the size of a masked frame's header and the length of its
// payload, or 0 if the header is incomplete.
func frameHeader(b []byte) (size, length int) {
	if len(b) < 2 {
		return 0, 0
	}
	size, length = 6, int(b[1]&0x7f)
	extra := 0
	switch length {
	case 126:
		extra = 2
	case 127:
		extra = 8
	}
	if len(b) < size+extra {
		return 0, 0
	}
	if extra > 0 {
		length = 0
		for _, d := range b[2 : 2+extra] {
			length = length<<8 | int(d)
		}
	}
	return size + extra, length
}

//go:build unix

package ptytest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// Deadline is how long a test waits for something to appear before it fails.
const Deadline = 30 * time.Second

// Terminal is a pty with a model terminal behind it. Its methods may be called by
// one goroutine at a time; those that fail end the test.
type Terminal struct {
	t      testing.TB
	master *os.File
	tty    *os.File
	cmd    *exec.Cmd
	exited bool

	mu      sync.Mutex
	changed *sync.Cond // after output, input taken, or the end of either
	model   *vt.Terminal
	buf     []byte  // for one read
	record  []byte  // all output
	marks   []mark  // when it came
	input   []typed // still to be written
	queued  int     // inputs that are not in the terminal yet
	closed  bool
	typing  bool // keys were sent since the last wait
	pending int  // fences asked for
	storm   bool
}

// typed is input, after which a person may rest.
type typed struct {
	data  []byte
	alone bool
}

// rest is the time after a letter that a person presses for its effect: without it, the next one
// would make a text of both.
const rest = 300 * time.Millisecond

// sent is the time after Enter: lines that arrive at once are a paste.
const sent = 150 * time.Millisecond

// mark is the time of a part of the output, and its end.
type mark struct {
	at  time.Time
	end int
}

// New opens a terminal. When the test ends, the terminal is closed and its processes
// are killed. The model's answers go to the program. The test fails if the program
// changes a finished row (see vt.Stats).
func New(t testing.TB, opt vt.Options) *Terminal {
	t.Helper()
	master, tty, err := open()
	if err != nil {
		t.Fatal(err)
	}
	p := &Terminal{t: t, master: master, tty: tty, buf: make([]byte, 64<<10)}
	p.changed = sync.NewCond(&p.mu)
	opt.Reply = p.send // called by Write, under the lock
	p.model = vt.New(opt)
	p.setSize()
	var work sync.WaitGroup
	work.Go(p.read)
	work.Go(p.write)
	t.Cleanup(func() {
		p.close()
		work.Wait()
		touched := p.model.Stats().Touched
		for _, row := range touched {
			if !p.storm {
				t.Errorf("a finished row was %s", row)
			}
		}
		if p.storm {
			t.Logf("%d finished rows were changed in the storm", len(touched))
		}
	})
	return p
}

// open opens a pty whose master can be closed during a read, even if a leftover process
// holds the other side.
func open() (master, tty *os.File, err error) {
	blocking, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0) // no program on another terminal holds it
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err = errors.Join(err, blocking.Close()); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), "pty"), tty, nil
}

func (p *Terminal) setSize() {
	w, h := p.model.Size()
	if err := pty.Setsize(p.tty, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		p.t.Fatal(err)
	}
}

// read feeds the model until the pty is closed.
func (p *Terminal) read() {
	raw, err := p.master.SyscallConn()
	for err == nil {
		var end error
		err = raw.Read(func(fd uintptr) bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			end = p.take(fd)
			return !errors.Is(end, unix.EAGAIN)
		})
		err = errors.Join(err, end)
	}
	p.mu.Lock()
	p.changed.Broadcast()
	p.mu.Unlock()
}

// take feeds the model with output of the program; the caller holds the lock. Without any it
// returns unix.EAGAIN.
func (p *Terminal) take(fd uintptr) error {
	n, err := unix.Read(int(fd), p.buf)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	if n <= 0 {
		return cmp.Or(err, io.EOF)
	}
	p.record = append(p.record, p.buf[:n]...)
	p.marks = append(p.marks, mark{time.Now(), len(p.record)})
	_, _ = p.model.Write(p.buf[:n]) // never fails
	p.changed.Broadcast()
	return nil
}

// write writes input, so that neither test nor model waits for a program that does not
// read.
func (p *Terminal) write() {
	for {
		p.mu.Lock()
		for len(p.input) == 0 && !p.closed {
			p.changed.Wait()
		}
		if p.closed {
			p.mu.Unlock()
			return
		}
		next := p.input[0]
		p.input = p.input[1:]
		p.mu.Unlock()
		if _, err := p.master.Write(next.data); err != nil {
			return
		}
		p.mu.Lock()
		p.queued--
		p.changed.Broadcast()
		p.mu.Unlock()
		switch {
		case next.alone:
			<-time.After(rest)
		case bytes.HasSuffix(next.data, []byte{'\r'}):
			<-time.After(sent)
		}
	}
}

// send queues input; the caller holds the lock.
func (p *Terminal) send(b []byte) {
	p.queued++
	p.input = append(p.input, typed{data: append([]byte(nil), b...)})
	p.changed.Broadcast()
}

func (p *Terminal) close() {
	if p.cmd != nil && !p.exited {
		_ = p.cmd.Process.Kill() // it may have ended meanwhile
		_ = p.cmd.Wait()         // its status does not matter
	}
	p.mu.Lock()
	p.closed = true
	p.changed.Broadcast()
	p.mu.Unlock()
	_ = p.tty.Close()
	_ = p.master.Close()
}

// TTY returns the program's side, for code that runs in the test's own process.
func (p *Terminal) TTY() *os.File { return p.tty }

// Start runs cmd with the terminal as its controlling one.
func (p *Terminal) Start(cmd *exec.Cmd) {
	p.t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.tty, p.tty, p.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd = cmd
}

// Wait waits for the program and returns its exit status: 128 plus the signal's number
// if a signal ended it.
func (p *Terminal) Wait() int {
	p.t.Helper()
	timer := time.AfterFunc(Deadline, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	p.exited = true
	if !timer.Stop() {
		p.t.Fatalf("the program did not end; on the screen:\n%s", p.Screen())
	}
	p.Sync()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Signal sends a signal to the program.
func (p *Terminal) Signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// SignalGroup sends a signal to the program's process group.
func (p *Terminal) SignalGroup(sig syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, sig); err != nil {
		p.t.Fatal(err)
	}
}

// Stopped waits until a signal has stopped the program.
func (p *Terminal) Stopped() {
	p.t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		p.t.Fatalf("the program was not stopped: %v, %v", status, err)
	}
}

// Resize changes the size as a user does: the terminal resizes, then notifies the
// program. First it draws all output, even on a machine so busy that it would be late: a
// program cannot know that.
func (p *Terminal) Resize(width, height int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.catchUp()
	p.model.Resize(width, height)
	p.setSize()
}

// catchUp draws all output of the program; the caller holds the lock.
func (p *Terminal) catchUp() {
	raw, err := p.master.SyscallConn()
	if err != nil {
		p.t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for p.take(fd) == nil {
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// Storm notifies the program of a size that the terminal no longer has, or not yet, by
// the time the program handles it. Drawing may then go wrong, so changed rows are
// counted but do not fail the test.
func (p *Terminal) Storm(width, height int) {
	p.t.Helper()
	p.storm = true
	if err := pty.Setsize(p.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		p.t.Fatal(err)
	}
}

// WaitUntil waits until ok returns true for the model; what describes it in a failure. A condition that is
// true before the program has read the keys of the test may be about the screen of before: it counts when
// the program has read them and drawn something, or draws nothing for a while.
func (p *Terminal) WaitUntil(what string, ok func(*vt.Terminal) bool) {
	p.t.Helper()
	p.mu.Lock()
	early := p.typing && ok(p.model)
	p.typing = false
	p.mu.Unlock()
	if early {
		p.answered()
	}
	p.until(what, Deadline, ok)
}

// reads and draws are how long a program may take to read keys, and then to draw something. One that
// does not costs a test this time.
const reads, draws = 2 * time.Second, 200 * time.Millisecond

// answered waits until the program has read all keys and drawn something after that, or has not for
// a while.
func (p *Terminal) answered() {
	late := time.After(reads)
	for !p.allRead() {
		select { // nobody is told when the last one is read
		case <-time.After(time.Millisecond):
		case <-late:
			return
		}
	}
	p.mu.Lock()
	before := len(p.record)
	p.mu.Unlock()
	p.reached(draws, func(*vt.Terminal) bool { return len(p.record) > before })
}

// allRead reports whether the program has read all keys so far.
func (p *Terminal) allRead() bool {
	p.mu.Lock()
	queued := p.queued
	p.mu.Unlock()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.tty.Fd()), Events: unix.POLLIN}}, 0)
	return queued == 0 && n == 0 && err == nil
}

// until fails the test if ok does not return true within a time.
func (p *Terminal) until(what string, within time.Duration, ok func(*vt.Terminal) bool) {
	p.t.Helper()
	if !p.reached(within, ok) {
		p.t.Fatalf("waited for %s; on the screen:\n%s", what, p.Screen())
	}
}

// reached waits until ok returns true for the model, and reports whether that was in time.
func (p *Terminal) reached(within time.Duration, ok func(*vt.Terminal) bool) bool {
	late := false
	timer := time.AfterFunc(within, func() {
		p.mu.Lock()
		late = true
		p.changed.Broadcast()
		p.mu.Unlock()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !ok(p.model) {
		if late {
			return false
		}
		p.changed.Wait()
	}
	return true
}

// WaitFor waits until the screen matches a regular expression.
func (p *Terminal) WaitFor(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	p.WaitUntil(pattern, func(m *vt.Terminal) bool { return re.MatchString(m.String()) })
}

// Sync waits until the model has seen everything written to the terminal so far, by any
// process.
func (p *Terminal) Sync() {
	p.t.Helper()
	p.pending++
	mark := strings.Repeat("f", p.pending)
	if _, err := p.tty.WriteString("\x1b]7777;" + mark + "\a"); err != nil {
		p.t.Fatal(err)
	}
	p.until("output to be read", Deadline, func(m *vt.Terminal) bool {
		fences := m.Stats().Fences
		return len(fences) > 0 && fences[len(fences)-1] == mark
	})
}

// Look calls f with the model, which does not change meanwhile.
func (p *Terminal) Look(f func(*vt.Terminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.model)
}

// Screen returns the text on the screen.
func (p *Terminal) Screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model.String()
}

// History returns the rows of scrollback and screen.
func (p *Terminal) History() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model.History()
}

// Bytes returns everything that was written to the terminal.
func (p *Terminal) Bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]byte(nil), p.record...)
}

// Output is a part of the terminal's output.
type Output struct {
	At   time.Time // when it was there
	Data []byte
}

// Outputs returns the content of Bytes in the parts in which it arrived.
func (p *Terminal) Outputs() []Output {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []Output
	begin := 0
	for _, m := range p.marks {
		parts = append(parts, Output{At: m.at, Data: append([]byte(nil), p.record[begin:m.end]...)})
		begin = m.end
	}
	return parts
}

// Modes returns the modes that are set.
func (p *Terminal) Modes() vt.Modes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model.Modes()
}

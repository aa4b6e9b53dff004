//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const (
	columns, rows = 120, 40
	patience      = 30 * time.Second
	glyph         = "❯" // the prompt
)

// terminal is a program on a pseudoterminal whose output is examined.
type terminal struct {
	tty   *os.File
	cmd   *exec.Cmd
	begin time.Time
	ended chan struct{}

	mu    sync.Mutex // guards the fields below
	watch string     // text waited for
	found chan time.Time
	mark  notice
	tail  []byte // the end of the output, for text cut between reads
	bytes int64
	count int // of reads: frames, if each is read at once
	last  time.Time
}

// notice is a text whose first appearance is recorded.
type notice struct {
	text string
	seen bool
	tail []byte // as that of terminal, which expect empties
}

// took looks for the text in the output.
func (n *notice) took(p []byte) {
	if n.text == "" || n.seen {
		return
	}
	n.tail = append(n.tail, p...)
	n.seen = bytes.Contains(n.tail, []byte(n.text))
	n.tail = n.tail[max(0, len(n.tail)-len(n.text)):]
}

// start runs argv in a terminal; until ready, nothing has been typed.
func (p *place) start(argv []string, home, tree string) (*terminal, error) {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // the program under measurement
	cmd.Dir, cmd.Env = tree, p.env(home)
	tty, side, err := openTerminal()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	t := &terminal{tty: tty, cmd: cmd, begin: time.Now(), ended: make(chan struct{})}
	if err := errorsFirst(cmd.Start(), side.Close()); err != nil {
		return nil, err
	}
	go t.read()
	return t, nil
}

// openTerminal opens a pseudoterminal without local echo, so that an echo is the
// program's.
func openTerminal() (tty, side *os.File, err error) {
	tty, side, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	err = pty.Setsize(tty, &pty.Winsize{Rows: rows, Cols: columns})
	mode, err2 := unix.IoctlGetTermios(int(side.Fd()), unix.TCGETS)
	if err := errorsFirst(err, err2); err != nil {
		return nil, nil, err
	}
	mode.Lflag &^= unix.ECHO | unix.ICANON
	return tty, side, unix.IoctlSetTermios(int(side.Fd()), unix.TCSETS, mode)
}

// read reads the output and answers the terminal queries in it.
func (t *terminal) read() {
	defer close(t.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.tty.Read(buf)
		if n > 0 {
			t.took(buf[:n], time.Now())
		}
		if err != nil {
			return
		}
	}
}

func (t *terminal) took(p []byte, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += int64(len(p))
	t.count++
	t.last = now
	shown := visible(p)
	t.tail = append(t.tail, shown...)
	if t.watch != "" && bytes.Contains(t.tail, []byte(t.watch)) {
		t.found <- now
		t.watch = ""
	}
	t.mark.took(shown)
	if cut := len(t.tail) - 64; cut > 0 {
		t.tail = append(t.tail[:0], t.tail[cut:]...)
	}
	if bytes.Contains(p, []byte("\x1b]11;?")) {
		go t.tty.WriteString("\x1b]11;rgb:1010/1010/1010\x1b\\") //nolint:errcheck // a terminal that is gone ends the run
	}
}

// visible drops control sequences, so that text is found whatever its colors.
func visible(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] != 0x1b {
			out = append(out, p[i])
			continue
		}
		if i+1 < len(p) && p[i+1] == '[' {
			for i += 2; i < len(p) && (p[i] < 0x40 || p[i] > 0x7e); {
				i++
			}
		}
	}
	return out
}

// expect returns a function that waits until text is written, and returns the time.
func (t *terminal) expect(text string) func() (time.Time, error) {
	found := make(chan time.Time, 1)
	t.mu.Lock()
	t.watch, t.found, t.tail = text, found, nil
	t.mu.Unlock()
	return func() (time.Time, error) {
		select {
		case at := <-found:
			return at, nil
		case <-t.ended:
			return time.Time{}, fmt.Errorf("the program ended before it showed %q", text)
		case <-time.After(patience):
			return time.Time{}, fmt.Errorf("no %q within %s", text, patience)
		}
	}
}

// note records the first appearance of text.
func (t *terminal) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mark = notice{text: text}
}

// noted reports whether the text has appeared.
func (t *terminal) noted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mark.seen
}

// key writes keys and returns the time.
func (t *terminal) key(s string) (time.Time, error) {
	now := time.Now()
	_, err := t.tty.WriteString(s)
	return now, err
}

// quiet waits until nothing was written for d.
func (t *terminal) quiet(d time.Duration) {
	for {
		t.mu.Lock()
		since := time.Since(t.last)
		t.mu.Unlock()
		if since >= d {
			return
		}
		<-time.After(d - since)
	}
}

func (t *terminal) written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// reads returns the number of writes by the program, if each was read at once.
func (t *terminal) reads() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// proc reads the program's CPU time (ms) and resident memory (MiB; most is the peak)
// from /proc.
func (t *terminal) proc() (cpu, now, most float64, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(t.cmd.Process.Pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, 0, 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var user, system float64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, 0, 0, err
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0, 0, 0, err
	}
	for _, line := range strings.Split(string(status), "\n") {
		name, value, _ := strings.Cut(line, ":")
		var kib float64
		switch name {
		case "VmRSS", "VmHWM":
			if _, err := fmt.Sscan(value, &kib); err != nil {
				return 0, 0, 0, err
			}
		}
		switch name {
		case "VmRSS":
			now = kib / 1024
		case "VmHWM":
			most = kib / 1024
		}
	}
	return (user + system) * 10, now, most, nil // ticks of 10 ms
}

// spent is the CPU time of all threads so far, in microseconds.
func (t *terminal) spent() (float64, error) {
	files, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(t.cmd.Process.Pid), "task", "*", "schedstat"))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		var ns float64
		if _, err := fmt.Sscan(string(text), &ns); err != nil {
			return 0, err
		}
		sum += ns / 1000
	}
	return sum, nil
}

// close ends the program.
func (t *terminal) close() error {
	err := t.cmd.Process.Kill()
	<-t.ended
	_ = t.cmd.Wait() // killed: no status to check
	return errorsFirst(err, t.tty.Close())
}

func errorsFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

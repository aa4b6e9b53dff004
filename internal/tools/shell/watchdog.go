package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// watchdog is a process that ends our commands if we are killed, when we cannot. It
// is told of each of them through its standard input, whose end tells it that we are
// gone. It is started with the first command, and again if it died. The family's
// lock is held.
type watchdog struct {
	argv []string // of a program that calls Watch; nil: there is none
	mark string   // what the marks of all our commands begin with

	cmd    *exec.Cmd
	in     *os.File      // nil: it is not running
	done   chan struct{} // closed when it has been waited for
	failed bool          // it was said already
}

// tell starts the watchdog where it is not running, and tells it something. shells
// are those that a new one has to know of.
func (w *watchdog) tell(line string, shells map[int]string) error {
	if w.argv == nil {
		return nil
	}
	if w.in != nil {
		if err := w.write(line); err == nil {
			return nil
		}
		_ = w.cmd.Process.Kill() // somebody has, or has stopped it
		w.stop()
	}
	if err := w.start(); err != nil {
		return err
	}
	all := w.mark + "\n"
	for _, known := range shells {
		all += known
	}
	return w.write(all + line)
}

// write never waits for long: a pipe that is full is not read any more.
func (w *watchdog) write(lines string) error {
	if err := w.in.SetWriteDeadline(time.Now().Add(time.Second)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return err
	}
	_, err := io.WriteString(w.in, lines)
	return err
}

func (w *watchdog) start() error {
	r, in, err := os.Pipe()
	if err != nil {
		return err
	}
	w.cmd = exec.Command(w.argv[0])
	w.cmd.Args, w.cmd.Dir, w.cmd.Stdin = w.argv[1:], string(os.PathSeparator), r
	w.cmd.Env = []string{} // no keys; but the mark of a command that we are part of ourselves
	if mark, ok := os.LookupEnv(markName); ok {
		w.cmd.Env = append(w.cmd.Env, markName+"="+mark)
	}
	apart(w.cmd)
	err = w.cmd.Start()
	_ = r.Close() // it has its own
	if err != nil {
		return errors.Join(err, in.Close())
	}
	w.in, w.done = in, make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer crash.Guard()
		defer close(done)
		_ = cmd.Wait() // how it ended is nobody's concern
	}(w.cmd, w.done)
	return nil
}

// stop ends the watchdog, and with it what it still knows of.
func (w *watchdog) stop() {
	if w.in == nil {
		return
	}
	_ = w.in.Close()
	w.in = nil
	timer := time.NewTimer(whenTold.grace + whenTold.kill + time.Second)
	defer timer.Stop()
	select {
	case <-w.done:
	case <-timer.C:
		_ = w.cmd.Process.Kill()
		<-w.done
	}
}

// pid returns the process of the watchdog; zero if there is none.
func (w *watchdog) pid() int {
	if w.in == nil {
		return 0
	}
	return w.cmd.Process.Pid
}

// watched is what a watchdog knows of the commands.
type watched struct {
	mark     string
	starting bool           // one is being started, or could not be
	shells   map[int]uint64 // when they began, by pid
	pipes    map[int]string // their output, by the shell's pid
}

// The lines that a watchdog is told after the mark.
const (
	lineStarting = "starting\n"
	lineStarted  = "started %d %d %s\n"
	lineEnded    = "ended %d\n"
)

// Watch is what the watchdog of a program does: it reads what commands there are
// until in ends, which it does when the program does, and then ends those that are
// left, with all their processes. What the terminal and others send to end the
// program does not end it before. It returns within some seconds after in has ended.
func Watch(in io.Reader) error {
	outlive()
	w := watched{shells: map[int]uint64{}, pipes: map[int]string{}}
	lines := bufio.NewScanner(in)
	if lines.Scan() {
		w.mark = lines.Text()
	}
	for lines.Scan() {
		w.take(lines.Text() + "\n")
	}
	if w.starting || len(w.shells) > 0 {
		w.end()
	}
	return lines.Err()
}

// take takes in one line.
func (w *watched) take(line string) {
	var pid int
	var start uint64
	var pipe string
	if line == lineStarting {
		w.starting = true
	} else if n, _ := fmt.Sscanf(line, lineStarted, &pid, &start, &pipe); n == 3 {
		w.starting, w.shells[pid], w.pipes[pid] = false, start, pipe
	} else if n, _ := fmt.Sscanf(line, lineEnded, &pid); n == 1 {
		delete(w.shells, pid)
		delete(w.pipes, pid)
	}
}

// secondLook is how long after nothing was found it is looked once more: a shell may
// be on its way.
const secondLook = 100 * time.Millisecond

// end ends what is left, asking first.
func (w *watched) end() {
	if !strings.HasPrefix(w.mark, markName) {
		return // we were never told whose processes are meant
	}
	for range 2 {
		if left := w.left(); len(left) > 0 {
			endAll(w.left, 0, left, whenTold)
		}
		<-time.After(secondLook)
	}
}

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

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// watchdog is a process that ends our commands if we are killed. It learns of each of
// them through its standard input, whose end means that we are gone. It is started with
// the first command, and again if it died. The family's lock is held.
type watchdog struct {
	argv []string // of a program that calls Watch; nil for no watchdog
	mark string   // the common beginning of our commands' marks

	cmd    *exec.Cmd
	in     *os.File      // nil: it is not running
	done   chan struct{} // closed when it has been waited for
	failed bool          // already reported
}

// tell starts the watchdog if it is not running, and sends it a line. A new watchdog
// first gets the lines for shells.
func (w *watchdog) tell(line string, shells map[int]string) error {
	if w.argv == nil {
		return nil
	}
	if w.in != nil {
		if err := w.write(line); err == nil {
			return nil
		}
		_ = w.cmd.Process.Kill() // somebody has killed or stopped it
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

// write never blocks for long, even if nobody reads the pipe.
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
	w.cmd = lookpath.Command(w.argv[0])
	w.cmd.Args, w.cmd.Dir, w.cmd.Stdin = w.argv[1:], string(os.PathSeparator), r
	w.cmd.Env = []string{} // no keys; but the mark of a command that we are part of ourselves
	if mark, ok := os.LookupEnv(markName); ok {
		w.cmd.Env = append(w.cmd.Env, markName+"="+mark)
	}
	child.Apart(w.cmd)
	err = w.cmd.Start()
	_ = r.Close() // the watchdog has its own copy
	if err != nil {
		return errors.Join(err, in.Close())
	}
	w.in, w.done = in, make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer crash.Guard()
		defer close(done)
		_ = cmd.Wait() // nobody needs its status
	}(w.cmd, w.done)
	return nil
}

// stop ends the watchdog, which then ends the commands it still knows.
func (w *watchdog) stop() {
	if w.in == nil {
		return
	}
	_ = w.in.Close()
	w.in = nil
	timer := time.NewTimer(onRequest.grace + onRequest.kill + time.Second)
	defer timer.Stop()
	select {
	case <-w.done:
	case <-timer.C:
		_ = w.cmd.Process.Kill()
		<-w.done
	}
}

// pid returns the pid of the watchdog, zero if not running.
func (w *watchdog) pid() int {
	if w.in == nil {
		return 0
	}
	return w.cmd.Process.Pid
}

// watched is a watchdog's knowledge of the commands.
type watched struct {
	mark     string
	starting bool           // a command is being started, or failed to start
	shells   map[int]uint64 // start times, by pid
	pipes    map[int]string // of their output, by the shell's pid
	groups   map[int]string // of their processes, likewise; see cage.Place
}

// The lines that a watchdog reads after the mark.
const (
	lineStarting = "starting\n"
	lineStarted  = "started %d %d %s\n"
	lineGroup    = "group %d %q\n"
	lineEnded    = "ended %d\n"
)

// Watch is the main function of a watchdog: it reads which commands there are until in
// ends, as it does with the program, then ends the remaining ones with all their
// processes. Signals that would end the program do not end Watch before that. It returns
// within seconds after the end of in.
func Watch(in io.Reader) error {
	outlive()
	w := watched{shells: map[int]uint64{}, pipes: map[int]string{}, groups: map[int]string{}}
	lines := bufio.NewScanner(in)
	if lines.Scan() {
		w.mark = lines.Text()
	}
	for lines.Scan() {
		w.handle(lines.Text() + "\n")
	}
	if w.starting || len(w.shells) > 0 {
		w.end()
	}
	return lines.Err()
}

// handle handles one line.
func (w *watched) handle(line string) {
	var pid int
	var start uint64
	var pipe string
	if line == lineStarting {
		w.starting = true
	} else if n, _ := fmt.Sscanf(line, lineStarted, &pid, &start, &pipe); n == 3 {
		w.starting, w.shells[pid], w.pipes[pid] = false, start, pipe
	} else if n, _ := fmt.Sscanf(line, lineGroup, &pid, &pipe); n == 2 {
		w.groups[pid] = pipe
	} else if n, _ := fmt.Sscanf(line, lineEnded, &pid); n == 1 {
		delete(w.shells, pid)
		delete(w.pipes, pid)
		delete(w.groups, pid)
	}
}

// secondLook is the pause before another look that finds nothing: a shell may still be
// starting.
const secondLook = 100 * time.Millisecond

// end ends the remaining processes, asking first.
func (w *watched) end() {
	if !strings.HasPrefix(w.mark, markName) {
		return // we never learned which processes are ours
	}
	for range 2 {
		if left := w.left(); len(left) > 0 {
			endAll(w.left, 0, left, onRequest)
		}
		<-time.After(secondLook)
	}
	for _, place := range w.groups {
		endGroup(place)
	}
}

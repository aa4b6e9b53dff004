//go:build unix

package screen

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// TestCloseInTheBackground: a program whose shell has taken the terminal back ends. It
// must not stop there: nobody continues it when the shell ends too.
func TestCloseInTheBackground(t *testing.T) {
	p := start(t, "shell", vt.Options{Width: 60, Height: 6})
	p.WaitFor(`the job has ended`)
}

// shell runs job in the foreground, takes the terminal back, lets the job close its screen
// and reports what became of it.
func shell() int {
	fail := func(err error) int { fmt.Println("> ready:", err); return 1 }
	exe, err1 := os.Executable()
	opened, tell, err2 := os.Pipe()
	wait, end, err3 := os.Pipe()
	if err1 != nil || err2 != nil || err3 != nil {
		return fail(fmt.Errorf("%w %w %w", err1, err2, err3))
	}
	cmd := exec.Command(exe)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{tell, wait}
	cmd.Env = append(os.Environ(), programVar+"=job")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	if _, err := opened.Read(make([]byte, 1)); err != nil {
		return fail(err)
	}
	signal.Ignore(unix.SIGTTOU)
	if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
		return fail(err)
	}
	_, _ = wait.Close(), end.Close()
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return fail(err)
		}
	}
	if status.Stopped() {
		_ = cmd.Process.Kill()
		return fail(fmt.Errorf("the job was stopped by %s", status.StopSignal()))
	}
	fmt.Printf("\r\n> ready: the job has ended with %d\r\n", status.ExitStatus())
	return 0
}

// job opens a screen, and closes it once the shell has closed the pipe.
func job() int {
	s, err := Open(Options{In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if _, err := os.NewFile(3, "opened").Write([]byte{0}); err != nil {
		return 4
	}
	if _, err := os.NewFile(4, "wait").Read(make([]byte, 1)); err != io.EOF {
		return 5
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 6
	}
	return 0
}

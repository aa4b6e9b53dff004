//go:build unix

package screen

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// unixTTY is a terminal with a line discipline.
type unixTTY struct {
	in, out *os.File
	found   *unix.Termios
}

func openTTY(in, out *os.File) (tty, error) {
	found, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	if err != nil {
		return nil, fmt.Errorf("standard input is not a terminal: %w", err)
	}
	if _, err := unix.IoctlGetTermios(int(out.Fd()), getTermios); err != nil {
		return nil, fmt.Errorf("standard output is not a terminal: %w", err)
	}
	repair(found)
	return &unixTTY{in: in, out: out, found: found}, nil
}

// repair fixes settings left by a killed program: no shell starts a program without echo,
// lines and signals.
func repair(t *unix.Termios) {
	const cooked = unix.ICANON | unix.ECHO | unix.ISIG
	if t.Lflag&cooked != 0 {
		return
	}
	t.Lflag |= cooked | unix.IEXTEN
	t.Iflag |= unix.ICRNL
	t.Oflag |= unix.OPOST | unix.ONLCR
}

// raw discards pending input when it restores the settings: a late answer of the terminal
// would look like typed text to the next program.
func (t *unixTTY) raw(on bool) error {
	if !on {
		return t.restore()
	}
	r := *t.found
	r.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	r.Oflag &^= unix.OPOST
	r.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	r.Cflag &^= unix.CSIZE | unix.PARENB
	r.Cflag |= unix.CS8
	r.Cc[unix.VMIN], r.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &r)
}

// restore restores the settings. It leaves a terminal alone that has another process group
// in the foreground, such as a shell that takes it back before it ends, and cannot be
// stopped there: a shell that ends meanwhile would leave the program stopped for good.
func (t *unixTTY) restore() error {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	group, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	if err == nil && group != unix.Getpgrp() {
		return nil
	}
	return errors.Join(flushInput(int(t.in.Fd())), unix.IoctlSetTermios(int(t.in.Fd()), setTermios, t.found))
}

func (t *unixTTY) size() (width, height int, err error) {
	ws, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, err
	}
	return int(ws.Col), int(ws.Row), nil
}

// Write writes all of b, even if another program has made the terminal non-blocking.
func (t *unixTTY) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := t.out.Write(b[done:])
		done += max(0, n)
		if err == nil {
			continue
		}
		if !errors.Is(err, unix.EAGAIN) {
			return done, err
		}
		ready := []unix.PollFd{{Fd: int32(t.out.Fd()), Events: unix.POLLOUT}}
		if _, err := unix.Poll(ready, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return done, err
		}
	}
	return done, nil
}

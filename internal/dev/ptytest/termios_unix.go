//go:build unix

package ptytest

import "golang.org/x/sys/unix"

// Termios returns the terminal's settings; two of them can be compared.
func (p *Terminal) Termios() unix.Termios {
	p.t.Helper()
	t, err := unix.IoctlGetTermios(int(p.tty.Fd()), getTermios)
	if err != nil {
		p.t.Fatal(err)
	}
	return *t
}

// SetTermios changes the terminal's settings, like another program on it.
func (p *Terminal) SetTermios(to unix.Termios) {
	p.t.Helper()
	if err := unix.IoctlSetTermios(int(p.tty.Fd()), setTermios, &to); err != nil {
		p.t.Fatal(err)
	}
}

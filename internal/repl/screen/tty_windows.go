package screen

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// console is a Windows console that supports terminal sequences.
type console struct {
	in, out           windows.Handle
	file              *os.File
	foundIn, foundOut uint32
}

func openTTY(in, out *os.File) (tty, error) {
	c := &console{in: windows.Handle(in.Fd()), out: windows.Handle(out.Fd()), file: out}
	if err := windows.GetConsoleMode(c.in, &c.foundIn); err != nil {
		return nil, fmt.Errorf("standard input is not a console: %w", err)
	}
	if err := windows.GetConsoleMode(c.out, &c.foundOut); err != nil {
		return nil, fmt.Errorf("standard output is not a console: %w", err)
	}
	return c, nil
}

func (c *console) raw(on bool) error {
	if !on {
		return errors.Join(
			windows.FlushConsoleInputBuffer(c.in),
			windows.SetConsoleMode(c.in, c.foundIn), windows.SetConsoleMode(c.out, c.foundOut))
	}
	in := c.foundIn &^ (windows.ENABLE_ECHO_INPUT | windows.ENABLE_PROCESSED_INPUT | windows.ENABLE_LINE_INPUT)
	in |= windows.ENABLE_VIRTUAL_TERMINAL_INPUT
	out := c.foundOut | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING | windows.DISABLE_NEWLINE_AUTO_RETURN
	return errors.Join(windows.SetConsoleMode(c.in, in), windows.SetConsoleMode(c.out, out))
}

func (c *console) size() (width, height int, err error) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(c.out, &info); err != nil {
		return 0, 0, err
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1, nil
}

func (c *console) Write(b []byte) (int, error) { return c.file.Write(b) }

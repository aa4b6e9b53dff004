package screen

import (
	"fmt"
	"os"
)

// DiscardInput discards pending input of a terminal, before a question in plain lines.
func DiscardInput(in, out *os.File) error {
	t, err := openTTY(in, out)
	if err != nil {
		return err
	}
	if err := t.raw(false); err != nil { // discards it
		return fmt.Errorf("cannot discard pending input: %w", err)
	}
	return nil
}

// NoEcho puts a terminal without a Screen into raw mode: no echo, and no signals from keys,
// until restore.
func NoEcho(in, out *os.File) (restore func() error, err error) {
	t, err := openTTY(in, out)
	if err != nil {
		return nil, err
	}
	if err := t.raw(true); err != nil {
		return nil, fmt.Errorf("cannot switch the terminal to raw mode: %w", err)
	}
	return func() error { return t.raw(false) }, nil
}

package dialog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// flat asks on a terminal that only prints lines or is read aloud: it writes no escape
// sequences, and draws nothing twice.
type flat struct {
	Terminal
	none error  // returned for an empty answer: ErrLeft or ErrBack
	then string // the effect of an empty answer, in a few words
	stop chan os.Signal
	read chan piece // results of reads
	rest []byte     // unused input
}

type piece struct {
	data []byte
	err  error
}

// askFlat is Ask in plain lines.
func askFlat(ctx context.Context, t Terminal, p Page) (a Answer, err error) {
	f := &flat{Terminal: t, none: ErrLeft, then: "exit", stop: make(chan os.Signal, 1), read: make(chan piece, 1)}
	if p.Back {
		f.none, f.then = ErrBack, "go back"
	}
	signal.Notify(f.stop, os.Interrupt)
	defer signal.Stop(f.stop)
	if err := screen.DiscardInput(t.In, t.Out); err != nil {
		return a, fmt.Errorf("cannot use the terminal: %w", err)
	}
	lines := append([]string{"", p.Title}, p.Text...)
	for i, c := range p.Choices {
		line := fmt.Sprintf("%d: %s", p.number(i), c.Title)
		if c.Detail != "" {
			line += ", " + c.Detail
		}
		lines = append(lines, line)
	}
	for _, l := range lines {
		if err := f.say(sanitize.Line(l) + "\n"); err != nil {
			return a, err
		}
	}
	if len(p.Choices) > 0 {
		a.Choice, err = f.choice(ctx, p)
		return a, err
	}
	for _, field := range p.Fields {
		value, err := f.field(ctx, field)
		if err != nil {
			return a, err
		}
		a.Values = append(a.Values, value)
	}
	return a, nil
}

func (f *flat) say(text string) error {
	_, err := io.WriteString(f.Out, text)
	return err
}

// choice asks until the person enters a number; an empty line leaves or goes back.
func (f *flat) choice(ctx context.Context, p Page) (int, error) {
	for {
		line, err := f.line(ctx, fmt.Sprintf("A number, %d to %d, or nothing to %s: ", p.number(0), p.number(len(p.Choices)-1), f.then))
		if err == nil && line == "" {
			err = f.none
		}
		if err != nil {
			return 0, err
		}
		if i, ok := p.numbered(line); ok {
			return i, nil
		}
		if err := f.say(sanitize.Line(line) + " is not one of the numbers.\n"); err != nil {
			return 0, err
		}
	}
}

// field asks for a text. An empty line accepts the initial value; without one, it leaves or
// goes back.
func (f *flat) field(ctx context.Context, field Field) (value string, err error) {
	label := sanitize.Line(field.Label)
	if field.Secret {
		value, err = f.secret(ctx, label+", which is not shown"+f.hint(field)+": ")
	} else {
		value, err = f.line(ctx, label+f.hint(field)+": ")
	}
	if err == nil && value == "" {
		if value = field.Value; value == "" && !field.Optional {
			err = f.none
		}
	}
	return value, err
}

func (f *flat) hint(field Field) string {
	switch {
	case field.Value != "" && !field.Secret:
		return ", or nothing for " + sanitize.Line(field.Value)
	case field.Optional:
		return ", or nothing"
	}
	return ", or nothing to " + f.then
}

// line asks for a line, with echo.
func (f *flat) line(ctx context.Context, label string) (string, error) {
	if err := f.say(label); err != nil {
		return "", err
	}
	var line []byte
	for {
		c, err := f.next(ctx)
		switch {
		case errors.Is(err, ErrLeft):
			return "", errors.Join(err, f.say("\n"))
		case err != nil:
			return "", err
		case c == '\n':
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, c)
	}
}

// secret asks for a line without echo. Ctrl+C and Ctrl+D leave, Esc leaves or goes back: in
// raw mode they arrive as keys.
func (f *flat) secret(ctx context.Context, label string) (value string, err error) {
	restore, err := screen.NoEcho(f.In, f.Out) // before the label invites typing
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, restore(), f.say("\n")) }()
	defer crash.Hold(func() { _ = restore() })() // a panic matters more than this error
	if err := f.say(label); err != nil {
		return "", err
	}
	for {
		c, err := f.next(ctx)
		if err != nil {
			return "", err
		}
		switch c {
		case 3, 4: // Ctrl+C, Ctrl+D
			return "", ErrLeft
		case 27: // Esc
			return "", f.none
		case '\r', '\n':
			return strings.Join(strings.Fields(value), ""), nil
		case 21: // Ctrl+U
			value = ""
		case 8, 127:
			_, n := utf8.DecodeLastRuneInString(value)
			value = value[:len(value)-n]
		default:
			if len(value) < maxSecret {
				value += string([]byte{c})
			}
		}
	}
}

// next returns the next byte of the input. A read that nobody waits for is abandoned: the
// program ends after leaving.
func (f *flat) next(ctx context.Context) (byte, error) {
	for len(f.rest) == 0 {
		go func() {
			defer crash.Guard()
			data := make([]byte, 4096)
			n, err := f.In.Read(data) // a line at most, on a terminal
			f.read <- piece{data[:n], err}
		}()
		select {
		case got := <-f.read:
			if len(got.data) == 0 && got.err != nil {
				return 0, ErrLeft // end of input
			}
			f.rest = got.data
		case <-f.stop:
			return 0, ErrLeft
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	c := f.rest[0]
	f.rest = f.rest[1:]
	return c, nil
}

//go:build unix

package dialog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// askFlatly shows a page on a new terminal that only prints lines.
func askFlatly(ctx context.Context, t *testing.T, p Page) (term *ptytest.Terminal, answered <-chan outcome, before string) {
	t.Helper()
	term = ptytest.New(t, vt.Options{Width: 80, Height: 20})
	before = modes(t, term)
	fd, err := unix.Dup(int(term.TTY().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(fd), term.TTY().Name())
	done := make(chan outcome, 1)
	go func() {
		defer out.Close()
		a, err := Ask(ctx, Terminal{In: term.TTY(), Out: out, Flat: true}, p)
		done <- outcome{a, err}
	}()
	return term, done, before
}

// modes returns the settings of a terminal, from stty.
func modes(t *testing.T, term *ptytest.Terminal) string {
	t.Helper()
	cmd := exec.Command("stty", "-a")
	cmd.Stdin = term.TTY()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFlatChoices(t *testing.T) {
	for name, c := range map[string]struct {
		typed string
		want  int
		err   error
	}{
		"a number":          {"2\r", 1, nil},
		"no number":         {"two\r0\r3\r1\r", 0, nil},
		"nothing":           {"\r", 0, ErrLeft},
		"the end":           {"\x04", 0, ErrLeft},
		"nothing, at last":  {"9\r \r", 0, ErrLeft},
		"a correction":      {"1\x7f2\r", 1, nil},
		"an escape or two":  {"\x1b[A\r2\r", 1, nil},
		"more than a line":  {"2\r1\r", 1, nil},
		"a very long line":  {strings.Repeat("7", 3000) + "\r2\r", 1, nil},
		"a line of garbage": {"\xff\xfe\r2\r", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			term, done, _ := askFlatly(t.Context(), t, Page{Title: "Which\x1b[2J?", Text: []string{"Read this."}, Choices: choices("one", "two")})
			term.WaitFor(`1: one\n2: two\nA number`)
			term.Type(c.typed)
			if got := <-done; got.Choice != c.want || !errors.Is(got.err, c.err) {
				t.Errorf("%+v", got)
			}
			if name != "an escape or two" && bytes.ContainsRune(term.Bytes(), '\x1b') { // the terminal echoes the input
				t.Errorf("an escape sequence: %q", term.Bytes())
			}
		})
	}
}

func TestFlatFields(t *testing.T) {
	page := Page{Title: "A server", Fields: []Field{{Label: "Address", Value: "http://a"}, {Label: "Key", Secret: true, Optional: true}}}
	for name, c := range map[string]struct {
		address, key string
		want         []string
		err          error
	}{
		"as it is":          {"\r", "\r", []string{"http://a", ""}, nil},
		"typed":             {"http://b\r", "sk-canary\r", []string{"http://b", "sk-canary"}, nil},
		"corrected":         {"\r", "wrong\x15sk-canarx\x7fy\r", []string{"http://a", "sk-canary"}, nil},
		"Ctrl+C in the key": {"\r", "sk-canary\x03", nil, ErrLeft},
		"Ctrl+D in the key": {"\r", "sk-canary\x04", nil, ErrLeft},
	} {
		t.Run(name, func(t *testing.T) {
			term, done, before := askFlatly(t.Context(), t, page)
			term.WaitFor(`Address, or nothing for http://a:`)
			term.Type(c.address)
			term.WaitFor(`Key, which is not shown`)
			if !strings.Contains(modes(t, term), "-echo ") {
				t.Error("the key is asked for while the terminal echoes")
			}
			term.Type(c.key)
			got := <-done
			if d := cmp.Diff(c.want, got.Values); c.err == nil && d != "" || !errors.Is(got.err, c.err) {
				t.Error(d, got.err)
			}
			if strings.Contains(string(term.Bytes()), "canar") {
				t.Error("the secret was shown")
			}
			if d := cmp.Diff(before, modes(t, term)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A required secret is not asked for twice: an empty line leaves.
func TestFlatSecretLeft(t *testing.T) {
	term, done, _ := askFlatly(t.Context(), t, Page{Title: "A key", Fields: []Field{{Label: "Key", Secret: true}}})
	term.WaitFor(`or nothing to exit:`)
	term.Type("\r")
	if got := <-done; !errors.Is(got.err, ErrLeft) {
		t.Errorf("%+v", got)
	}
}

// An interrupt and the end of the context end the question and restore the terminal.
func TestFlatEnds(t *testing.T) {
	for _, p := range []Page{{Title: "Which?", Choices: choices("one")}, {Title: "A key", Fields: []Field{{Label: "Key", Secret: true}}}} {
		ctx, cancel := context.WithCancel(t.Context())
		term, done, before := askFlatly(ctx, t, p)
		term.WaitFor(`nothing to exit:`)
		if len(p.Fields) > 0 {
			term.WaitFor(`Key, which is not shown`)
			if !strings.Contains(modes(t, term), "-echo ") {
				t.Error("the key is asked for while the terminal echoes")
			}
		}
		cancel()
		if got := <-done; !errors.Is(got.err, context.Canceled) {
			t.Errorf("%+v", got)
		}
		if d := cmp.Diff(before, modes(t, term)); d != "" {
			t.Error(d)
		}
	}
	term, done, _ := askFlatly(t.Context(), t, Page{Title: "Which?", Choices: choices("one")})
	term.WaitFor(`nothing to exit:`)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := <-done; !errors.Is(got.err, ErrLeft) {
		t.Errorf("%+v", got)
	}
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// piped returns a standard input with text.
func piped(t *testing.T, text string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	scratch.Write(t, name, text)
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestWithStdin(t *testing.T) {
	closed := piped(t, "x")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, c := range []struct {
		name, prompt, want string
		in                 *os.File
		err                string
	}{
		{"both", "explain", "explain\n\nthis", piped(t, "this\n"), ""},
		{"prompt alone", "explain", "explain", piped(t, ""), ""},
		{"input alone", "", "this", piped(t, "\nthis\n"), ""},
		{"no UTF-8", "", "caf\uFFFD", piped(t, "caf\xe9"), ""},
		{"closed", "explain", "explain", closed, ""},
		{"none", "explain", "explain", nil, ""},
		{"a folder", "explain", "", folder, "read standard input"},
		{"nothing", " ", "", piped(t, " \n"), "the prompt is empty"},
		{"too much", "x", "", piped(t, strings.Repeat("x", maxStdin+1)), "larger than 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := withStdin(t.Context(), Process{Stdin: c.in, Stderr: os.Stderr}, c.prompt, silence, "")
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// An input that never ends does not block the program's end.
func TestWithStdinEndsWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := withStdin(ctx, Process{Stdin: r, Stderr: os.Stderr}, "x", silence, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An input that stays open without a byte does not hold the prompt back for ever; one that has
// begun is waited for, and so is one that is the prompt.
func TestWithStdinThatNobodyWrites(t *testing.T) {
	const limit = 2 * time.Second
	for _, c := range []struct{ name, prompt, text, want string }{
		{"nothing", "explain", "", "explain"},
		{"begun", "explain", "this", "explain\n\nthis"},
		{"the prompt", "", "this", "this"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			defer r.Close()
			told, tell, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer told.Close()
			if c.prompt != "" && c.text != "" {
				if _, err := w.WriteString(c.text); err != nil {
					t.Fatal(err)
				}
			}
			later := time.AfterFunc(2*limit, func() { // longer than the limit
				if c.prompt == "" {
					_, _ = w.WriteString(c.text)
				}
				_ = w.Close()
			})
			defer later.Stop()
			got, err := withStdin(t.Context(), Process{Stdin: r, Stderr: tell}, c.prompt, limit, "")
			_ = tell.Close()
			said, readErr := io.ReadAll(told)
			if err := errors.Join(err, readErr); got != c.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if alone := strings.Contains(string(said), "nothing came on standard input within 2s"); alone != (c.text == "") {
				t.Errorf("told %q", said)
			}
		})
	}
}

func TestWorkDir(t *testing.T) {
	dir := scratch.Dir(t, nil)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if got, err := setup.Folder(link); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
	file := filepath.Join(dir, "file")
	scratch.Write(t, file, "")
	for _, wrong := range []string{file, filepath.Join(dir, "missing")} {
		var usage usageError
		if _, err := setup.Folder(wrong); !errors.As(err, &usage) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A server on this machine may give its models hostile names.
func TestTheNoteOnTheModelIsSafe(t *testing.T) {
	p, _ := files(t)
	remark(p, "using x\x1b]0;owned\a\ny")
	got, err := os.ReadFile(p.Stderr.Name())
	if err != nil || bytes.ContainsAny(got, "\x1b\a") || bytes.Count(got, []byte("\n")) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

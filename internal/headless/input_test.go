package headless

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func TestInput(t *testing.T) {
	closed := scratch.Input(t, "x")
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
		{"both", "explain", "explain\n\nthis", scratch.Input(t, "this\n"), ""},
		{"prompt alone", "explain", "explain", scratch.Input(t, ""), ""},
		{"input alone", "", "this", scratch.Input(t, "\nthis\n"), ""},
		{"no UTF-8", "", "caf\uFFFD", scratch.Input(t, "caf\xe9"), ""},
		{"closed", "explain", "explain", closed, ""},
		{"none", "explain", "explain", nil, ""},
		{"a folder", "explain", "", folder, "read standard input"},
		{"nothing", " ", "", scratch.Input(t, " \n"), "the prompt is empty"},
		{"too much", "x", "", scratch.Input(t, strings.Repeat("x", maxInput+1)), "larger than 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Input{File: c.in, Silence: Silence, Remark: func(line string) { t.Error(line) }}.Append(t.Context(), c.prompt)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// An input that never ends does not block the program's end.
func TestInputEndsWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // first: on Windows a file that is being read is not closed
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Input{File: r, Silence: Silence}).Append(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An input that stays open without a byte does not hold the prompt back for ever; one that has
// begun is waited for, and so is one that is the prompt.
func TestInputThatNobodyWrites(t *testing.T) {
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
			defer r.Close()
			defer w.Close() // first, as above
			told := make(chan string, 2)
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
			got, err := Input{File: r, Silence: limit, Remark: func(line string) { told <- line }}.Append(t.Context(), c.prompt)
			if got != c.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			said := ""
			for len(told) > 0 {
				said += <-told + "\n"
			}
			if alone := strings.Contains(said, "nothing came on standard input within 2s"); alone != (c.text == "") {
				t.Errorf("told %q", said)
			}
		})
	}
}

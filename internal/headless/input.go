package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// maxInput is how many bytes of standard input can be appended to a prompt.
const maxInput = 8 << 20

// explains is how long standard input may stay silent before a remark explains the
// wait: programs that start this one may leave it open by mistake.
const explains = 3 * time.Second

// Silence is how long standard input may stay open without a byte if there is a prompt without it.
const Silence = 15 * time.Second

// Input is standard input, as a part of a prompt.
type Input struct {
	File     *os.File      // nil without one
	Silence  time.Duration // see the constant
	Encoding string        // of lines that are not UTF-8
	Remark   func(line string)
}

// firstByte calls began when something has been read.
type firstByte struct {
	io.Reader
	began func()
}

// Read implements io.Reader.
func (f firstByte) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if n > 0 {
		f.began()
	}
	return n, err
}

// Append appends the input to the prompt. It waits for its end until ctx ends, or goes on with
// the prompt alone if nothing comes.
func (in Input) Append(ctx context.Context, prompt string) (string, error) {
	if in.File == nil {
		return needed(prompt)
	}
	if _, err := in.File.Stat(); err != nil {
		return needed(prompt) // a closed standard input is an empty one
	}
	type input struct {
		data []byte
		err  error
	}
	got := make(chan input, 1)
	none := time.NewTimer(in.Silence)
	defer none.Stop()
	if strings.TrimSpace(prompt) == "" {
		none.Stop()
	}
	go func() { // a read that blocks for ever ends with the program
		defer crash.Guard()
		data, err := regularfile.ReadAll(firstByte{in.File, func() { none.Stop() }}, maxInput)
		got <- input{data, err}
	}()
	silent := time.AfterFunc(explains, crash.Guarded(func() { in.Remark("waiting for standard input to end; add </dev/null to use none") }))
	defer silent.Stop()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-none.C:
		in.Remark("nothing came on standard input within " + in.Silence.String() + ", so the prompt goes without it; if a program before the | is slower, write its output to a file first")
		return needed(prompt)
	case i := <-got:
		if errors.Is(i.err, regularfile.ErrTooLarge) {
			return "", setup.UsageError{Err: fmt.Errorf("standard input is larger than %d MiB; name the file in the prompt instead", maxInput>>20)}
		}
		if i.err != nil {
			return "", fmt.Errorf("read standard input: %w", i.err)
		}
		got := strings.TrimSpace(text.Output(i.data, text.Encoding(in.Encoding)))
		return needed(strings.TrimSpace(prompt + "\n\n" + got))
	}
}

func needed(prompt string) (string, error) {
	if strings.TrimSpace(prompt) == "" {
		return "", setup.UsageError{Err: errors.New("the prompt is empty: give it after -p, or on standard input")}
	}
	return prompt, nil
}

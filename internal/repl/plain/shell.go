package plain

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// shellOutput is the output of a command line of the user.
type shellOutput struct {
	sanitize.Stream
	inLine bool // its last line is incomplete
}

// shell runs a command line of the user and prints its output as it arrives.
func (u *UI) shell(ctx context.Context, line string) {
	if line == "" {
		u.say("! runs a command: !git status\n")
		return
	}
	u.show(&shellOutput{Stream: sanitize.Stream{Strip: true}})
	u.stoppable(ctx, func(ctx context.Context) {
		if err := u.opt.Shell(ctx, line); errors.Is(err, context.Canceled) {
			u.say("Cancelled.\n")
		}
	})
	u.show(nil)
}

// show sends the output of commands to out from now on; nil discards it.
func (u *UI) show(out *shellOutput) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.output = out
}

// attach replaces the images named in a prompt with placeholders.
func (u *UI) attach(line string) string {
	if u.opt.Attach == nil {
		return line
	}
	var t edit.Text
	t.Put(line)
	t.MarkWords(u.opt.Attach)
	return edit.Plain(t.Gs)
}

// total returns the usage of the session.
func (u *UI) total() llm.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.used
}

// uses ends a streaming answer and records the usage of the session.
func (u *UI) uses(total llm.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.write("")
	u.used = total
}

// prints prints output of the user's command line; ended reports that it is complete.
func (u *UI) prints(text string, ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := u.output
	if p == nil {
		return
	}
	text = p.Push(text)
	if ended {
		text += p.Close()
	}
	if text != "" {
		p.inLine = !strings.HasSuffix(text, "\n")
	}
	if ended && p.inLine {
		text += "\n"
		p.inLine = false
	}
	_, _ = io.WriteString(u.opt.Out, text)
}

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

// printed is what a command line of the user's prints.
type printed struct {
	sanitize.Stream
	inLine bool // its last line is not ended
}

// shell runs a command line of the user's; what it prints is shown as it comes.
func shell(ctx context.Context, u *UI, line string) {
	if line == "" {
		u.say("! runs a command: !git status\n")
		return
	}
	u.show(&printed{Stream: sanitize.Stream{Strip: true}})
	u.stoppable(ctx, func(ctx context.Context) {
		if err := u.opt.Shell(ctx, line); errors.Is(err, context.Canceled) {
			u.say("Cancelled.\n")
		}
	})
	u.show(nil)
}

// show has what commands print from now on shown through out; nil: nothing of it.
func (u *UI) show(out *printed) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.output = out
}

// attach puts placeholders in the place of the images that a prompt names.
func (u *UI) attach(line string) string {
	if u.opt.Attach == nil {
		return line
	}
	var t edit.Text
	t.Put(line)
	t.MarkWords(u.opt.Attach)
	return edit.Plain(t.Gs)
}

// spent ends an answer, if one is coming in, and notes what the session has used.
func (u *UI) spent(total llm.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.write("")
	u.used = total
}

// prints shows what a command line of the user's prints; ended says that it is all.
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

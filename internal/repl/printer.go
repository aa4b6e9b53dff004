package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/record"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// historyBytes bounds how much of a resumed conversation is drawn again.
const historyBytes = 8 << 10

// printer puts finished blocks into the scrollback.
type printer struct {
	scr   *screen.Screen
	look  theme.Look
	calls bool // the last line printed is a call's
	rec   record.Record
}

func (p *printer) lines(lines ...string) {
	p.scr.Print(lines...)
	p.calls = false
}

// prompt prints what the user said.
func (p *printer) prompt(text string) {
	p.rec.Prompt(text)
	lines := []string{""}
	prefix := "❯ "
	for _, l := range theme.Wrap(sanitize.Text(strings.TrimSpace(text)), "", p.look.Width-2) {
		lines = append(lines, theme.Paint(p.look.Styles.User, prefix+l))
		prefix = "  "
	}
	p.lines(lines...)
}

// call prints the outcome of a call: one line (more if it failed), the end of a
// command's output, and the diff of what was changed. above counts the lines of
// output that are no longer known.
func (p *printer) call(ev session.CallEnded, output []string, above int) {
	st, res := p.look.Styles, ev.Result
	if !p.calls {
		p.lines("")
	}
	title := " " + sanitize.Line(ev.Title)
	said := theme.Paint(st.Dim, " · "+sanitize.Line(res.ForUser))
	if res.ForUser == "" {
		said = ""
	}
	show := 5
	switch {
	case res.Denied != nil:
		p.lines(theme.Short(theme.Paint(st.Warn, "○")+title+said, p.look.Width))
	case res.Failed:
		p.lines(theme.Wrap(theme.Paint(st.Bad, "✗")+title+said, "", p.look.Width)...)
		show = 10
	default:
		p.lines(theme.Short(theme.Paint(st.Good, "●")+title+said, p.look.Width))
	}
	above = max(above, res.Lines-len(output)) // what comes too fast is not all seen
	p.output(output, above, show)
	p.remember(ev, above+len(output) > show)
	for _, c := range res.Changes {
		opt := diffview.Options{Width: p.look.Width, NoColor: p.look.NoColor}
		_, lines := diffview.Summarize(c.Path, c.Diff, opt) // the call's own line is the title
		p.lines(lines...)
	}
	p.calls = true
}

// output prints the last lines of a command's output.
func (p *printer) output(lines []string, above, show int) {
	cut := max(0, len(lines)-show)
	if above+cut > 0 {
		p.lines(theme.Paint(p.look.Styles.Dim, theme.Short(fmt.Sprintf("  … %d more lines, Ctrl+O", above+cut), p.look.Width)))
	}
	for _, l := range lines[cut:] {
		p.lines(theme.Paint(p.look.Styles.Dim, theme.Short("  "+l, p.look.Width)))
	}
}

// end says how a turn ended, unless it simply did.
func (p *printer) end(ev session.TurnEnded) {
	switch ev.Stop {
	case session.StopDone, session.StopLimit: // of a limit a Notice has told
	case session.StopCancelled:
		p.warn("Cancelled. What was done stays done; say what to do instead.")
	case session.StopDenied:
		p.warn("Stopped, as you said no. Say what to do instead.")
	default:
		if ev.Err != nil && !errors.Is(ev.Err, context.Canceled) {
			p.problem(ev.Err)
			p.notice("↑ and Enter try the same again.")
		}
	}
}

func (p *printer) warn(text string) {
	p.lines("")
	p.block(p.look.Styles.Warn, text)
}

// problem prints an error.
func (p *printer) problem(err error) {
	p.lines("")
	p.block(p.look.Styles.Bad, "error: "+err.Error())
}

// notice prints a remark of the program.
func (p *printer) notice(text string) { p.block(p.look.Styles.Dim, text) }

func (p *printer) block(style theme.Style, text string) {
	for _, l := range theme.Wrap(sanitize.Text(text), "", p.look.Width) {
		p.lines(theme.Paint(style, l))
	}
}

// diff prints a unified diff.
func (p *printer) diff(text string) {
	p.lines("")
	for doc, i := pager.Diff(text), 0; i < doc.Len(); i++ {
		p.lines(doc.Rows(i, p.look)...)
	}
}

// plain prints the text of a command.
func (p *printer) plain(text string) {
	p.lines("")
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		p.lines(theme.Wrap(strings.ReplaceAll(sanitize.Text(l), "\t", "    "), "  ", p.look.Width)...)
	}
}

// greet says what this is and where it works.
func (p *printer) greet(s Start) {
	st := p.look.Styles
	line := theme.Paint(st.Accent, "agent "+s.Version) + theme.Paint(st.Dim, " · "+sanitize.Line(s.Dir)+" · /help")
	p.lines(theme.Short(line, p.look.Width))
	for _, n := range s.Notes {
		p.notice(n)
	}
}

// remember keeps a call for the pager.
func (p *printer) remember(ev session.CallEnded, folded bool) {
	c := record.Call{Title: ev.Title, Output: ev.Result.ForModel, File: ev.Result.Log, Folded: folded}
	for _, change := range ev.Result.Changes {
		c.Diffs = append(c.Diffs, change.Diff)
	}
	p.rec.Call(c)
}

// history prints the end of a conversation, and keeps all of it for the pager.
func (p *printer) history(msgs []llm.Message) {
	defer func() { p.rec = record.Of(msgs) }() // drawing them is not saying them again
	from, size := len(msgs), 0
	for from > 0 && size < historyBytes {
		from--
		size += len(msgs[from].Text())
	}
	if len(msgs) > 0 {
		p.notice(fmt.Sprintf("The session goes on: %d messages, the last %d of them here.", len(msgs), len(msgs)-from))
	}
	for _, msg := range msgs[from:] {
		p.message(msg)
	}
}

func (p *printer) message(msg llm.Message) {
	switch msg.Role {
	case llm.User:
		p.prompt(msg.Said())
	case llm.Assistant:
		if text := msg.Text(); strings.TrimSpace(text) != "" {
			opt := markdown.Options{Width: p.look.Width, NoColor: p.look.NoColor}
			p.lines("")
			p.lines(markdown.Render(text, opt)...)
		}
		for _, c := range msg.Calls {
			p.lines(theme.Paint(p.look.Styles.Dim, theme.Short("· "+sanitize.Line(record.Title(c)), p.look.Width)))
		}
	case llm.System, llm.ToolReply: // their outcomes were shown when they came
	}
}

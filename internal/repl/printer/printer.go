// Package printer writes finished parts of the conversation to the scrollback. It guarantees
// that they are safe to show, that each is printed once unless the person asks again, and
// that the memory for reprinting is bounded.
package printer

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/record"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Printer prints finished blocks. It is not safe for concurrent use.
type Printer struct {
	Screen *screen.Screen
	Look   theme.Look
	Record record.Record // the full conversation
	// Title describes a call in one short line and with all of its text.
	Title func(llm.ToolCall) (line, whole string)

	log   log
	calls bool // the last block is a call
}

// New returns a Printer on scr.
func New(scr *screen.Screen, look theme.Look) *Printer {
	return &Printer{Screen: scr, Look: look, Title: func(c llm.ToolCall) (line, whole string) { return c.Name, c.Name }}
}

// whole describes a call for the full conversation.
func (p *Printer) whole(c llm.ToolCall) string {
	_, whole := p.Title(c)
	return whole
}

// Stream prints lines of a streaming answer. Call Answer at its end.
func (p *Printer) Stream(lines []string) {
	p.Screen.Print(lines...)
	p.calls = false
}

// Answer keeps the text of an answer that Stream has printed.
func (p *Printer) Answer(text string) {
	p.Record.Answer(text)
	p.log.add(len(text), func(look theme.Look) []string { return append([]string{""}, answer(text, look)...) })
}

// Prompt prints a prompt of the user.
func (p *Printer) Prompt(text string) {
	p.Record.Prompt(text)
	text, more := beginning(strings.TrimSpace(text))
	p.put(len(text), func(look theme.Look) []string { return said(text, more, look) })
}

// Limits of a printed prompt.
const (
	saidLines = 30
	saidBytes = 8 << 10
)

// beginning shortens a long prompt and returns the number of omitted lines.
func beginning(text string) (begin string, more int) {
	end, lines := 0, 0
	for end < len(text) && lines < saidLines {
		n := strings.IndexByte(text[end:], '\n') + 1
		if n == 0 {
			n = len(text) - end
		}
		if end+n > saidBytes && lines > 0 {
			break
		}
		end, lines = end+n, lines+1
	}
	if end == len(text) && len(text) <= saidBytes {
		return text, 0
	}
	begin = strings.ToValidUTF8(text[:min(end, saidBytes)], "")
	return strings.TrimRight(begin, "\n"), 1 + strings.Count(text[len(begin):], "\n")
}

func said(text string, more int, look theme.Look) []string {
	lines := []string{""}
	prefix := "❯ "
	for _, l := range theme.Wrap(sanitize.Text(text), "", look.Width-2) {
		lines = append(lines, theme.Paint(look.Styles.User, prefix+l))
		prefix = "  "
	}
	if more > 0 {
		lines = append(lines, theme.Paint(look.Styles.Dim, theme.Short(folded(more, look), look.Width)))
	}
	return lines
}

// folded returns the remark for n omitted lines.
func folded(n int, look theme.Look) string { return "  " + diffview.More(n, look.Keys.Whole) }

// put prints a block and keeps it; size is its size in bytes.
func (p *Printer) put(size int, b block) {
	p.Screen.Print(b(p.Look)...)
	p.log.add(size, b)
	p.calls = false
}

// Call prints the result of a call: one line (more if it failed), the end of a command's
// output, and the diff of its changes. above counts output lines that are no longer
// available.
func (p *Printer) Call(ev session.CallEnded, output []string, above int) {
	res := ev.Result
	c := callBlock{
		title: ev.Title, said: res.ForUser, denied: res.Denied != nil, failed: res.Failed, first: !p.calls,
		above: max(above, res.Lines-len(output)), // the live view may have missed lines
	}
	show := 5
	switch {
	case ev.Call.Name == session.Typed:
		show = 30 // the person asked for it
	case c.failed && !c.denied:
		show = 10
	}
	cut := max(0, len(output)-show)
	if cut == 1 && c.above == 0 {
		cut = 0 // the remark would take as much room
	}
	c.above += cut
	c.output = append([]string(nil), output[cut:]...)
	c.plan = res.Plan
	size := len(c.title) + len(c.said) + len(c.plan)
	kept := record.Call{Title: cmp.Or(p.whole(ev.Call), ev.Title), Output: res.ForModel, File: res.Log, Folded: c.above > 0, Plan: res.Plan, State: record.StateOf(c.failed, c.denied)}
	if task := history.NewTask(res.Task, res.TaskFailed, res.TaskRefused); task != nil {
		kept.Output, kept.File, kept.Folded = record.Conversation(task, p.whole), "", true
	}
	for _, change := range res.Changes {
		if change.Diff == "" { // by a command: /diff shows it
			continue
		}
		kept.Diffs = append(kept.Diffs, change.Diff)
		kept.Folded = kept.Folded || strings.Count(change.Diff, "\n") > summary
		c.changes = append(c.changes, edit{change.Path, change.Diff})
		size += len(change.Diff)
	}
	p.Record.Call(kept)
	p.put(size, c.lines)
	p.calls = true
}

// summary is the number of lines up to which a diff, including its names, is printed whole.
const summary = 16

// callBlock is the printed form of a call.
type callBlock struct {
	title, said    string
	denied, failed bool
	first          bool // first of several calls
	output         []string
	above          int // number of earlier output lines
	changes        []edit
	plan           string // an accepted one, in Markdown
}

type edit struct{ path, diff string }

func (c callBlock) lines(look theme.Look) []string {
	st, width := look.Styles, look.Width
	var lines []string
	if c.first {
		lines = append(lines, "")
	}
	switch {
	case c.denied:
		lines = append(lines, c.head(theme.Paint(st.Warn, "○"), look)...)
	case c.failed:
		lines = append(lines, c.head(theme.Paint(st.Bad, "✗"), look)...)
	default:
		lines = append(lines, c.head(theme.Paint(st.Good, "●"), look)...)
	}
	if c.above > 0 {
		lines = append(lines, theme.Paint(st.Dim, theme.Short(folded(c.above, look), width)))
	}
	for _, l := range c.listed() {
		lines = append(lines, indented(st.Dim, l, width)...)
	}
	for _, l := range c.output {
		if c.failed { // the reason may be anywhere in a line
			lines = append(lines, indented(st.Dim, l, width)...)
		} else {
			lines = append(lines, theme.Paint(st.Dim, theme.Short("  "+l, width)))
		}
	}
	for _, e := range c.changes {
		_, rows := diffview.Summarize(e.path, e.diff, diffview.Options{Width: width, NoColor: look.NoColor, Tint: look.Tint, Whole: look.Keys.Whole})
		lines = append(lines, rows...) // the line of the call is the title
	}
	if c.plan != "" {
		lines = append(append(lines, ""), answer(c.plan, look)...)
	}
	return lines
}

// listed returns the lines of one of several calls.
func (c callBlock) listed() []string {
	if !strings.Contains(c.said, "\n") {
		return nil
	}
	return strings.Split(c.said, "\n")
}

// head returns the lines of the call and its result. The result may be words of the person:
// it is never cut. If there is room beside it for some of the call, head shortens the call;
// otherwise the result is below. A failed call is shown whole, too.
func (c callBlock) head(mark string, look theme.Look) []string {
	const least = 20
	title, said, beside := sanitize.Line(c.title), "", ""
	if c.said != "" && c.listed() == nil {
		said = sanitize.Line(c.said)
		beside = " · " + said
	}
	room := look.Width - 2 - cells.Width(beside)
	switch dim := look.Styles.Dim; {
	case c.failed:
		return theme.Wrap(mark+" "+title+theme.Paint(dim, beside), "", look.Width)
	case said == "", room >= min(least, cells.Width(title)):
		return []string{mark + " " + theme.Short(title, room) + theme.Paint(dim, beside)}
	default:
		return append([]string{mark + " " + theme.Short(title, look.Width-2)}, indented(dim, said, look.Width)...)
	}
}

// End prints how a turn ended, unless it ended normally.
func (p *Printer) End(ev session.TurnEnded) {
	switch ev.Stop {
	case session.StopDone, session.StopLimit: // a Notice reports the limit
	case session.StopCancelled:
		p.warn(session.Cancelled)
	case session.StopDenied:
		p.warn(session.Declined)
	default:
		if ev.Err != nil && !errors.Is(ev.Err, context.Canceled) {
			p.Problem(ev.Err)
			if k := p.Look.Keys; k.Older != "" && k.Send != "" {
				p.Notice("Press " + k.Older + " then " + k.Send + " to retry.")
			}
		}
	}
}

func (p *Printer) warn(text string) {
	p.put(len(text), func(look theme.Look) []string { return append([]string{""}, wrapped(look.Styles.Warn, text, look)...) })
}

// Problem prints an error.
func (p *Printer) Problem(err error) {
	text := "error: " + err.Error()
	p.put(len(text), func(look theme.Look) []string { return append([]string{""}, wrapped(look.Styles.Bad, text, look)...) })
}

// Notice prints a remark of the program.
func (p *Printer) Notice(text string) {
	p.put(len(text), func(look theme.Look) []string { return wrapped(look.Styles.Dim, text, look) })
}

func wrapped(style theme.Style, text string, look theme.Look) []string {
	lines := theme.Wrap(sanitize.Text(text), "", look.Width)
	for i, l := range lines {
		lines[i] = theme.Paint(style, l)
	}
	return lines
}

func indented(style theme.Style, text string, width int) []string {
	lines := theme.Wrap(sanitize.Text(text), "  ", width)
	for i, l := range lines {
		lines[i] = theme.Paint(style, l)
	}
	return lines
}

// Diff prints a unified diff.
func (p *Printer) Diff(text string) {
	p.put(len(text), func(look theme.Look) []string {
		lines := []string{""}
		for doc, i := diffview.Doc(text), 0; i < doc.Len(); i++ {
			lines = append(lines, doc.Rows(i, look)...)
		}
		return lines
	})
}

// Text prints the output of a command.
func (p *Printer) Text(text string) {
	p.put(len(text), func(look theme.Look) []string {
		lines := []string{""}
		for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			lines = append(lines, theme.Wrap(strings.ReplaceAll(sanitize.Text(l), "\t", "    "), "  ", look.Width)...)
		}
		return lines
	})
}

// Marked prints a text in Markdown that the person approves: as a page if that shows all of it.
func (p *Printer) Marked(text string) {
	if _, ok := markdown.Whole(text, markdown.Options{Width: 80}); !ok {
		p.Text(text)
		return
	}
	p.put(len(text), func(look theme.Look) []string {
		lines, _ := markdown.Whole(text, markdown.Options{Width: look.Width - 2, NoColor: look.NoColor})
		for i, l := range lines {
			lines[i] = strings.TrimRight("  "+l, " ")
		}
		return append([]string{""}, lines...)
	})
}

// Greet prints the version, the folder and notes.
func (p *Printer) Greet(version, dir string, notes []string) {
	p.put(len(version)+len(dir), func(look theme.Look) []string {
		line := theme.Paint(look.Styles.Accent, "agent "+version) + theme.Paint(look.Styles.Dim, " · "+sanitize.Line(dir)+" · /help")
		return []string{theme.Short(line, look.Width)}
	})
	for _, n := range notes {
		p.Notice(n)
	}
}

func answer(text string, look theme.Look) []string {
	return markdown.Render(text, markdown.Options{Width: look.Width, NoColor: look.NoColor, Wrapped: theme.Wrapped})
}

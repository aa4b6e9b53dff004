package printer

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/record"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

const (
	// historyBytes is about how much of a resumed conversation is printed.
	historyBytes = 8 << 10
	// promptBytes is how much more is printed so that the text begins with a prompt. A longer
	// turn is printed without its middle.
	promptBytes = 16 << 10
)

// History prints the end of a conversation, from a prompt on, and replaces the record.
func (p *Printer) History(items []history.Item) {
	defer func() { p.Record = record.FromHistory(items, p.whole) }() // printing must not record them again
	titles := map[string]string{}
	for _, it := range items {
		for _, c := range it.Message.Calls {
			titles[c.ID], _ = p.Title(c)
		}
	}
	first, from := span(items, titles)
	if len(items) > 0 {
		shown := len(items) - from
		if first < from {
			shown++
		}
		p.Notice(p.resumed(len(items), shown))
	}
	if first < from {
		p.again(items[first], "")
		p.omitted(from - first - 1)
	}
	for _, it := range items[from:] {
		p.again(it, titles[it.Message.CallID])
	}
}

// span returns the prompt that a resumed conversation is printed from, and the first item
// after it that is printed. They are equal if nothing in between is left out.
func span(items []history.Item, titles map[string]string) (first, from int) {
	from, size := len(items), 0
	for from > 0 && size < historyBytes {
		from--
		size += printed(items[from], titles[items[from].Message.CallID])
	}
	first, size = from, 0
	for first > 0 && !items[first].Prompts() {
		first--
		size += printed(items[first], titles[items[first].Message.CallID])
	}
	if size <= promptBytes {
		from = first
	}
	return first, from
}

// printed returns about how many bytes again prints of an item.
func printed(it history.Item, title string) int {
	switch msg := it.Message; msg.Role {
	case llm.User:
		return min(len(msg.UserText()), saidBytes)
	case llm.Assistant:
		return len(msg.Text())
	case llm.ToolReply:
		size := len(title)
		if it.Deed != nil {
			size += len(it.Deed.Plan)
			for _, f := range it.Deed.Files {
				size += len(head(f.Diff, summary))
			}
		}
		return size
	case llm.System:
	}
	return 0
}

// head returns the first n lines of text.
func head(text string, n int) string {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		at := strings.IndexByte(text[end:], '\n')
		if at < 0 {
			return text
		}
		end += at + 1
	}
	return text[:end]
}

// resumed returns the notice above a resumed conversation of n messages.
func (p *Printer) resumed(n, shown int) string {
	text := fmt.Sprintf("Session resumed: %d messages", n)
	if n == 1 {
		text = "Session resumed: 1 message"
	}
	if shown < n {
		text += fmt.Sprintf(", the last %d shown here", shown)
	}
	if key := p.Look.Keys.Whole; key != "" {
		text += "; " + key + " shows everything"
	}
	return text + "."
}

// omitted prints a remark for n messages of a long turn.
func (p *Printer) omitted(n int) {
	p.put(0, func(look theme.Look) []string {
		text := fmt.Sprintf("  … %d more messages", n)
		if key := look.Keys.Whole; key != "" {
			text += ", " + key
		}
		return []string{"", theme.Paint(look.Styles.Dim, theme.Short(text, look.Width))}
	})
}

// again prints an item of an earlier conversation; title names the call it answers.
func (p *Printer) again(it history.Item, title string) {
	switch msg := it.Message; msg.Role {
	case llm.User:
		if it.Prompts() {
			p.Prompt(msg.UserText())
		}
	case llm.Assistant:
		p.Thought(msg.Reasoning(), -1)
		if text := msg.Text(); strings.TrimSpace(text) != "" {
			p.put(len(text), func(look theme.Look) []string { return append([]string{""}, answer(text, look)...) })
		}
	case llm.ToolReply:
		switch {
		case it.Deed != nil:
			p.deed(title, *it.Deed)
		case it.Failed:
			p.deed(title, history.Deed{Result: reason(it.Whole().Message), Failed: true})
		default:
			p.put(len(title), func(look theme.Look) []string {
				return []string{theme.Paint(look.Styles.Dim, theme.Short("· "+sanitize.Line(title), look.Width))}
			})
		}
	case llm.System:
	}
}

// reasonColumns bounds the reason of a failure, which is wrapped.
const reasonColumns = 400

// reason returns the first line of a failed call's result.
func reason(m llm.Message) string {
	line, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n")
	return theme.Short(line, reasonColumns)
}

// deed prints the result of a call that failed, changed or ran something, or was declined.
func (p *Printer) deed(title string, d history.Deed) {
	c := callBlock{title: title, said: d.Result, denied: d.Refused, failed: d.Failed, first: !p.calls, plan: d.Plan}
	size := len(c.title) + len(c.said) + len(c.plan)
	for _, f := range d.Files {
		c.changes = append(c.changes, edit{f.Path, f.Diff})
		size += len(f.Diff)
	}
	p.put(size, c.lines)
	p.calls = true
}

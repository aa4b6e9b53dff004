package record

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// FromHistory returns the record of an earlier conversation, whose calls title describes.
func FromHistory(items []history.Item, title func(llm.ToolCall) string) Record {
	var r Record
	titles := map[string]string{}
	for _, it := range items {
		switch msg := it.Message; msg.Role {
		case llm.User:
			if notes := asides(msg); notes != "" {
				r.Context(notes)
			}
			if it.Prompts() {
				r.Prompt(msg.UserText())
			}
		case llm.Assistant:
			if text := strings.TrimSpace(msg.Reasoning()); text != "" {
				r.Thought(text, false)
			}
			if text := msg.Text(); strings.TrimSpace(text) != "" {
				r.Answer(text)
			}
			for _, c := range msg.Calls {
				titles[c.ID] = title(c)
			}
		case llm.ToolReply:
			c := Call{Title: titles[msg.CallID], State: StateOf(it.Failed, it.Deed != nil && it.Deed.Refused)}
			if it.Stored != nil {
				c.Load, c.Stored = func() string { return output(it.Whole(), title) }, it.Stored.Size
			} else {
				c.Output = output(it, title)
			}
			if it.Deed != nil {
				c.Plan = it.Deed.Plan
				for _, f := range it.Deed.Files {
					c.Diffs = append(c.Diffs, f.Diff)
				}
			}
			r.Call(c)
		case llm.System:
		}
	}
	return r
}

// output returns the output of a call from its result.
func output(it history.Item, title func(llm.ToolCall) string) string {
	if it.Task != nil {
		return Conversation(it.Task, title)
	}
	return it.Message.Text()
}

// Conversation returns the conversation of a sub-agent as text; title describes its calls.
func Conversation(task *history.Task, title func(llm.ToolCall) string) string {
	var b strings.Builder
	titles := map[string]string{}
	for _, m := range task.Messages {
		text := strings.TrimSpace(m.Text())
		switch m.Role {
		case llm.ToolReply:
			state := StateOf(slices.Contains(task.Failed, m.CallID), slices.Contains(task.Refused, m.CallID))
			text = state.mark() + " " + titles[m.CallID] + "\n" + text
		case llm.Assistant, llm.System:
		case llm.User:
			text = "❯ " + strings.TrimSpace(m.UserText())
		}
		for _, c := range m.Calls {
			titles[c.ID] = title(c)
		}
		if text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// asides returns the text that the program added to a message of the user.
func asides(m llm.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == llm.TextPart && p.Aside {
			b.WriteString(p.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

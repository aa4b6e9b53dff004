package record

import (
	"encoding/json"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Of returns the record of a conversation that was had before.
func Of(msgs []llm.Message) Record {
	var r Record
	titles := map[string]string{}
	for _, msg := range msgs {
		switch msg.Role {
		case llm.User:
			r.Prompt(msg.Text())
		case llm.Assistant:
			if text := msg.Text(); strings.TrimSpace(text) != "" {
				r.Answer(text)
			}
			for _, c := range msg.Calls {
				titles[c.ID] = Title(c)
			}
		case llm.ToolReply:
			r.Call(Call{Title: titles[msg.CallID], Output: msg.Text()})
		case llm.System:
		}
	}
	return r
}

// Title says what a call was about, from its arguments.
func Title(c llm.ToolCall) string {
	var all map[string]any
	if json.Unmarshal([]byte(c.Args), &all) != nil {
		return c.Name
	}
	for _, key := range []string{"path", "command", "regex", "pattern"} {
		if text, ok := all[key].(string); ok {
			return c.Name + " " + text
		}
	}
	return c.Name
}

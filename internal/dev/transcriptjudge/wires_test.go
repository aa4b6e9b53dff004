package transcriptjudge

import (
	"strings"
	"testing"
)

func TestMessagesAndResponsesAreJudged(t *testing.T) {
	const (
		hello = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
		use   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]}`
		done  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`
		think = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"x","input":{}}]}`
		input = `{"role":"user","content":[{"type":"input_text","text":"hi"}]}`
		call  = `{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}`
		out   = `{"type":"function_call_output","call_id":"a","output":"ok"}`
		enc   = `{"type":"reasoning","encrypted_content":"e"}`
	)
	messages := func(all ...string) string {
		return `{"model":"m","max_tokens":1,"messages":[` + strings.Join(all, ",") + `]}`
	}
	responses := func(all ...string) string {
		return `{"model":"m","store":false,"input":[` + strings.Join(all, ",") + `]}`
	}
	for name, c := range map[string]struct {
		body  string
		wants string // of the error; empty for none
	}{
		"prompt":                {messages(hello), ""},
		"call":                  {messages(hello, use, done), ""},
		"thinking":              {messages(hello, think, done), ""},
		"no limit":              {`{"model":"m","messages":[` + hello + `]}`, "required"},
		"two prompts":           {messages(hello, hello), "role"},
		"answer last":           {messages(hello, use), "nothing to answer"},
		"no result":             {messages(hello, use, hello), "without a result"},
		"blank text":            {messages(strings.Replace(hello, "hi", " ", 1)), "not blank"},
		"unsigned":              {messages(hello, strings.Replace(think, `,"signature":"s"`, "", 1), done), "signature"},
		"odd id":                {messages(hello, strings.Replace(use, `"a"`, `"a:0"`, 1), done), "id"},
		"five markers":          {`{"model":"m","max_tokens":1,"system":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x","cache_control":{}},`, 5), ",") + `],"messages":[` + hello + `]}`, "markers"},
		"input":                 {responses(input), ""},
		"function":              {responses(input, enc, call, out), ""},
		"stored":                {strings.Replace(responses(input), "false", "true", 1), "store"},
		"reasoning alone":       {responses(input, enc, input), "lost the item"},
		"plain reasoning":       {responses(input, `{"type":"reasoning"}`, call, out), "encrypted"},
		"open call":             {responses(input, call, input), "no result"},
		"result of nothing":     {responses(input, out), "no open call"},
		"arguments of a list":   {responses(input, strings.Replace(call, "{}", "[]", 1), out), "no object"},
		"a prompt as an answer": {responses(strings.Replace(input, "input_text", "output_text", 1)), "part of type"},
	} {
		check := CheckResponses
		if strings.Contains(c.body, `"messages"`) {
			check = CheckMessages
		}
		err := check([]byte(c.body))
		if (err == nil) != (c.wants == "") || err != nil && !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: %v, want %q", name, err, c.wants)
		}
	}
}

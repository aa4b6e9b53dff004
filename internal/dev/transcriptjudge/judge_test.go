package transcriptjudge

import (
	"strings"
	"testing"
)

const (
	sys  = `{"role":"system","content":"be good"}`
	ask  = `{"role":"user","content":"hello"}`
	said = `{"role":"assistant","content":"hi"}`
	one  = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"read_file","arguments":"{}"}}]}`
	two  = `{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"x","arguments":"{\"n\":1}"}},` +
		`{"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}]}`
	resA = `{"role":"tool","tool_call_id":"a","content":"ok"}`
	resB = `{"role":"tool","tool_call_id":"b","content":"ok"}`
)

func body(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

func TestCheckAccepts(t *testing.T) {
	for name, b := range map[string]string{
		"prompt":          body(ask),
		"system first":    body(sys, ask),
		"parts":           body(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"y"}}]}`),
		"answer between":  body(sys, ask, said, ask),
		"one call":        body(ask, one, resA),
		"two calls":       body(ask, two, resA, resB),
		"any order":       body(ask, two, resB, resA),
		"call then text":  body(ask, one, resA, said, ask),
		"two user turns":  body(ask, ask),
		"queued message":  body(ask, one, resA, ask),
		"text beside":     body(ask, strings.Replace(two, "null", `"I look"`, 1), resA, resB),
		"escaped content": body(`{"role":"user","content":"\u00e4\n"}`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := Check([]byte(b)); err != nil {
				t.Errorf("%s\n%v", b, err)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	args := func(a string) string { return strings.Replace(one, `"{}"`, a, 1) }
	for _, tt := range []struct{ name, body, want string }{
		{"no JSON", `{`, "body"},
		{"two values", body(ask) + `{}`, "more than one"},
		{"not UTF-8", body("{\"role\":\"user\",\"content\":\"\xff\"}"), "UTF-8"},
		{"duplicate name", body(`{"role":"user","role":"user","content":"x"}`), "twice"},
		{"no messages", `{"messages":[]}`, "no messages"},
		{"unknown role", body(`{"role":"robot","content":"x"}`), "unknown role"},
		{"late system", body(ask, sys), "not the first"},
		{"two systems", body(sys, sys, ask), "not the first"},
		{"empty prompt", body(`{"role":"user","content":""}`), "empty content"},
		{"no content", body(`{"role":"user"}`), "no content"},
		{"no parts", body(`{"role":"user","content":[]}`), "no content"},
		{"empty part", body(`{"role":"user","content":[{"type":"text","text":""}]}`), "empty part"},
		{"empty answer", body(ask, `{"role":"assistant","content":""}`, ask), "empty content"},
		{"empty answer beside calls", body(ask, strings.Replace(two, "null", `""`, 1), resA, resB), "empty content"},
		{"null answer", body(ask, `{"role":"assistant","content":null}`, ask), "no content"},
		{"no calls in list", body(ask, `{"role":"assistant","content":"x","tool_calls":[]}`, ask), "tool_calls is empty"},
		{"call of a user", body(`{"role":"user","content":"x","tool_calls":[{"id":"a"}]}`), "outside of an answer"},
		{"call id of a user", body(`{"role":"user","content":"x","tool_call_id":"a"}`), "outside of a result"},
		{"no result", body(ask, one), "without a result"},
		{"one result of two", body(ask, two, resA), "without a result"},
		{"user between", body(ask, two, resA, ask, resB), "no result"},
		{"answer between", body(ask, one, said, resA), "no result"},
		{"orphan", body(ask, resA), "no open call"},
		{"orphan later", body(ask, one, resA, said, resA), "no open call"},
		{"result twice", body(ask, one, resA, resA), "no open call"},
		{"other id", body(ask, one, resB), "no open call"},
		{"result without id", body(ask, one, `{"role":"tool","content":"ok"}`), "no tool_call_id"},
		{"empty result", body(ask, one, `{"role":"tool","tool_call_id":"a","content":""}`), "empty content"},
		{"id twice in answer", body(ask, strings.Replace(two, `"b"`, `"a"`, 1), resA, resA), "comes twice"},
		{"id twice", body(ask, one, resA, one, resA), "comes twice"},
		{"no id", body(ask, strings.Replace(one, `"a"`, `""`, 1), resA), "no id"},
		{"type", body(ask, strings.Replace(one, `"function",`, `"tool",`, 1), resA), "type"},
		{"name", body(ask, strings.Replace(one, `read_file`, `read file`, 1), resA), "name"},
		{"empty arguments", body(ask, args(`""`), resA), "JSON object"},
		{"cut arguments", body(ask, args(`"{\"a\":"`), resA), "JSON object"},
		{"list as arguments", body(ask, args(`"[]"`), resA), "JSON object"},
		{"null as arguments", body(ask, args(`"null"`), resA), "JSON object"},
		{"no prompt", body(sys, said, ask), "before any prompt"},
		{"nothing to answer", body(ask, said), "nothing to answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Check([]byte(tt.body))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s\ngot %v, want an error with %q", tt.body, err, tt.want)
			}
		})
	}
}

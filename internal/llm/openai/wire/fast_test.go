package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// agree checks what AppendText says of an event against Decode, the judge.
func agree(t interface{ Fatalf(string, ...any) }, event []byte) (fast bool) {
	before := []byte("before")
	got, kind, ok := AppendText(before, event)
	if !ok {
		if string(got) != "before" || kind != Nothing {
			t.Fatalf("%q: not read, but %q, kind %d", event, got, kind)
		}
		return false
	}
	if !json.Valid(event) {
		t.Fatalf("%q is not JSON and was read as %q", event, got)
	}
	c, err := Decode(event)
	if err != nil || c.Error != nil || len(c.Calls) > 0 || c.Finish != "" || c.Usage != nil || c.Details != nil || c.Extra != nil {
		t.Fatalf("%q is more than text: %+v, %v", event, c, err)
	}
	want := map[Kind]string{Nothing: "", Text: c.Text, Reasoning: c.Reasoning, ReasoningContent: c.Reasoning}[kind]
	if string(got) != "before"+want || kind != Text && c.Text != "" || kind == Nothing && c.Reasoning != "" || kind == Text && c.Reasoning != "" {
		t.Fatalf("%q was read as %q, kind %d; it is %+v", event, got, kind, c)
	}
	if kind == Reasoning && c.ReasoningKey != "reasoning" || kind == ReasoningContent && c.ReasoningKey != "reasoning_content" {
		t.Fatalf("%q is of kind %d, its field is %q", event, kind, c.ReasoningKey)
	}
	return true
}

var commonEvents = []string{
	`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"abc"}`,
	`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
	`{"choices":[{"index":0,"delta":{"content":"a\nb\"\\\/\t\r\b\f é 😀"}}],"created":0}`,
	`{"choices":[{"delta":{"content":null,"reasoning_content":"hm"},"index":0}]}`,
	`{"choices":[{"index":1,"delta":{"content":"x"}}]}`, `{"choices":[{"index":12 ,"delta":{"content":"x"}}]}`,
	` { "choices" : [ { "index" : 0 , "delta" : { "reasoning" : "hm" } } ] } `,
}

func TestCommonEventsAreReadFast(t *testing.T) {
	for _, e := range commonEvents {
		if !agree(t, []byte(e)) {
			t.Errorf("%s is left to Decode", e)
		}
	}
}

var rareEvents = []string{
	"", "{}", "[]", "null", `{"choices":[]}`, `{"choices":[{}`, `{"choices":[{}]}x`,
	`{"choices":[{"index":"1","delta":{"content":"x"}}]}`, `{"choices":[{"index":1.5,"delta":{"content":"x"}}]}`, `{"choices":[{"index":-1,"delta":{"content":"x"}}]}`,
	`{"choices":[{"index":01,"delta":{"content":"x"}}]}`, `{"choices":[{"index":99999999999999999999,"delta":{"content":"x"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}},{"index":0,"delta":{"content":"y"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x","content":"y"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x","Content":"y"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x","reasoning":"y"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"\u00e9"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"\x"}}]}`,
	"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\nb\"}}]}",
	"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}",
	`{"choices":[{"index":0,"delta":{"tool_calls":[]}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}}],"error":"e"}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
	`{"choices":[{"index":00,"delta":{"content":"x"}}]}`, `{"created":01,"choices":[{"delta":{"content":"x"}}]}`,
	`{"created":1.5,"choices":[{"delta":{"content":"x"}}]}`, `{"created":-1,"choices":[{"delta":{"content":"x"}}]}`,
	`{"\u0063hoices":[{"delta":{"content":"x"}}]}`, `{"choices":[{"delta":{"content":"x"}}],}`, `{"choices":[{"delta":{"content":"x`,
	`{"choices":[{"delta":{"content":"x\`, `{"choices":[{"delta":{"content":["x"]}}]}`, `{"choices":[{"delta":null}]}`, `{"choices":null}`,
}

func TestRareEventsAreLeftToDecode(t *testing.T) {
	for _, e := range rareEvents {
		if agree(t, []byte(e)) && e != `{"choices":[{"delta":null}]}` {
			t.Errorf("%s is not", e)
		}
	}
}

// TestFastAndSlowAgree cuts and joins the events at random.
func TestFastAndSlowAgree(t *testing.T) {
	var tokens []string
	for _, e := range append(commonEvents, rareEvents...) {
		tokens = append(tokens, strings.FieldsFunc(e, func(r rune) bool { return r == ' ' })...)
		for _, cut := range []string{",", ":", "{", "}", `"`} {
			tokens = append(tokens, strings.SplitAfter(e, cut)...)
		}
	}
	fast := 0
	rapid.Check(t, func(t *rapid.T) {
		event := rapid.SampledFrom(append(commonEvents, rareEvents...)).Draw(t, "event")
		if rapid.IntRange(0, 3).Draw(t, "whole") == 0 { // so that some are read fast
			if agree(t, []byte(event)) {
				fast++
			}
			return
		}
		at := rapid.IntRange(0, len(event)).Draw(t, "at")
		end := rapid.IntRange(at, min(len(event), at+12)).Draw(t, "end")
		if agree(t, []byte(event[:at]+rapid.SampledFrom(tokens).Draw(t, "token")+event[end:])) {
			fast++
		}
	})
	if fast == 0 {
		t.Error("no event was read fast")
	}
}

func FuzzAppendText(f *testing.F) {
	for _, e := range append(commonEvents, rareEvents...) {
		f.Add([]byte(e))
	}
	f.Fuzz(func(t *testing.T, event []byte) { agree(t, event) })
}

func BenchmarkAppendText(b *testing.B) {
	event := []byte(commonEvents[0])
	var dst []byte
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _, _ = AppendText(dst[:0], event)
	}
}

func BenchmarkDecode(b *testing.B) {
	event := []byte(commonEvents[0])
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(event); err != nil {
			b.Fatal(err)
		}
	}
}

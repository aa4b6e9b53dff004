package wire

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// readAll returns the events of a stream and its end mark, the number of calls of
// Receive that yielded events, and the error that ended it.
func readAll(r io.Reader) (events []string, batches int, err error) {
	e := NewEvents(NewReader(r))
	for err == nil {
		before := len(events)
		err = e.Receive(func(event []byte) error {
			events = append(events, string(event))
			return nil
		})
		if len(events) > before {
			batches++
		}
	}
	if e.Done() {
		events, err = append(events, "[DONE]"), nil
	}
	return events, batches, err
}

func TestEvents(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []string
		err  error
	}{
		"plain":              {"data: {}\n\ndata: [DONE]\n\n", []string{"{}", "[DONE]"}, nil},
		"CRLF":               {"data: {}\r\n\r\ndata: [DONE]\r\n\r\n", []string{"{}", "[DONE]"}, nil},
		"CR":                 {"data: {}\r\rdata: {\"a\":1}\r\rdata: [DONE]\r\r", []string{"{}", `{"a":1}`, "[DONE]"}, nil},
		"mixed line ends":    {"data: {}\r\n\rdata: {\"a\":1}\n\r\ndata: [DONE]\r", []string{"{}", `{"a":1}`, "[DONE]"}, nil},
		"no final line end":  {"data: {}\n\ndata: [DONE]", []string{"{}", "[DONE]"}, nil},
		"single line ends":   {"data: {}\ndata: {\"a\":1}\ndata: [DONE]\n", []string{"{}", `{"a":1}`, "[DONE]"}, nil},
		"several data lines": {"data: {\"a\":\ndata: 1}\n\ndata: [DONE]\n\n", []string{`{"a": 1}`, "[DONE]"}, nil},
		"comments":           {": a\n:b\n\nid: 1\nretry: 2\nfoo\ndata: {}\n\n: c\n\ndata: [DONE]\n\n", []string{"{}", "[DONE]"}, nil},
		"empty data":         {"data:\n\ndata: {}\n\ndata: [DONE]\n\n", []string{"{}", "[DONE]"}, nil},
		"after the end":      {"data: [DONE]\n\ndata: {}\n\n", []string{"[DONE]"}, nil},
		"no end":             {"data: {}\n\n", []string{"{}"}, ErrUnfinished},
		"last without blank": {"data: {}\n\ndata: {\"a\":1}", []string{"{}", `{"a":1}`}, ErrUnfinished},
		"cut":                {"data: {}\n\ndata: {\"a\":", []string{"{}"}, ErrUnfinished},
		"cut after a line":   {"data: {}\n\ndata: {\"a\":\n", []string{"{}"}, ErrUnfinished},
		"nothing":            {"", nil, ErrUnfinished},
		"error event":        {"event: error\ndata: {\"message\":\"m\"}\n\n", []string{`{"error":{"message":"m"}}`}, ErrUnfinished},
		"whole error event":  {"event: error\ndata: {\"error\":\"m\"}\n\n", []string{`{"error":"m"}`}, ErrUnfinished},
		"error in text":      {"event: error\ndata: what \"now\"\n\n", []string{`{"error":"what \"now\""}`}, ErrUnfinished},
		"error field":        {"error: {\"code\":500}\n\n", []string{`{"error":{"code":500}}`}, ErrUnfinished},
		"other event":        {"event: delta\ndata: {}\n\n", []string{"{}"}, ErrUnfinished},
		"error is first":     {"data: {\"error\":{}}\n\ndata: {}\n\n", []string{`{"error":{}}`, "{}"}, ErrUnfinished},
		"a long event":       {"data: \"" + strings.Repeat("x", 100_000) + "\"\n\ndata: [DONE]\n\n", []string{`"` + strings.Repeat("x", 100_000) + `"`, "[DONE]"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for split, r := range map[string]io.Reader{
				"at once": strings.NewReader(test.in), "by the byte": iotest.OneByteReader(strings.NewReader(test.in)),
				"with its end": iotest.DataErrReader(strings.NewReader(test.in)), "halves": iotest.HalfReader(strings.NewReader(test.in)),
			} {
				got, _, err := readAll(r)
				if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
					t.Error(split, diff, err)
				}
			}
		})
	}
}

func TestAnErrorOfTheNetworkComesAfterTheEvents(t *testing.T) {
	broken := errors.New("reset")
	got, _, err := readAll(io.MultiReader(strings.NewReader("data: {}\n\ndata: {\"a"), iotest.ErrReader(broken)))
	if diff := cmp.Diff([]string{"{}"}, got); diff != "" || !errors.Is(err, broken) {
		t.Error(diff, err)
	}
}

// TestBufferedEventsComeTogether checks that a flood takes one call of Receive, and
// that the events of a trickle come one by one, without waiting for the next.
func TestBufferedEventsComeTogether(t *testing.T) {
	if _, batches, _ := readAll(strings.NewReader(strings.Repeat("data: {}\n\n", 1000))); batches != 1 {
		t.Errorf("a flood came in %d batches", batches)
	}
	r, w := io.Pipe()
	defer r.Close()
	events := NewEvents(NewReader(r))
	for _, in := range []string{"data: {}\n\n", ": x\n\ndata: {}\n\n", "data: {}\n", "\ndata: {}\n\n: x\n"} {
		go func() { _, _ = io.WriteString(w, in) }()
		var got []string
		err := events.Receive(func(event []byte) error {
			got = append(got, string(event))
			return nil
		})
		if diff := cmp.Diff([]string{"{}"}, got); diff != "" || err != nil {
			t.Errorf("%q came as %q, %v", in, got, err)
		}
	}
}

func TestTheErrorOfTheCallerEndsTheStream(t *testing.T) {
	events := NewEvents(NewReader(strings.NewReader("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n")))
	enough, calls := errors.New("enough"), 0
	for range 2 {
		err := events.Receive(func([]byte) error { calls++; return enough })
		if !errors.Is(err, enough) || calls != 1 || events.Done() {
			t.Errorf("%v after %d events", err, calls)
		}
	}
}

func TestTooLargeAnEventIsRefused(t *testing.T) {
	_, _, err := readAll(io.MultiReader(strings.NewReader("data: "), &endless{left: 2 * MaxEvent}))
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// endless yields x as long as it may.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	e.left -= len(p)
	return len(p), nil
}

func TestSingleEvent(t *testing.T) {
	const answer = "{\n\"a\":\r\n1}"
	e := SingleEvent([]byte(answer))
	var got []string
	var err error
	for err == nil {
		err = e.Receive(func(event []byte) error {
			got = append(got, string(event))
			return nil
		})
	}
	if diff := cmp.Diff([]string{answer}, got); diff != "" || !errors.Is(err, io.EOF) || !e.Done() {
		t.Errorf("%s, %v", diff, err)
	}
}

// TestTheSplitDoesNotMatter reads random streams whole and cut at random.
func TestTheSplitDoesNotMatter(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"", "", "data: {}", `data: {"a":`, "data: 1}", "data: [DONE]", ": x", "event: error", "error: oops", "data", "data:", "id: 3", "\r", "data: {\"a\":\"é\"}",
	})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), "\n")
		want, _, wantErr := readAll(strings.NewReader(in))
		var parts []io.Reader
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "cut")
			parts = append(parts, strings.NewReader(rest[:n]))
			rest = rest[n:]
		}
		got, _, gotErr := readAll(io.MultiReader(parts...))
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(gotErr, wantErr) {
			t.Fatalf("%q: %s %v %v", in, diff, wantErr, gotErr)
		}
	})
}

// agree checks AppendText against Decode, which is right by definition.
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
	`{"choices":[{"index":1,"delta":{"content":"x"}}]}`,
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

func TestParseError(t *testing.T) {
	long := strings.Repeat("x", 700)
	tests := map[string]struct {
		in   string
		want Error
	}{
		"usual":          {`{"error":{"message":"m","type":"t","code":"c","param":null}}`, Error{Message: "m", Type: "t", Code: "c"}},
		"string":         {`{"error":"m"}`, Error{Message: "m"}},
		"null code":      {`{"error":{"message":"m","code":null}}`, Error{Message: "m"}},
		"status as code": {`{"error":{"message":"m","code":429}}`, Error{Message: "m", Status: 429}},
		"status as text": {`{"error":{"message":"m","code":"503"}}`, Error{Message: "m", Status: 503, Code: "503"}},
		"small code":     {`{"error":{"message":"m","code":7}}`, Error{Message: "m"}},
		"detail":         {`{"detail":"m"}`, Error{Message: "m"}},
		"detail list":    {`{"detail":[{"loc":["a"],"msg":"m","type":"missing"}]}`, Error{Message: "m", Type: "missing"}},
		"message":        {`{"message":"m"}`, Error{Message: "m"}},
		"message list":   {`{"error":{"message":["m","n"]}}`, Error{Message: "m"}},
		"errors":         {`{"errors":[{"message":"m"}]}`, Error{Message: "m"}},
		"list":           {`[{"error":{"message":"m","code":400}}]`, Error{Message: "m", Status: 400}},
		"text":           {" not\n good ", Error{Message: "not good"}},
		"page":           {"<html><title>\nA &lt;b </title>", Error{Message: "A <b"}},
		"page, h1":       {"<html><h1 class=x>A</h1>", Error{Message: "A"}},
		"page, no title": {"<html></html>", Error{}},
		"nothing":        {"", Error{}},
		"number":         {"3", Error{}},
		"bytes":          {"a\xffb", Error{Message: "a?b"}},
		"long":           {long, Error{Message: long[:maxMessage] + "…"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(&test.want, ParseError([]byte(test.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
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

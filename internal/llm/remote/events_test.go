package remote

import (
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

func TestParseServerError(t *testing.T) {
	long := strings.Repeat("x", 700)
	tests := map[string]struct {
		in   string
		want ServerError
	}{
		"usual":          {`{"error":{"message":"m","type":"t","code":"c","param":null}}`, ServerError{Message: "m", Type: "t", Code: "c"}},
		"string":         {`{"error":"m"}`, ServerError{Message: "m"}},
		"null code":      {`{"error":{"message":"m","code":null}}`, ServerError{Message: "m"}},
		"status as code": {`{"error":{"message":"m","code":429}}`, ServerError{Message: "m", Status: 429}},
		"status as text": {`{"error":{"message":"m","code":"503"}}`, ServerError{Message: "m", Status: 503, Code: "503"}},
		"small code":     {`{"error":{"message":"m","code":7}}`, ServerError{Message: "m"}},
		"detail":         {`{"detail":"m"}`, ServerError{Message: "m"}},
		"detail list":    {`{"detail":[{"loc":["body","messages",2,"name"],"msg":"m","type":"missing"}]}`, ServerError{Message: "m", Type: "missing", Field: "body messages 2 name"}},
		"param":          {`{"error":{"message":"m","param":"max_tokens"}}`, ServerError{Message: "m", Field: "max_tokens"}},
		"router":         {`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"m\",\"param\":\"p\"}}","provider_name":"x"}}}`, ServerError{Message: "Provider returned error: m", Status: 400, Field: "p"}},
		"message":        {`{"message":"m"}`, ServerError{Message: "m"}},
		"message list":   {`{"error":{"message":["m","n"]}}`, ServerError{Message: "m"}},
		"errors":         {`{"errors":[{"message":"m"}]}`, ServerError{Message: "m"}},
		"list":           {`[{"error":{"message":"m","code":400}}]`, ServerError{Message: "m", Status: 400}},
		"text":           {" not\n good ", ServerError{Message: "not good"}},
		"page":           {"<html><title>\nA &lt;b </title>", ServerError{Message: "A <b", Page: true}},
		"page, h1":       {"<html><h1 class=x>A</h1>", ServerError{Message: "A", Page: true}},
		"page, no title": {"<html></html>", ServerError{Page: true}},
		"nothing":        {"", ServerError{}},
		"number":         {"3", ServerError{}},
		"bytes":          {"a\xffb", ServerError{Message: "a?b"}},
		"long":           {long, ServerError{Message: long[:maxMessage] + "…"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(&test.want, ParseServerError([]byte(test.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

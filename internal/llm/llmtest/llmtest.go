// Package llmtest provides a model server for tests. It speaks chat completions, the
// Messages API and the Responses API over real HTTP, answers each request with the next
// turn of a script, and misbehaves on demand. It keeps the bytes of every request and
// counts every fault that it caused.
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// TB is the part of testing.TB that a Server needs.
type TB interface {
	Helper()
	Cleanup(func())
}

// Turn is the answer to one request.
type Turn struct {
	Reasoning string // before the text
	Search    string // the query of a search of the web by the server, before the text; not on the Chat wire
	Text      string
	Calls     []Call // after the text
	Finish    string // finish_reason; if empty, it is derived
	Usage     *Usage // nil means made-up counts

	Chunk int             // runes of text in an event; zero means 16
	Pace  time.Duration   // between two events
	Gate  <-chan struct{} // if not nil, the answer begins when it is closed
	Fault Fault
	After int // events before Fault

	// Handler, if not nil, replaces all of the above.
	Handler http.HandlerFunc
}

// Call is a tool call. Args is sent unchanged, valid or not; an empty ID is replaced by
// one of the server's.
type Call struct{ ID, Name, Args string }

// Usage is the token count that the server reports.
type Usage struct {
	Input, Output, Cached, Written int
	WrittenHour                    int // of Written
}

// Fault is a failure of a stream.
type Fault int

// The faults.
const (
	None     Fault = iota
	Stall          // nothing more comes; the connection stays open until the client closes it
	Drop           // the connection breaks
	Truncate       // the stream ends in order, but without its end mark
)

// Raw returns a turn that answers with the given status and body, for example an error.
func Raw(status int, contentType, body string) Turn {
	return Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client that has left is not an error of the server
	}}
}

// Server is a model server. Any goroutine may call its methods.
type Server struct {
	http   *httptest.Server
	answer func(n int, body []byte) Turn

	mu       sync.Mutex
	requests [][]byte
	faults   map[Fault]int
	came     chan struct{} // closed and replaced at every request
}

// NewServer starts a server that answers the nth request with the nth turn, and further
// requests with an error. It stops with the test.
func NewServer(tb TB, turns ...Turn) *Server {
	tb.Helper()
	return NewServerFunc(tb, func(n int, _ []byte) Turn {
		if n < len(turns) {
			return turns[n]
		}
		return Raw(http.StatusBadRequest, "application/json",
			fmt.Sprintf(`{"error":{"message":"the script has %d turns and this is request %d"}}`, len(turns), n+1))
	})
}

// NewServerFunc starts a server that answers the nth request, counted from 0, with
// answer(n, body). Concurrent requests call it concurrently.
func NewServerFunc(tb TB, answer func(n int, body []byte) Turn) *Server {
	tb.Helper()
	s := &Server{answer: answer, faults: map[Fault]int{}, came: make(chan struct{})}
	s.http = httptest.NewServer(s)
	tb.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// URL returns the server's base URL, as it is configured for a provider.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Requests returns the bodies of the requests for an answer, in order.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.requests...)
}

// Forget drops the bodies of the requests so far, for a test with very many; they stay
// counted.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.requests)
}

// Fired returns how often the server caused a fault.
func (s *Server) Fired(f Fault) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults[f]
}

// Await returns once the server has received n requests for an answer, or with ctx's
// error.
func (s *Server) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		count, came := len(s.requests), s.came
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-came:
		case <-ctx.Done():
			return fmt.Errorf("waiting for request %d, %d have come: %w", n, count, ctx.Err())
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var events func(t Turn, n int) []string
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/models"):
		Raw(http.StatusOK, "application/json", `{"object":"list","data":[{"id":"test-model","object":"model"}]}`).Handler(w, r)
		return
	case strings.HasSuffix(path, "/chat/completions"):
		events = Turn.events
	case strings.HasSuffix(path, "/messages"):
		events = Turn.messagesEvents
	case strings.HasSuffix(path, "/responses"):
		events = Turn.responsesEvents
	default:
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n := s.record(body)
	turn := s.answer(n, body)
	if turn.Handler != nil {
		turn.Handler(w, r)
		return
	}
	if turn.Gate != nil {
		select {
		case <-turn.Gate:
		case <-r.Context().Done():
			return
		}
	}
	s.stream(w, r, turn, events(turn, n))
}

func (s *Server) record(body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, body)
	close(s.came)
	s.came = make(chan struct{})
	return len(s.requests) - 1
}

func (s *Server) fired(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[f]++
}

// stream sends the events one by one, up to the turn's fault.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, turn Turn, events []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for i, e := range events {
		if turn.Fault != None && i == turn.After {
			break
		}
		if i > 0 && turn.Pace > 0 && !pause(r.Context(), turn.Pace) {
			return
		}
		if _, err := io.WriteString(w, "data: "+e+"\n\n"); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
	switch turn.Fault {
	case None:
	case Stall:
		s.fired(Stall)
		<-r.Context().Done()
	case Drop:
		s.fired(Drop)
		panic(http.ErrAbortHandler) // breaks the connection
	case Truncate:
		s.fired(Truncate)
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// events returns the turn as chunks of chat completions, including the end mark.
func (t Turn) events(n int) []string {
	var events []string
	add := func(delta map[string]any, finish any) {
		events = append(events, encode(map[string]any{
			"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": 1, "model": "test-model",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	for _, piece := range pieces(t.Reasoning, t.Chunk) {
		add(map[string]any{"reasoning_content": piece}, nil)
	}
	for _, piece := range pieces(t.Text, t.Chunk) {
		add(map[string]any{"content": piece}, nil)
	}
	for i, c := range t.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", n, i)
		}
		call := map[string]any{
			"index": i, "id": c.ID, "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": ""},
		}
		add(map[string]any{"tool_calls": []any{call}}, nil)
		for _, piece := range pieces(c.Args, 4*max(t.Chunk, 16)) {
			part := map[string]any{"index": i, "function": map[string]any{"arguments": piece}}
			add(map[string]any{"tool_calls": []any{part}}, nil)
		}
	}
	add(map[string]any{}, t.finish())
	return append(events, t.usage(n), "[DONE]")
}

func (t Turn) finish() string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// counts returns the tokens of the turn.
func (t Turn) counts(n int) Usage {
	if t.Usage != nil {
		return *t.Usage
	}
	return Usage{Input: 100 + n, Output: 10}
}

func (t Turn) usage(n int) string {
	u := t.counts(n)
	return encode(map[string]any{"choices": []any{}, "usage": map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached, "cache_write_tokens": u.Written},
	}})
}

// pieces cuts s into pieces of n runes.
func pieces(s string, n int) []string {
	if n <= 0 {
		n = 16
	}
	var out []string
	runes := []rune(s)
	for len(runes) > n {
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	if len(runes) > 0 {
		out = append(out, string(runes))
	}
	return out
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error() // maps of strings and numbers only: cannot happen
	}
	return string(b)
}

//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// seen is the server's record of a request.
type seen struct {
	size     int
	got, end time.Time // body received; last byte sent
}

// server is a model without latency: each request is answered by the next step.
type server struct {
	url string

	mu     sync.Mutex // guards the fields below
	script scenario
	next   int
	reqs   []seen
	other  int // requests that are no turn of the model
}

func newServer() (*server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + ln.Addr().String() + "/v1"}
	go http.Serve(ln, s) //nolint:errcheck,gosec // lives as long as the program
	return s, nil
}

func (s *server) load(sc scenario) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.next, s.reqs, s.other = sc, 0, nil, 0
}

func (s *server) requests() ([]seen, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.reqs...), s.other
}

// take returns the next step and where to record the end of its answer.
func (s *server) take(size int) (step, bool, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := step{text: "ok"}
	if s.next < len(s.script.steps) {
		st = s.script.steps[s.next]
		s.next++
	}
	s.reqs = append(s.reqs, seen{size: size, got: time.Now()})
	return st, s.script.paced || st.slow, len(s.reqs) - 1
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		s.mu.Lock()
		s.other++
		s.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	st, slow, n := s.take(len(body))
	w.Header().Set("Content-Type", "text/event-stream")
	out := events{w: w, flush: http.NewResponseController(w).Flush}
	if st.tool != "" {
		out.call(n, st)
	} else {
		out.text(st.text, slow)
	}
	s.mu.Lock()
	if n < len(s.reqs) {
		s.reqs[n].end = time.Now()
	}
	s.mu.Unlock()
}

// events writes server-sent events and flushes each.
type events struct {
	w     io.Writer
	flush func() error
}

// send writes one event; a client that went away ends the request by itself.
func (e events) send(data string) {
	_, _ = io.WriteString(e.w, "data: "+data+"\n\n")
	_ = e.flush()
}

func (e events) finish(reason string) {
	e.send(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
	e.send(`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`)
	e.send("[DONE]")
}

func (e events) text(text string, slow bool) {
	due := time.Now()
	for len(text) > 0 {
		n := piece(text, slow)
		quoted, _ := json.Marshal(text[:n]) //nolint:errchkjson // a string
		e.send(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":` + string(quoted) + `}}]}`)
		text = text[n:]
		if slow {
			due = due.Add(time.Duration(n) * time.Second / 800)
			<-time.After(time.Until(due))
		}
	}
	e.finish("stop")
}

// piece returns the length of the next piece of an answer: four characters, or a word
// if the answer is slow.
func piece(text string, slow bool) int {
	if end := strings.IndexAny(text, " \n") + 1; slow && end > 0 {
		return end
	}
	return min(4, len(text))
}

func (e events) call(n int, st step) {
	args, _ := json.Marshal(st.args)        //nolint:errchkjson // strings only
	quoted, _ := json.Marshal(string(args)) //nolint:errchkjson // a string
	e.send(fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%s}}]}}]}`, n, st.tool, quoted))
	e.finish("tool_calls")
}

//go:build linux

package main

import (
	"encoding/json"
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
	wire := wireOf(r.URL.Path)
	if err != nil || wire == nil {
		s.mu.Lock()
		s.other++
		s.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	st, slow, n := s.take(len(body))
	w.Header().Set("Content-Type", "text/event-stream")
	out := events{wire: wire, w: w, flush: http.NewResponseController(w).Flush}
	if st.tool != "" {
		out.call(n, st)
	} else {
		out.text(n, st.text, slow)
	}
	s.mu.Lock()
	if n < len(s.reqs) {
		s.reqs[n].end = time.Now()
	}
	s.mu.Unlock()
}

// events writes server-sent events and flushes each.
type events struct {
	wire  wire
	w     io.Writer
	flush func() error
}

// send writes one event; a client that went away ends the request by itself.
func (e events) send(data string) {
	_, _ = io.WriteString(e.w, "data: "+data+"\n\n")
	_ = e.flush()
}

func (e events) sendAll(events []string) {
	for _, data := range events {
		e.send(data)
	}
}

// text sends an answer of text, and pauses after each piece if it is slow.
func (e events) text(n int, text string, slow bool) {
	before, encode, after := e.wire.text(n, text)
	e.sendAll(before)
	due := time.Now()
	for len(text) > 0 {
		size := piece(text, slow)
		e.send(encode(text[:size]))
		text = text[size:]
		if slow {
			due = due.Add(time.Duration(size) * time.Second / 800)
			<-time.After(time.Until(due))
		}
	}
	e.sendAll(after)
}

// piece returns the length of the next piece of an answer: four characters, or a word
// if the answer is slow.
func piece(text string, slow bool) int {
	if end := strings.IndexAny(text, " \n") + 1; slow && end > 0 {
		return end
	}
	return min(4, len(text))
}

// call sends a call of a tool.
func (e events) call(n int, st step) {
	args, _ := json.Marshal(st.args) //nolint:errchkjson // strings only
	e.sendAll(e.wire.call(n, st.tool, string(args)))
}

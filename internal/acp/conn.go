package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	// maxLine bounds a message of the host, in bytes.
	maxLine = 64 << 20
	// maxWork bounds the requests of the host that run at the same time.
	maxWork = 256
	// maxOut bounds the messages that wait for the host to read them.
	maxOut = 256
	// flushTime bounds the wait for a host that does not read the last messages.
	flushTime = time.Second
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// The codes of errors.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeAuth     = -32000 // authentication is required
)

// message is a request, a notification or an answer.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// conn is a connection to the host: one JSON-RPC message a line, in both directions.
type conn struct {
	in *bufio.Reader
	// handle begins a request before the next message is read, and returns the rest of the
	// work, which runs beside others.
	handle func(ctx context.Context, method string, params json.RawMessage) func() (any, error)
	// notified handles a notification before the next message is read.
	notified func(method string, params json.RawMessage)
	work     crash.Group
	running  chan struct{} // has an element for each request that runs

	w    io.Writer // of the goroutine of write
	out  chan queued
	deaf chan struct{} // closed by the first write that failed
	gone chan struct{} // closed when serve ends: nobody waits for the host any more

	mu    sync.Mutex // guards the rest
	last  int
	waits map[string]chan message
}

func newConn(r io.Reader, w io.Writer) *conn {
	return &conn{
		in: bufio.NewReaderSize(r, 64<<10), w: w, out: make(chan queued, maxOut), deaf: make(chan struct{}), gone: make(chan struct{}),
		running: make(chan struct{}, maxWork), waits: map[string]chan message{},
	}
}

// serve handles messages until the host closes one of its ends or ctx ends. Requests run at the
// same time; serve returns when all have ended.
func (c *conn) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.work.Wait()
	defer cancel()
	context.AfterFunc(ctx, crash.Guarded(func() { close(c.gone) }))
	go func() { // a write that blocks for ever ends with the program
		defer crash.Guard()
		c.write()
	}()
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // a read that blocks for ever ends with the program
		defer crash.Guard()
		failed <- c.read(ctx, lines)
		cancel() // the loop may wait for a host that does not read
	}()
	for {
		select {
		case <-ctx.Done():
			select {
			case err := <-failed:
				return unlessEnd(err)
			default:
				return nil
			}
		case <-c.deaf:
			return nil
		case line := <-lines:
			c.dispatch(ctx, line)
		case err := <-failed:
			return unlessEnd(err)
		}
	}
}

// unlessEnd returns an error of read, nil at the end of the host or of the context.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// read sends the host's lines until its end. In place of one that is too long it sends nil.
func (c *conn) read(ctx context.Context, lines chan<- []byte) error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		if line != nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// line reads a line. It returns nil for one that is too long.
func (c *conn) line() ([]byte, error) {
	line, long := []byte{}, false
	for {
		part, err := c.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// dispatch handles one message.
func (c *conn) dispatch(ctx context.Context, line []byte) {
	var m message
	if line == nil {
		c.answer(json.RawMessage("null"), nil, &Error{codeRequest, fmt.Sprintf("the line has more than %d MB", maxLine>>20)})
		return
	}
	if err := unmarshal(line, &m); err != nil {
		c.unread(line, &Error{codeParse, "not a JSON-RPC message: " + err.Error()})
		return
	}
	switch {
	case m.Method == "" && c.settle(m):
	case m.Method == "" && len(m.ID) > 0 && (m.Result != nil || m.Error != nil): // nobody waits for it any more
	case m.Method == "":
		c.answer(json.RawMessage("null"), nil, &Error{codeRequest, "a message needs a method, or an id and a result"})
	case len(m.ID) == 0:
		c.notified(m.Method, m.Params)
	default:
		c.begin(ctx, m)
	}
}

// unread handles a message that has no reading, or several. A request and an answer that can be told
// end with an error, so that neither side waits for the other.
func (c *conn) unread(line []byte, err *Error) {
	var m message
	ids := struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}{}
	if unmarshal(line, &ids, jsontext.AllowDuplicateNames(true)) != nil || repeated(line, "id") {
		ids.ID = nil
	}
	m.ID = ids.ID
	m.Error, _ = json.Marshal(err) // a number and a text
	if ids.Method == "" && len(m.ID) > 0 && c.settle(m) {
		return
	}
	if len(m.ID) == 0 {
		m.ID = json.RawMessage("null")
	}
	c.answer(m.ID, nil, err)
}

// unmarshal decodes JSON that has one reading: a key that is repeated, at any depth, is an error, and
// keys count only as they are spelled.
func unmarshal(data []byte, v any, opts ...jsontext.Options) error {
	return strict.Unmarshal(data, v, append([]jsontext.Options{jsontext.AllowInvalidUTF8(true)}, opts...)...)
}

// repeated reports whether an object has a key more than once.
func repeated(object []byte, key string) bool {
	n := 0
	dec := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return n > 1
		}
		if token.Kind() != '"' {
			continue
		}
		if token.String() == key {
			n++
		}
		if dec.SkipValue() != nil {
			return n > 1
		}
	}
}

// settle passes an answer of any form to the request that waits for it; false without one.
func (c *conn) settle(m message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := c.waits[string(m.ID)]
	delete(c.waits, string(m.ID))
	if wait != nil {
		wait <- m
	}
	return wait != nil
}

// begin begins to answer a request.
func (c *conn) begin(ctx context.Context, m message) {
	select {
	case c.running <- struct{}{}:
	default:
		c.answer(m.ID, nil, &Error{codeRequest, fmt.Sprintf("%d requests are not answered yet", maxWork)})
		return
	}
	work := c.handle(ctx, m.Method, m.Params)
	c.work.Go(func() {
		defer func() { <-c.running }()
		result, err := work()
		c.answer(m.ID, result, err)
	})
}

// reply is a result with a function to call once it is sent.
type reply struct {
	result any
	sent   func()
}

// answer sends the answer to a request.
func (c *conn) answer(id json.RawMessage, result any, err error) {
	if r, ok := result.(reply); ok {
		defer r.sent()
		result = r.result
	}
	m := message{ID: id}
	if err == nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		of := &Error{codeInternal, err.Error()}
		_ = errors.As(err, &of)
		m.Error, err = json.Marshal(of)
	}
	if err != nil {
		return // an Error is a number and a text
	}
	c.send(m)
}

// notify sends a notification.
func (c *conn) notify(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		return // params are our own types, of texts and numbers
	}
	c.send(message{Method: method, Params: data})
}

// call sends a request and waits for its result, or until ctx ends.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	wait := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := strconv.Itoa(c.last)
	c.waits[id] = wait
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waits, id)
		c.mu.Unlock()
	}()
	c.send(message{ID: json.RawMessage(id), Method: method, Params: data})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case m := <-wait:
		if m.Error != nil && string(m.Error) != "null" {
			return errorOf(m.Error)
		}
		return unmarshal(m.Result, result)
	}
}

// errorOf returns the error of an answer, which may have any form.
func errorOf(data json.RawMessage) error {
	e := &Error{}
	if unmarshal(data, e) != nil || e.Message == "" {
		return &Error{codeInternal, "the host answered with an error: " + sanitize.Line(string(data))}
	}
	return e
}

// queued is a line for the host, or a mark: written is closed after the lines before it.
type queued struct {
	line    []byte
	written chan struct{}
}

// send queues a message. It waits for a host that reads slowly, until serve ends.
func (c *conn) send(m message) {
	m.Version = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		return
	}
	next := queued{line: append(line, '\n')}
	select {
	case c.out <- next:
		return
	default:
	}
	select {
	case c.out <- next:
	case <-c.deaf:
	case <-c.gone:
	}
}

// write writes the queued messages. A host that closed its end of our output is gone: that ends
// serve.
func (c *conn) write() {
	for next := range c.out {
		if next.written != nil {
			close(next.written)
		} else if _, err := c.w.Write(next.line); err != nil {
			close(c.deaf)
			return
		}
	}
}

// flush waits until the host has read the messages so far, for a short time.
func (c *conn) flush() {
	late := time.After(flushTime)
	mark := queued{written: make(chan struct{})}
	select {
	case c.out <- mark:
	case <-c.deaf:
		return
	case <-late:
		return
	}
	select {
	case <-mark.written:
	case <-c.deaf:
	case <-late:
	}
}

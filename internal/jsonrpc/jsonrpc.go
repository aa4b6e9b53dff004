// Package jsonrpc speaks JSON-RPC 2.0 with a program at the other end of two streams. Both sides may
// ask. A message that cannot be read ends neither the connection nor, if possible, the wait of
// either side.
package jsonrpc

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
	// maxMessage bounds a message of the other side, in bytes.
	maxMessage = 64 << 20
	// maxWork bounds the requests of the other side that run at the same time.
	maxWork = 256
	// maxOut bounds the messages that wait for the other side to read them.
	maxOut = 256
	// flushTime bounds the wait for a side that does not read the last messages.
	flushTime = time.Second
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// NewError returns an error with one of the codes below, or another.
func NewError(code int, message string) *Error { return &Error{code, message} }

func (e *Error) Error() string { return e.Message }

// The codes of errors.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	UnknownMethod  = -32601
	InvalidParams  = -32602
	InternalError  = -32603
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

// Conn is a connection. Set its exported fields before Serve.
type Conn struct {
	// Handle begins a request before the next message is read, and returns the rest of the
	// work, which runs beside others.
	Handle func(ctx context.Context, method string, params json.RawMessage) func() (any, error)
	// Notified handles a notification before the next message is read.
	Notified func(method string, params json.RawMessage)
	// Patience is how long a message may wait for a side that reads none, while many do; then Serve ends. Zero is for ever.
	Patience time.Duration

	framing Framing
	in      *bufio.Reader
	work    crash.Group
	running chan struct{} // has an element for each request that runs

	w      io.Writer // of the goroutine of write
	out    chan queued
	deaf   chan struct{} // closed by the first write that failed, or at the end of Patience
	lost   sync.Once     // closes deaf
	gone   chan struct{} // closed when Serve ends: nobody waits for the other side any more
	closed chan struct{} // by Close

	mu    sync.Mutex // guards the rest
	last  int
	waits map[string]chan message
}

// New returns a connection that reads from r and writes to w. The caller closes these.
func New(r io.Reader, w io.Writer, f Framing) *Conn {
	return &Conn{
		framing: f, in: bufio.NewReaderSize(r, 64<<10), w: w, out: make(chan queued, maxOut), deaf: make(chan struct{}), gone: make(chan struct{}),
		closed: make(chan struct{}), running: make(chan struct{}, maxWork), waits: map[string]chan message{},
	}
}

// Go runs work beside the requests. Serve waits for its end.
func (c *Conn) Go(work func()) { c.work.Go(work) }

// Serve handles messages until the other side closes one of its ends or ctx ends. Requests run at the
// same time; Serve returns when all have ended.
func (c *Conn) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.work.Wait()
	defer cancel()
	context.AfterFunc(ctx, crash.Guarded(func() { close(c.gone) }))
	go func() { // a write that blocks for ever ends with the program
		defer crash.Guard()
		c.write()
	}()
	messages := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // a read that blocks for ever ends with the program
		defer crash.Guard()
		failed <- c.read(ctx, messages)
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
		case data := <-messages:
			c.dispatch(ctx, data)
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

// read sends the messages of the other side until its end. In place of one that is too long it sends nil.
func (c *Conn) read(ctx context.Context, messages chan<- []byte) error {
	for {
		data, err := c.framing.read(c.in)
		if err != nil {
			return err
		}
		if data != nil && len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		select {
		case messages <- data:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dispatch handles one message.
func (c *Conn) dispatch(ctx context.Context, data []byte) {
	var m message
	if data == nil {
		c.answer(json.RawMessage("null"), nil, &Error{InvalidRequest, fmt.Sprintf("the message has more than %d MB", maxMessage>>20)})
		return
	}
	if err := Unmarshal(data, &m); err != nil {
		c.unread(data, &Error{ParseError, "not a JSON-RPC message: " + err.Error()})
		return
	}
	switch {
	case m.Method == "" && c.settle(m):
	case m.Method == "" && len(m.ID) > 0 && (m.Result != nil || m.Error != nil): // nobody waits for it any more
	case m.Method == "":
		c.answer(json.RawMessage("null"), nil, &Error{InvalidRequest, "a message needs a method, or an id and a result"})
	case len(m.ID) == 0:
		c.Notified(m.Method, m.Params)
	default:
		c.begin(ctx, m)
	}
}

// unread handles a message that has no reading, or several. A request and an answer that can be told
// end with an error, so that neither side waits for the other.
func (c *Conn) unread(data []byte, err *Error) {
	var m message
	ids := struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}{}
	if Unmarshal(data, &ids, jsontext.AllowDuplicateNames(true)) != nil || repeated(data, "id") {
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

// Unmarshal decodes JSON that has one reading: a key that is repeated, at any depth, is an error, and
// keys count only as they are spelled.
func Unmarshal(data []byte, v any, opts ...jsontext.Options) error {
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
func (c *Conn) settle(m message) bool {
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
func (c *Conn) begin(ctx context.Context, m message) {
	select {
	case c.running <- struct{}{}:
	default:
		c.answer(m.ID, nil, &Error{InvalidRequest, fmt.Sprintf("%d requests are not answered yet", maxWork)})
		return
	}
	work := c.Handle(ctx, m.Method, m.Params)
	c.work.Go(func() {
		defer func() { <-c.running }()
		result, err := work()
		c.answer(m.ID, result, err)
	})
}

// Reply is a result with a function to call once it is sent.
type Reply struct {
	Result any
	Sent   func()
}

// answer sends the answer to a request.
func (c *Conn) answer(id json.RawMessage, result any, err error) {
	if r, ok := result.(Reply); ok {
		defer r.Sent()
		result = r.Result
	}
	m := message{ID: id}
	if err == nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		of := &Error{InternalError, err.Error()}
		_ = errors.As(err, &of)
		m.Error, err = json.Marshal(of)
	}
	if err != nil {
		return // an Error is a number and a text
	}
	c.send(m)
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		return // params are our own types, of texts and numbers
	}
	c.send(message{Method: method, Params: data})
}

// Call sends a request and waits for its result, or until ctx ends.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
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
		return Unmarshal(m.Result, result)
	}
}

// errorOf returns the error of an answer, which may have any form.
func errorOf(data json.RawMessage) error {
	e := &Error{}
	if Unmarshal(data, e) != nil || e.Message == "" {
		return &Error{InternalError, "the other side answered with an error: " + sanitize.Line(string(data))}
	}
	return e
}

// queued is a message for the other side, or a mark: written is closed after the messages before it.
type queued struct {
	data    []byte
	written chan struct{}
}

// send queues a message. It waits for a side that reads slowly, until Serve ends.
func (c *Conn) send(m message) {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		return
	}
	next := queued{data: c.framing.frame(data)}
	select {
	case c.out <- next:
		return
	default:
	}
	var late <-chan time.Time
	if c.Patience > 0 {
		late = time.After(c.Patience)
	}
	select {
	case c.out <- next:
	case <-c.deaf:
	case <-c.gone:
	case <-late:
		c.lose()
	}
}

// lose notes that the other side reads nothing any more.
func (c *Conn) lose() { c.lost.Do(func() { close(c.deaf) }) }

// write writes the queued messages until Close. A side that closed its end of our output is gone: that
// ends Serve.
func (c *Conn) write() {
	for {
		select {
		case <-c.closed:
			return
		case next := <-c.out:
			if next.written != nil {
				close(next.written)
			} else if _, err := c.w.Write(next.data); err != nil {
				c.lose()
				return
			}
		}
	}
}

// Close waits, for a short time, until the other side has read the messages so far, and sends no
// more. Call it after Serve.
func (c *Conn) Close() {
	defer close(c.closed)
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

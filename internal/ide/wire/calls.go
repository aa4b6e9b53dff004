package wire

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// result receives the result of one call as it came: editors answer in shapes
// that the SDK's types do not hold.
type result struct {
	id   jsonrpc.ID // guarded by calls.mu
	data json.RawMessage
}

// resultKey finds the result in the context of a write: the SDK numbers the
// requests, and the write is where number and caller meet.
type resultKey struct{}

// calls are the requests that wait for an answer.
type calls struct {
	mu      sync.Mutex
	closed  bool
	last    uint64
	waiting map[uint64]context.CancelCauseFunc
	results map[jsonrpc.ID]*result
	first   jsonrpc.ID // the initialize request, until it is answered
	server  Server     // what the answer says; read when the handshake is over
}

func newCalls() *calls {
	return &calls{waiting: map[uint64]context.CancelCauseFunc{}, results: map[jsonrpc.ID]*result{}}
}

// enter returns a context that ends with the session too. leave must be called.
func (c *calls) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.last++
	id := c.last
	c.waiting[id] = cancel
	return ctx, func() {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}, nil
}

// wrote notes under which number a request goes out.
func (c *calls) wrote(ctx context.Context, req *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.Method == "initialize" {
		c.first = req.ID
	}
	if r, ok := ctx.Value(resultKey{}).(*result); ok && req.IsCall() {
		r.id = req.ID
		c.results[req.ID] = r
	}
}

// received hands a result to its caller and leaves to the SDK one that it can
// read.
func (c *calls) received(resp *jsonrpc.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if resp.Error != nil {
		return
	}
	if c.first.IsValid() && c.first == resp.ID {
		c.first = jsonrpc.ID{}
		c.server, resp.Result = greeting(resp.Result)
	}
	if r := c.results[resp.ID]; r != nil {
		delete(c.results, resp.ID)
		r.data = resp.Result
		resp.Result = json.RawMessage(`{"content":[],"tools":[]}`)
	}
}

// greeting reads the answer to initialize field by field, for editors differ in
// how they write what is empty, and returns one that the SDK takes. A version
// that the SDK does not know, or a newer one than was asked for, is no obstacle:
// the calls are the same.
func greeting(raw json.RawMessage) (Server, json.RawMessage) {
	var s Server
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return s, raw
	}
	read := func(raw json.RawMessage, v any) { _ = json.Unmarshal(raw, v) } // else it stays empty
	read(all["protocolVersion"], &s.Protocol)
	var info, capabilities map[string]json.RawMessage
	read(all["serverInfo"], &info)
	read(info["name"], &s.Name)
	read(info["version"], &s.Version)
	read(all["capabilities"], &capabilities)
	read(capabilities["experimental"], &s.Experimental)
	return s, json.RawMessage(`{"protocolVersion":"` + pinned + `","capabilities":{"tools":{}},"serverInfo":{"name":"","version":""}}`)
}

func (c *calls) forget(r *result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.results, r.id)
}

// unanswered refuses further calls and returns the numbers of those that wait.
func (c *calls) unanswered() []jsonrpc.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	ids := make([]jsonrpc.ID, 0, len(c.results))
	for id := range c.results {
		ids = append(ids, id)
	}
	return ids
}

// cancelAll ends all that wait.
func (c *calls) cancelAll(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.waiting {
		cancel(why)
	}
}

package wire

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// result receives the raw result of one call: editors answer in forms that the SDK's
// types cannot hold.
type result struct {
	id   jsonrpc.ID // guarded by calls.mu
	data json.RawMessage
}

// resultKey is the context key of the result. The SDK numbers the requests, so only its
// write of a request knows both the number and the caller.
type resultKey struct{}

// calls holds the pending requests.
type calls struct {
	mu      sync.Mutex
	closed  bool
	last    uint64
	waiting map[uint64]context.CancelCauseFunc
	results map[jsonrpc.ID]*result
	first   jsonrpc.ID // the pending initialize request, if any
	server  Server     // from the answer to initialize; read after the handshake
}

func newCalls() *calls {
	return &calls{waiting: map[uint64]context.CancelCauseFunc{}, results: map[jsonrpc.ID]*result{}}
}

// enter returns a context that also ends with the session. The caller must call leave.
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

// wrote records the number of an outgoing request.
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

// received passes a result to its caller, and leaves the SDK a readable one.
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

// greeting reads the answer to initialize field by field, as editors write empty fields
// in different ways, and returns an answer that the SDK accepts. A version that is
// unknown to the SDK, or newer than requested, is accepted: the calls are the same.
func greeting(raw json.RawMessage) (Server, json.RawMessage) {
	var s Server
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return s, raw
	}
	read := func(raw json.RawMessage, v any) { _ = json.Unmarshal(raw, v) } // otherwise the field stays empty
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

// unanswered refuses further calls and returns the numbers of the pending ones.
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

// cancelAll cancels all pending calls.
func (c *calls) cancelAll(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.waiting {
		cancel(why)
	}
}

package idetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
)

// Conn is one connection of a client.
type Conn struct {
	Header http.Header // of the handshake
	editor *Editor
	number int // order of connecting
	ws     *websocket.Conn
	ctx    context.Context //nolint:containedctx // the connection's own life, in a test
}

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

func (c *Conn) run() {
	if c.editor.Dialect.Greet != nil {
		c.editor.Dialect.Greet(c)
	}
	for {
		_, data, err := c.ws.Read(c.ctx)
		if err != nil {
			_ = c.ws.CloseNow()
			return
		}
		c.editor.record(func() { c.editor.received = append(c.editor.received, data) })
		var m message
		switch {
		case json.Unmarshal(data, &m) != nil:
		case m.Method != "":
			c.take(m)
		default:
			c.answered(m)
		}
	}
}

// answered records an answer to a request of the editor's.
func (c *Conn) answered(m message) {
	text := string(m.ID) + " " + string(m.Result)
	if m.Error != nil {
		text = fmt.Sprintf("%s error %d", m.ID, m.Error.Code)
	}
	c.editor.record(func() { c.editor.answers = append(c.editor.answers, text) })
}

// take records a message and answers it.
func (c *Conn) take(m message) {
	req := Request{Method: m.Method, ID: m.ID, Params: m.Params}
	if m.Method == "tools/call" {
		var call struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		_ = json.Unmarshal(m.Params, &call)
		req = Request{Method: call.Name, Tool: true, ID: m.ID, Params: call.Arguments}
	}
	e := c.editor
	e.record(func() { e.requests = append(e.requests, req) })
	if m.Method == "notifications/cancelled" {
		c.cancelled(m.Params)
		return
	}
	if m.ID == nil {
		return
	}
	reply := c.answer(req)
	if !reply.Silent {
		c.Reply(m.ID, reply)
	}
}

func (c *Conn) answer(req Request) Reply {
	e := c.editor
	e.mu.Lock()
	h := e.handlers[req.Method]
	e.mu.Unlock()
	switch {
	case e.Dialect.Steals && e.stolenFrom(c):
		return Reply{Silent: true}
	case h != nil:
		return h(c, req.Params)
	case req.Tool:
		return e.Dialect.call(c, req)
	}
	return e.Dialect.method(req)
}

// cancelled closes the diff of a request that its client gave up, in editors
// that know how to.
func (c *Conn) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if !c.editor.Dialect.Ours || json.Unmarshal(params, &p) != nil {
		return
	}
	e := c.editor
	e.mu.Lock()
	var found *Diff
	for _, d := range e.diffs {
		if d.conn == c && string(d.id) == string(p.RequestID) {
			found = d
		}
	}
	e.mu.Unlock()
	if found != nil {
		e.drop(found)
	}
}

// Reply answers a request.
func (c *Conn) Reply(id json.RawMessage, r Reply) {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if r.Error != nil {
		m["error"] = r.Error
	} else {
		m["result"] = r.Result
	}
	c.send(m)
}

func (c *Conn) send(m any) {
	data, err := json.Marshal(m)
	if err != nil {
		c.editor.tb.Errorf("encode: %v", err)
		return
	}
	_ = c.Raw(data) // the connection may be gone
}

// Raw writes one text message as it is.
func (c *Conn) Raw(data []byte) error {
	if c.ctx.Err() != nil {
		return errGone
	}
	return c.ws.Write(c.ctx, websocket.MessageText, data)
}

// Ask sends a request of the editor's own.
func (c *Conn) Ask(id any, method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// Close closes the connection with a status.
func (c *Conn) Close(status websocket.StatusCode, reason string) {
	_ = c.ws.Close(status, reason)
}

// Cut ends the connection without a word.
func (c *Conn) Cut() { _ = c.ws.CloseNow() }

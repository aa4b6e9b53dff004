package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/crash"
)

const (
	readLimit  = 64 << 20 // largest message accepted
	maxAnswers = 256      // unsent answers to the editor's requests
	goodbye    = 150 * time.Millisecond
)

// socket carries the messages of one session. It is both transport and connection for
// the SDK, as it connects once.
type socket struct {
	opts    Options
	ws      *websocket.Conn
	conn    net.Conn // below ws
	calls   *calls
	answers chan answer
	numbers numbers
	greeted atomic.Bool // the initialize handshake is complete
	leaving chan struct{}
	helpers crash.Group

	once sync.Once
	done chan struct{} // closed when the session has ended
	err  error         // set before done is closed
}

func newSocket(o Options) *socket {
	return &socket{
		opts: o, calls: newCalls(), numbers: newNumbers(),
		answers: make(chan answer, maxAnswers),
		leaving: make(chan struct{}), done: make(chan struct{}),
	}
}

// Connect implements [mcp.Transport].
func (s *socket) Connect(ctx context.Context) (mcp.Connection, error) {
	life := context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Timing.Dial, &LateError{"nothing has answered on the port", s.opts.Timing.Dial})
	defer cancel()
	door, err := newDoor(s.opts)
	if err != nil {
		return nil, err
	}
	//nolint:bodyclose // the library has read the body to its end
	ws, resp, err := websocket.Dial(ctx, "ws://"+s.opts.Address+"/", &websocket.DialOptions{
		HTTPClient: door.client(), HTTPHeader: door.header(),
		Subprotocols: []string{"mcp"}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, door.refusal(ctx, resp, err)
	}
	if err := door.prove(ctx, ws, resp.Header); err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	ws.SetReadLimit(readLimit)
	s.ws, s.conn = ws, door.conn
	s.helpers.Go(func() { s.answerAll(life) })
	s.helpers.Go(func() { s.keepAlive(life) })
	s.helpers.Go(func() { s.leave(life) })
	return s, nil
}

// whyNot explains why the session could not be opened.
func (s *socket) whyNot(ctx, opening context.Context, err error) error {
	defer s.helpers.Wait()
	defer s.end(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case opening.Err() != nil:
		return fmt.Errorf("%w: no handshake within %s", ErrNoAnswer, s.opts.Timing.Handshake)
	}
	select {
	case <-s.done:
		return s.err
	default:
		return err
	}
}

// SessionID implements [mcp.Connection].
func (s *socket) SessionID() string { return "" }

// Read implements [mcp.Connection]: it returns the next answer to one of our requests
// and handles all other messages itself. It skips malformed ones.
func (s *socket) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		// A context that ends during a read would close the connection.
		_, data, err := s.ws.Read(context.WithoutCancel(ctx))
		if err != nil {
			s.end(lost(err, s.greeted.Load()))
			return nil, s.err
		}
		msg, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			continue
		}
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			if err := s.request(msg, data); err != nil {
				s.end(err)
				return nil, s.err
			}
		case *jsonrpc.Response:
			if !s.numbers.take(msg, data) {
				continue // to another client, or an earlier link
			}
			s.calls.received(msg)
			return msg, nil
		}
	}
}

// lost interprets the end of the stream: before the greeting it may be a refusal.
func lost(err error, greeted bool) error {
	status := websocket.CloseStatus(err)
	if !greeted && (status == websocket.StatusPolicyViolation || status == 4001) {
		return fmt.Errorf("%w (close status %d)", ErrAuth, status)
	}
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return fmt.Errorf("the editor closed the connection (%d %q)", closed.Code, closed.Reason)
	}
	return fmt.Errorf("the connection to the editor was lost: %w", err)
}

// Write implements [mcp.Connection]. ctx does not interrupt it: half a message would
// break the connection.
func (s *socket) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(s.numbers.outgoing(msg))
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if req, ok := msg.(*jsonrpc.Request); ok {
		s.calls.wrote(ctx, req)
	}
	return s.write(ctx, data)
}

func (s *socket) write(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Timing.Write)
	defer cancel()
	if err := s.ws.Write(ctx, websocket.MessageText, data); err != nil {
		s.end(fmt.Errorf("the connection to the editor was lost: %w", err))
		return s.err
	}
	return nil
}

// send writes a notification.
func (s *socket) send(ctx context.Context, method string, params json.RawMessage) error {
	select {
	case <-s.done:
		return s.err
	default:
		return s.Write(ctx, &jsonrpc.Request{Method: method, Params: params})
	}
}

// keepAlive ends the session when a ping is not answered.
func (s *socket) keepAlive(ctx context.Context) {
	tick := time.NewTicker(s.opts.Timing.Ping)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.done:
			return
		}
		if s.ping(ctx) != nil {
			s.end(ErrNoAnswer)
			return
		}
	}
}

func (s *socket) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timing.Pong)
	defer cancel()
	return s.ws.Ping(ctx)
}

// hangUp cancels pending calls and closes the connection, with a proper goodbye if that
// takes no longer than goodbye.
func (s *socket) hangUp() {
	close(s.leaving)
	<-s.done
}

// leave waits for the end of the session or the call of hangUp.
func (s *socket) leave(ctx context.Context) {
	select {
	case <-s.done:
		return
	case <-s.leaving:
	}
	impatience := time.AfterFunc(goodbye, crash.Guarded(func() { _ = s.conn.Close() }))
	defer impatience.Stop()
	for _, id := range s.calls.unanswered() {
		params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": "the client is closing"})
		if err != nil || s.send(ctx, "notifications/cancelled", params) != nil {
			break
		}
	}
	s.calls.cancelAll(ErrClosed)
	s.finish(ErrClosed)
	_ = s.ws.Close(websocket.StatusNormalClosure, "")
}

// end records why the session is over and drops the connection.
func (s *socket) end(why error) {
	s.finish(why)
	if s.ws != nil {
		_ = s.ws.CloseNow()
	}
}

// finish records why the session is over, once.
func (s *socket) finish(why error) {
	s.once.Do(func() {
		s.err = why
		close(s.done)
	})
}

// Close implements [mcp.Connection].
func (s *socket) Close() error {
	s.end(ErrClosed)
	return nil
}

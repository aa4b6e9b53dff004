package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"

	"github.com/coder/websocket"

	"github.com/bb2d0cf4/agent/internal/ide/proof"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// door performs one handshake.
type door struct {
	opts  Options
	port  int
	nonce string   // empty without a secret
	conn  net.Conn // of a handshake that succeeded
}

// ownerError explains why a connection was closed before anything was sent.
type ownerError struct{ error }

func (e ownerError) Unwrap() error { return e.error }

func newDoor(o Options) (*door, error) {
	d := &door{opts: o}
	if d.opts.Check == nil {
		d.opts.Check = peer.Check
	}
	if o.Secret == "" {
		return d, nil
	}
	_, digits, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, err
	}
	d.nonce = proof.Nonce()
	d.port, err = strconv.Atoi(digits)
	return d, err
}

// client returns an HTTP client that connects only to programs of this user.
func (d *door) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: nil, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, DialContext: d.dial,
		},
		// Never follow to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (d *door) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := d.opts.Check(conn); err != nil {
		_ = conn.Close() // nothing was sent
		return nil, ownerError{err}
	}
	d.conn = conn
	return conn, nil
}

// header returns the headers of the handshake.
func (d *door) header() http.Header {
	h := http.Header{}
	switch {
	case d.nonce != "":
		h.Set(proof.NonceHeader, d.nonce)
	case d.opts.Token != "":
		h.Set(d.opts.Header, d.opts.Token)
	}
	return h
}

// prove checks the editor's proof, then sends ours.
func (d *door) prove(ctx context.Context, ws *websocket.Conn, answer http.Header) error {
	if d.nonce == "" {
		return nil
	}
	h := proof.Handshake{Port: d.port, Client: d.nonce, Server: answer.Get(proof.NonceHeader)}
	if !proof.Valid(h.Server) || !proof.Equal(answer.Get(proof.ProofHeader), h.OfServer(d.opts.Secret)) {
		return ErrImpostor
	}
	data, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "method": proof.Method, "params": map[string]string{"proof": h.OfClient(d.opts.Secret)},
	})
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, data)
}

// refusal explains why the WebSocket could not be opened.
func (d *door) refusal(ctx context.Context, resp *http.Response, err error) error {
	var owner ownerError
	var network *net.OpError
	switch {
	case errors.As(err, &owner):
		return fmt.Errorf("nothing was sent: %w", owner.error)
	case resp != nil && slices.Contains([]int{400, 401, 403}, resp.StatusCode):
		return fmt.Errorf("%w (HTTP status %d)", ErrAuth, resp.StatusCode)
	case resp != nil:
		return fmt.Errorf("%w (HTTP status %d)", ErrNoEditor, resp.StatusCode)
	case ctx.Err() != nil:
		return fmt.Errorf("connect to the editor: %w", context.Cause(ctx))
	case errors.As(err, &network):
		return fmt.Errorf("connect to the editor: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrNoEditor, err)
}

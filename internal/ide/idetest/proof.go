package idetest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/bb2d0cf4/agent/internal/ide/proof"
)

// ProveFor has the editor prove for the port of another address, such as a relay's.
func (e *Editor) ProveFor(address string) {
	e.tb.Helper()
	_, digits, err := net.SplitHostPort(address)
	if err != nil {
		e.tb.Fatal(err)
	}
	port, err := strconv.Atoi(digits)
	if err != nil {
		e.tb.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reached = port
}

// challenge adds the editor's proof to the answer of a handshake.
func (e *Editor) challenge(w http.ResponseWriter, r *http.Request) proof.Handshake {
	if e.Dialect.Auth != Proves {
		return proof.Handshake{}
	}
	h := proof.Handshake{Port: e.Port(), Client: r.Header.Get(proof.NonceHeader), Server: proof.Nonce()}
	e.mu.Lock()
	if e.reached != 0 {
		h.Port = e.reached
	}
	e.mu.Unlock()
	given := h.OfServer(e.Token())
	if e.Dialect.Forge != nil {
		given = e.Dialect.Forge(given)
	}
	w.Header().Set(proof.NonceHeader, h.Server)
	w.Header().Set(proof.ProofHeader, given)
	return h
}

// proved reports whether the first message is the client's proof.
func (e *Editor) proved(ctx context.Context, ws *websocket.Conn, h proof.Handshake) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, data, err := ws.Read(ctx)
	var m struct {
		Method string `json:"method"`
		Params struct {
			Proof string `json:"proof"`
		} `json:"params"`
	}
	return err == nil && json.Unmarshal(data, &m) == nil && m.Method == proof.Method &&
		proof.Equal(m.Params.Proof, h.OfClient(e.Token()))
}

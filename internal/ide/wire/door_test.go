package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/proof"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// TestSecretIsNeverSent holds what goes over the line: the secret is in none of it.
func TestSecretIsNeverSent(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	relay := idetest.NewRelay(t, e.Port())
	o := options(e)
	c := dial(t, o)
	if _, err := c.Call(t.Context(), "getOpenEditors", struct{}{}); err != nil {
		t.Fatal(err)
	}
	for name, values := range e.Conns()[0].Header {
		if strings.Contains(strings.Join(values, " "), e.Token()) {
			t.Errorf("the header %s has the secret", name)
		}
	}
	for _, r := range e.Requests("") {
		if strings.Contains(string(r.Params), e.Token()) {
			t.Errorf("%s has the secret", r.Method)
		}
	}
	// A proof is bound to the port: it is useless at another port.
	o.Address = relay.Address
	if _, err := wire.Dial(t.Context(), o); !errors.Is(err, wire.ErrImpostor) {
		t.Errorf("over another port: %v", err)
	}
}

// TestStrangerIsToldNothing holds that not a byte leaves before the owner of the
// connection is known.
func TestStrangerIsToldNothing(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan int, 2)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n, _ := conn.Read(make([]byte, 1)) // until it is closed
			_ = conn.Close()
			got <- n
		}
	}()
	for _, o := range []wire.Options{{Secret: strings.Repeat("s", 43)}, {Header: "x-token", Token: "token"}} {
		o.Address = l.Addr().String()
		o.Check = func(net.Conn) error { return peer.ErrStranger }
		_, err := wire.Dial(t.Context(), o)
		if !errors.Is(err, peer.ErrStranger) || errors.Is(err, wire.ErrNoEditor) {
			t.Errorf("got %v", err)
		}
		if n := <-got; n != 0 {
			t.Error("it was sent something")
		}
	}
}

// forgeries are the ways to give a wrong proof, each as often as it is asked for.
func forgeries(r *rand.Rand) map[string]func(string) string {
	return map[string]func(string) string{
		"none":      func(string) string { return "" },
		"at random": func(string) string { return proof.Nonce() },
		"one character": func(right string) string {
			b := []byte(right)
			at := r.IntN(len(b) - 1) // the last one has bits that mean nothing
			b[at] = "AB"[max(0, strings.IndexByte("BA", b[at]))]
			if string(b) == right {
				b[at] = 'C'
			}
			return string(b)
		},
		"cut":    func(right string) string { return right[:r.IntN(len(right))] },
		"longer": func(right string) string { return right + "A" },
		"of a peer": func(string) string {
			return proof.Handshake{Port: r.IntN(65536), Client: proof.Nonce(), Server: proof.Nonce()}.OfServer("x")
		},
	}
}

// How many wrong proofs an agent is given, and an editor of the tests: those that
// the extension is given are counted in its own.
const wrongProofs, wrongAnswers = 10_000, 1_000

// TestWrongProofsOfEditors: whatever an impostor gives for a proof, he is told
// nothing.
func TestWrongProofsOfEditors(t *testing.T) {
	var told atomic.Int64
	var forge func(string) string
	secret := proof.Nonce()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		port := l.Addr().(*net.TCPAddr).Port
		h := proof.Handshake{Port: port, Client: r.Header.Get(proof.NonceHeader), Server: proof.Nonce()}
		w.Header().Set(proof.NonceHeader, h.Server)
		w.Header().Set(proof.ProofHeader, forge(h.OfServer(secret)))
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		if _, _, err := ws.Read(context.WithoutCancel(r.Context())); err == nil {
			told.Add(1)
		}
		_ = ws.CloseNow()
	})}
	go func() { _ = server.Serve(l) }() // until it is closed
	defer server.Close()
	r := rand.New(rand.NewPCG(1, 2))
	all := forgeries(r)
	names := slices.Sorted(maps.Keys(all))
	o := wire.Options{Address: l.Addr().String(), Secret: secret, Check: func(net.Conn) error { return nil }}
	for i := range wrongProofs {
		name := names[i%len(names)]
		forge = all[name]
		if _, err := wire.Dial(t.Context(), o); !errors.Is(err, wire.ErrImpostor) {
			t.Fatalf("%d, %s: %v", i, name, err)
		}
	}
	if n := told.Load(); n != 0 {
		t.Errorf("%d impostors were told something", n)
	}
	t.Logf("%d wrong proofs of an editor: 0 accepted", wrongProofs)
}

// TestWrongProofsOfAgents: an editor serves nobody whose proof is wrong.
func TestWrongProofsOfAgents(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	r := rand.New(rand.NewPCG(3, 4))
	all := forgeries(r)
	names := slices.Sorted(maps.Keys(all))
	address := fmt.Sprintf("ws://127.0.0.1:%d/", e.Port())
	for i := range wrongAnswers {
		name := names[i%len(names)]
		header := http.Header{}
		h := proof.Handshake{Port: e.Port(), Client: proof.Nonce()}
		header.Set(proof.NonceHeader, h.Client)
		ws, resp, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Fatal(err)
		}
		h.Server = resp.Header.Get(proof.NonceHeader)
		wrong := all[name](h.OfClient(e.Token()))
		data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": proof.Method, "params": map[string]string{"proof": wrong}})
		if err != nil {
			t.Fatal(err)
		}
		if err := ws.Write(t.Context(), websocket.MessageText, data); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != 4001 {
			t.Fatalf("%d, %s: %v", i, name, err)
		}
	}
	if accepted, refused := e.Handshakes(); accepted != 0 || refused != wrongAnswers {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
	t.Logf("%d wrong proofs of an agent: 0 accepted", wrongAnswers)
}

// TestWrongSecret: an agent with a secret other than the editor's sends nothing,
// because the editor did not prove; an editor that refuses our proof refuses the token.
func TestWrongSecret(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	o := options(e)
	o.Secret = proof.Nonce()
	if _, err := wire.Dial(t.Context(), o); !errors.Is(err, wire.ErrImpostor) {
		t.Errorf("got %v", err)
	}
	d := idetest.Ours()
	d.Auth = idetest.Close4001
	d.Header = "x-other"
	other := idetest.Start(t, d)
	if _, err := wire.Dial(t.Context(), wire.Options{Address: fmt.Sprintf("127.0.0.1:%d", other.Port()), Header: "x-other", Token: "wrong"}); !errors.Is(err, wire.ErrAuth) {
		t.Errorf("got %v", err)
	}
}

package proof_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide/proof"
)

// TestRecorded holds that both sides compute the proofs that are written down.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "protocol", "proof.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Secret, ClientNonce, ServerNonce, ServerProof, ClientProof string
		Port                                                       int
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	h := proof.Handshake{Port: want.Port, Client: want.ClientNonce, Server: want.ServerNonce}
	if got := h.OfServer(want.Secret); got != want.ServerProof {
		t.Errorf("the server's proof is %s", got)
	}
	if got := h.OfClient(want.Secret); got != want.ClientProof {
		t.Errorf("the client's proof is %s", got)
	}
}

// TestBound holds that a proof is good for its own side, port, nonces and secret
// alone.
func TestBound(t *testing.T) {
	h := proof.Handshake{Port: 5765, Client: proof.Nonce(), Server: proof.Nonce()}
	const secret = "a secret that is long enough to be one"
	right := h.OfServer(secret)
	other := h
	other.Port++
	swapped := proof.Handshake{Port: h.Port, Client: h.Server, Server: h.Client}
	for name, wrong := range map[string]string{
		"the other side": h.OfClient(secret), "another port": other.OfServer(secret), "the nonces swapped": swapped.OfServer(secret),
		"another secret": h.OfServer(secret + "!"), "nothing": "", "its beginning": right[:len(right)-1],
	} {
		if proof.Equal(right, wrong) {
			t.Errorf("the proof is good for %s", name)
		}
	}
	if !proof.Equal(right, h.OfServer(secret)) || !proof.Valid(h.Client) || h.Client == h.Server {
		t.Error("a right proof or a nonce is refused")
	}
	for _, bad := range []string{"", "x", h.Client + "A", h.Client[:42] + "!", h.Client[:42] + "\n"} {
		if proof.Valid(bad) {
			t.Errorf("%q is taken for a nonce", bad)
		}
	}
}

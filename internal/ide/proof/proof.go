// Package proof is how the two ends of a link show each other that they know the
// secret of a lock file. It guarantees that the secret is never sent, that a proof
// is good for one handshake on one port, and that the proof of one side is never
// the proof of the other.
package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Version is the version of the protocol, as the lock file names it, in which both
// sides prove.
const Version = 2

// The headers of the handshake: each side sends a nonce, the server its proof too.
const (
	NonceHeader = "x-agent-ide-nonce"
	ProofHeader = "x-agent-ide-proof"
)

// Method is the notification by which the client proves; it is its first message.
const Method = "agent/prove"

// MinSecret is the least number of characters of a secret: whoever connects is
// given a proof, by which a short one could be guessed.
const MinSecret = 32

// length of a nonce or a proof: 32 bytes as base64url without padding.
const length = 43

// Handshake is what a proof is about.
type Handshake struct {
	Port           int    // on which the editor listens
	Client, Server string // the nonces of both sides
}

// Nonce returns a new one.
func Nonce() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Valid reports whether s has the form of a nonce.
func Valid(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s) // which skips the ends of lines
	return err == nil && len(b) == 32 && len(s) == length
}

// OfServer returns the proof of the editor.
func (h Handshake) OfServer(secret string) string { return h.of("server", secret) }

// OfClient returns the proof of the agent.
func (h Handshake) OfClient(secret string) string { return h.of("client", secret) }

func (h Handshake) of(role, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "agent-ide %d\n%s\n%d\n%s\n%s", Version, role, h.Port, h.Client, h.Server)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Equal compares two proofs; how long it takes tells nothing.
func Equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

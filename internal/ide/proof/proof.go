// Package proof lets the two ends of a link prove to each other that they know the
// secret of a lock file. The secret is never sent, a proof is valid for one handshake
// on one port, and the proof of one side is never a proof of the other.
package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Version is the number of the protocol that agent and its extension must share: the lock
// file holds it, and every proof.
const Version = 1

// The headers of the handshake: each side sends a nonce, the server also its proof.
const (
	NonceHeader = "x-agent-ide-nonce"
	ProofHeader = "x-agent-ide-proof"
)

// Method is the notification with the client's proof; it is its first message.
const Method = "agent/prove"

// MinSecret is the least length of a secret: anybody who connects gets a proof, from
// which a short secret could be guessed.
const MinSecret = 32

// length is that of a nonce or a proof: 32 bytes as base64url without padding.
const length = 43

// Handshake is the data that a proof signs.
type Handshake struct {
	Port           int    // of the editor
	Client, Server string // the nonces of both sides
}

// Nonce returns a new nonce.
func Nonce() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Valid reports whether s has the form of a nonce.
func Valid(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s) // which ignores line ends
	return err == nil && len(b) == 32 && len(s) == length
}

// OfServer returns the editor's proof.
func (h Handshake) OfServer(secret string) string { return h.of("server", secret) }

// OfClient returns the agent's proof.
func (h Handshake) OfClient(secret string) string { return h.of("client", secret) }

func (h Handshake) of(role, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "agent-ide %d\n%s\n%d\n%s\n%s", Version, role, h.Port, h.Client, h.Server)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Equal compares two proofs in constant time.
func Equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

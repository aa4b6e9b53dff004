package app

import (
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// modeNews tells the model about the permission mode in the newest message, because
// servers cache everything before it. It is safe for concurrent use.
type modeNews struct {
	policy     *permission.Policy
	unattended bool
	messages   func() []llm.Message // the conversation

	mu    sync.Mutex // guards the following
	told  string     // the text for the mode that the model knows
	stale bool       // messages were removed, so told may be wrong
}

// modeMark begins the text about a mode.
const modeMark = "[Permission mode: "

// take returns the text about the current mode; empty if the model knows it.
func (n *modeNews) take() string {
	now := modeText(n.policy.Mode(), n.unattended)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stale {
		n.told, n.stale = "", false
		if !n.mentioned() {
			n.told = modeText(permission.Default, false) // as in the system prompt
		}
	}
	if now == n.told {
		return ""
	}
	n.told = now
	return now
}

// forget makes the next take read the conversation again.
func (n *modeNews) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stale = true
}

// mentioned reports whether a message of the conversation names a mode.
func (n *modeNews) mentioned() bool {
	for _, m := range n.messages() {
		if m.Role != llm.Assistant && strings.Contains(m.Text(), modeMark) {
			return true
		}
	}
	return false
}

// modeText explains a mode to the model.
func modeText(m permission.Mode, unattended bool) string {
	return modeMark + m.String() + ". " + m.Explain(unattended) + "]"
}

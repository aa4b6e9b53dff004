// Package permission is the policy of the confirmation controller: what the
// mode of the session and the user's earlier answers settle without asking
// again. It guarantees that nothing but the bypass mode approves a request that
// forces a review, that the plan mode changes and runs nothing, and that a
// grant covers only what the person was shown: a tool's edits, one exact
// command line in one folder, one path.
package permission

import "github.com/bb2d0cf4/agent/internal/confirm"

// Mode says how much is asked. The zero value asks about everything.
type Mode int

// The modes, from the one that users start in.
const (
	Default     Mode = iota // everything asks, except what was granted
	AcceptEdits             // edits are approved, except those that force a review
	Plan                    // edits and commands are declined: the model only plans
	Bypass                  // everything is approved
)

// ParseMode returns the mode that String names.
func ParseMode(name string) (Mode, error) { return Default, nil }

// String returns the name of m as users write it.
func (m Mode) String() string { return "default" }

// Policy implements confirm.Policy. It is safe for concurrent use.
type Policy struct{}

// New returns a policy in the given mode. Bypass can be entered later only if
// the policy starts in it.
func New(mode Mode) *Policy { return &Policy{} }

// Mode returns the current mode.
func (p *Policy) Mode() Mode { return Default }

// SetMode changes the mode. It fails for Bypass unless the policy started in it.
func (p *Policy) SetMode(mode Mode) error { return nil }

// Cycle enters the next mode (default, accept-edits, plan, and bypass if the
// policy started in it) and returns it.
func (p *Policy) Cycle() Mode { return Default }

// Decide implements confirm.Policy.
func (p *Policy) Decide(req confirm.Request) (confirm.Verdict, bool) { return confirm.Verdict{}, false }

// Grant implements confirm.Policy.
func (p *Policy) Grant(req confirm.Request) {}

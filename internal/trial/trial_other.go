//go:build !(linux && (amd64 || arm64))

package trial

import (
	"context"
	"errors"
	"os/exec"

	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

const missing = "only Linux has what a trial needs"

// Probe reports that this system has no trials.
func Probe(context.Context, string, Jobs) sandbox.Offer { return sandbox.Offer{Missing: missing} }

// Trials runs no commands on this system.
type Trials struct{}

// New returns an error: this system has no trials.
func New(Options) (*Trials, error) { return nil, errors.New(missing) }

// Run runs nothing.
func (*Trials) Run(context.Context, shell.Options, []workspace.Change) (*Outcome, error) {
	return nil, errors.New(missing)
}

// Room returns an error.
func (*Trials) Room(context.Context, *exec.Cmd) (sandbox.Confiner, error) {
	return nil, errors.New(missing)
}

// Close does nothing.
func (*Trials) Close() error { return nil }

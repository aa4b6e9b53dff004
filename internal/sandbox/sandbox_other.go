//go:build !darwin && !(linux && (amd64 || arm64))

package sandbox

import (
	"context"
	"errors"
	"os/exec"
)

// Probe reports the sandbox features of this system: none.
func Probe(context.Context) Offer { return Offer{Missing: "this system is not supported"} }

// Start starts nothing: there is no sandbox.
func (p Policy) Start(*exec.Cmd) error {
	return errors.New("there is no sandbox on this system, so nothing was started")
}

// Confine starts cmd like Start. The system cannot end a sandbox as a whole.
func (p Policy) Confine(cmd *exec.Cmd) (Cage, error) { return &thread{}, p.Start(cmd) }

// killAll does nothing: no Cage has a thread.
func killAll() {}

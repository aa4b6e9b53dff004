package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// sandboxExec confines a program by a profile. It is part of macOS.
const sandboxExec = "/usr/bin/sandbox-exec"

// Probe reports the sandbox features of this system. It tries a profile on a program that does
// nothing.
func Probe(ctx context.Context) Offer {
	p := Policy{Write: []string{os.TempDir()}, Network: true}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := lookpath.CommandContext(ctx, sandboxExec, "-p", p.seatbelt(), "/usr/bin/true")
	cmd.Dir, cmd.Env = "/", []string{}
	if err := cmd.Run(); err != nil {
		return Offer{Missing: fmt.Sprintf("%s does not work: %v", sandboxExec, err)}
	}
	return Offer{}
}

// Start starts cmd, confined by the policy. sandbox-exec starts nothing if it cannot
// apply the profile.
func (p Policy) Start(cmd *exec.Cmd) error {
	cmd.Args = append([]string{sandboxExec, "-p", p.seatbelt(), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = sandboxExec
	return cmd.Start()
}

// Confine starts cmd like Start. The system cannot end a sandbox as a whole: a process that leaves its
// group goes on.
func (p Policy) Confine(cmd *exec.Cmd) (Cage, error) { return &thread{}, p.Start(cmd) }

// killAll does nothing: no Cage has a thread.
func killAll() {}

package app

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// shared is the folder of named memory, which some programs use like temporary files.
const shared = "/dev/shm"

// sandbox returns how the next command is confined.
func (a *App) sandbox(ctx context.Context) tools.Sandbox {
	want := a.Config.Sandbox
	if want.Mode == "off" {
		return tools.Sandbox{}
	}
	box := tools.Sandbox{Required: want.Mode == "required"}
	if offer := sandbox.Probe(ctx); offer.Missing != "" {
		box.Missing = offer.Missing
		return box
	}
	caches := sandbox.Caches()
	for _, dir := range caches {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			_ = statefile.Mkdir(dir) // a program that needs it will complain
		}
	}
	box.Policy = &sandbox.Policy{
		Write:   slices.Concat(a.Root.Roots(), []string{os.TempDir(), shared}, caches, want.Write),
		Network: want.Network,
	}
	if box.Policy.MayWrite(a.Config.Home) {
		box.Gap = fmt.Sprintf("The sandbox cannot protect the agent's own folder %s, which is inside a folder that commands may write.", a.Config.Home)
	}
	return box
}

// checkSandbox returns how the checks of proposals are confined, wherever the system can:
// they need to write nothing of the user's.
func (a *App) checkSandbox(ctx context.Context) (p *sandbox.Policy, missing string) {
	offer := sandbox.Probe(ctx)
	switch {
	case offer.Missing == "":
		return &sandbox.Policy{Write: append(sandbox.Caches(), a.Config.Sandbox.Write...)}, ""
	case a.Config.Sandbox.Mode == "required":
		return nil, "not run without the sandbox that you require: " + offer.Missing
	}
	return nil, ""
}

package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/idelink"
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
	box.Policy = a.policy(slices.Concat(a.Root.Roots(), []string{os.TempDir(), shared}, caches()))
	box.Policy.Network = want.Network
	if box.Policy.MayWrite(a.Config.Home) {
		box.Gap = fmt.Sprintf("The sandbox cannot protect the agent's own folder %s, which is inside a folder that commands may write.", a.Config.Home)
	}
	return box
}

// caches returns the folders of sandbox.Caches. It makes those that are missing, because a confined
// program cannot.
func caches() []string {
	dirs := sandbox.Caches()
	for _, dir := range dirs {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			_ = statefile.Mkdir(dir) // a program that needs it will complain
		}
	}
	return dirs
}

// policy returns the limits of programs that write below the given folders. The agent's
// own folder is hidden, with what opens editors and servers: keys, lock files, and other
// sessions. What its person put there for commands to use is not.
func (a *App) policy(write []string) *sandbox.Policy {
	home := a.Config.Home
	p := &sandbox.Policy{
		Write: append(write, a.Config.Sandbox.Write...),
		Hide:  append([]string{home}, idelink.Search(a.Config, a.Root.Dir()).Folders()...),
		Show:  []string{a.spillDir()},
	}
	for _, name := range []string{"skills", "commands", "agents", "AGENTS.md"} {
		p.Show = append(p.Show, filepath.Join(home, name))
	}
	return p
}

// checkSandbox returns how the checks of proposals are confined, wherever the system can:
// they need to write nothing of the user's.
func (a *App) checkSandbox(ctx context.Context) (p *sandbox.Policy, missing string) {
	offer := sandbox.Probe(ctx)
	switch {
	case offer.Missing == "":
		return a.policy(caches()), ""
	case a.Config.Sandbox.Mode == "required":
		return nil, "not run without the sandbox that you require: " + offer.Missing
	}
	return nil, ""
}

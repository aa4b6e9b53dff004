package app

import (
	"context"
	"sync"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// mine is the program's own folder, which has the user's instructions. It is opened once the model
// proposes some.
type mine struct {
	committed func(context.Context, workspace.File, workspace.Origin)

	mu   sync.Mutex
	root *workspace.Root // nil before
}

func (a *App) openMine() (*workspace.Root, error) {
	a.mine.mu.Lock()
	defer a.mine.mu.Unlock()
	if a.mine.root == nil {
		root, err := openRoot(a.Config, a.Config.Home, nil, nil, workspace.Host{}, a.mine.committed)
		if err != nil {
			return nil, err
		}
		a.mine.root = root
	}
	return a.mine.root, nil
}

func (m *mine) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil {
		return nil
	}
	return m.root.Close()
}

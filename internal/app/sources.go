package app

import "github.com/bb2d0cf4/agent/internal/app/sources"

// Sources lists the sources of the session and their owners.
func (a *App) Sources() []sources.Source {
	return a.sources.List(a.Context.Instructions(), a.Servers.Status())
}

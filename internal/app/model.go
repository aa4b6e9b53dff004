package app

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// Info describes the model in use.
func (a *App) Info() llm.Info {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.info
}

// edits returns the choice of tools for changing files that suits the model in use.
func (a *App) edits() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.model.Edits()
}

// SetModel sends later requests to the model named ref. No turn may be running. The
// notes warn the user of features that do not work with it.
func (a *App) SetModel(ctx context.Context, ref string) (notes []string, err error) {
	m, err := a.Config.Lookup(ref)
	if err != nil {
		return nil, err
	}
	m, notes = provider.Inspect(ctx, a.Config, m)
	model, err := provider.New(a.Config, m)
	if err != nil {
		return nil, err
	}
	a.Loop.SetModel(model)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now.model, a.now.sends, a.now.info = m, model, infoOf(m, model)
	return notes, nil
}

// infoOf describes a model under the name that the user gave it.
func infoOf(m config.Model, model llm.Model) llm.Info {
	info := model.Info()
	info.Name = m.Ref
	return info
}

// Models lists the models of the provider in use.
func (a *App) Models(ctx context.Context) ([]provider.Offer, error) {
	a.mu.Lock()
	m := a.now.model
	a.mu.Unlock()
	return provider.Offers(ctx, a.Config, m)
}

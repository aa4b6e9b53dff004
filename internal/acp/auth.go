package acp

import (
	"context"
	"errors"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
)

// SetUpFlag makes agent acp ask for a model on a terminal instead of serving a host. The host
// adds it to the command line that starts us.
const SetUpFlag = "setup"

// setUp is the id of the only way to authenticate: to choose a model.
const setUp = "setup"

// authRequired is the protocol's code of an error: the person has to authenticate.
const authRequired = -32000

// authMethods returns the way to choose a model: a terminal that the host opens, or else one
// of the person's.
func authMethods(offered clientCapabilities) []authMethod {
	if offered.Auth.Terminal {
		return []authMethod{{
			ID: setUp, Name: "Choose a model", Type: "terminal", Args: []string{"--" + SetUpFlag},
			Description: "Asks in a terminal for a model, and for its key.",
		}}
	}
	return []authMethod{{
		ID: setUp, Name: "Check the model", Type: "agent",
		Description: "Run agent in a terminal first: it asks for a model, and for its key.",
	}}
}

// authenticate succeeds if a model can be used.
func (a *agent) authenticate(ctx context.Context, p authenticateParams) (any, error) {
	if p.MethodID != setUp {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "unknown authentication method; use "+setUp)
	}
	set, err := a.opt.Setup(ctx, "")
	if err == nil {
		err = Ready(set.Config)
	}
	return struct{}{}, err
}

// Ready returns why the model cannot be used. If a person has to choose one, enter its key or
// allow its server first, the error, with its advice, is the protocol's for that: the host then
// offers the ways to authenticate.
func Ready(cfg config.Config) error {
	m, err := provider.Choose(cfg)
	if err == nil {
		err = provider.MissingKey(cfg, m)
	} else if unasked := (*allowedservers.UnaskedError)(nil); !errors.Is(err, provider.ErrNoModel) && !errors.As(err, &unasked) {
		return setup.UsageError{Err: err}
	}
	if err != nil {
		return jsonrpc.NewError(authRequired, err.Error())
	}
	return nil
}

// takesImages reports whether the configured model is known to take images.
func (a *agent) takesImages(ctx context.Context) bool {
	set, err := a.opt.Setup(ctx, "")
	if err != nil {
		return false
	}
	m, err := provider.Choose(set.Config)
	if err != nil {
		return false
	}
	m, _ = provider.Inspect(ctx, set.Config, m)
	model, err := provider.New(set.Config, m)
	return err == nil && model.Info().Images
}

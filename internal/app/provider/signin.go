package provider

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/chatgpt"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// SignInsFile is the name of the file with the accounts, in the agent's own folder.
const SignInsFile = "signins.json"

// SignIns returns the sign-ins that replace keys.
func SignIns(cfg config.Config) chatgpt.Store {
	return chatgpt.Store{
		File: filepath.Join(cfg.Home, SignInsFile), Secrets: tokens{keystore.Open(cfg.Home)}, Via: via{cfg},
	}
}

// SignedIn reports whether a sign-in pays for requests to m. It comes before a key.
func SignedIn(cfg config.Config, m config.Model) bool {
	a, err := SignIns(cfg).Account(m.Endpoint.BaseURL)
	return err == nil && a.In && a.Issuer == m.Endpoint.Login && m.Wire() == config.WireResponses
}

// via carries the requests to an issuer, each over a connection of its own: there are few.
type via struct{ cfg config.Config }

// RoundTrip implements http.RoundTripper.
func (v via) RoundTrip(req *http.Request) (*http.Response, error) {
	t := remote.NewTransport(allowedservers.Open(v.cfg.Home).Check)
	t.DisableKeepAlives = true
	return t.RoundTrip(req)
}

// tokens keeps the tokens of sign-ins where keys are kept.
type tokens struct{ keystore.Store }

// Load implements chatgpt.Secrets.
func (t tokens) Load(ctx context.Context, address string) (string, error) {
	return t.Get(ctx, keystore.SignIn(address))
}

// Save implements chatgpt.Secrets.
func (t tokens) Save(ctx context.Context, address, secret string) (err error) {
	if secret == "" {
		_, err = t.Delete(ctx, keystore.SignIn(address))
	} else {
		_, err = t.Put(ctx, keystore.SignIn(address), secret)
	}
	return err
}

// Lock implements chatgpt.Secrets.
func (t tokens) Lock(ctx context.Context, address string) (release func() error, err error) {
	return t.Store.Lock(ctx, keystore.SignIn(address))
}

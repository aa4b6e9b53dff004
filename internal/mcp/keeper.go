package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// keeper is the source of the tokens of a login. It keeps those that it renews.
type keeper struct {
	ctx     context.Context //nolint:containedctx // of the session; a token source takes none
	to      Logins
	address string

	via http.RoundTripper

	one singleflight.Group // runs renew, which owns the rest
	login
}

// loadLogin returns the login kept for an address, with a nil Token if nothing is kept.
func loadLogin(ctx context.Context, to Logins, address string) (l login, err error) {
	if to == nil {
		return l, nil
	}
	secret, err := to.Load(ctx, address)
	if err != nil || secret == "" {
		return l, err
	}
	if err := json.Unmarshal([]byte(secret), &l); err != nil || l.Token == nil {
		return login{}, errors.New("the login that is kept cannot be read; log in again")
	}
	return l, nil
}

// loadKeeper returns the source of the tokens for an address, renewed by via; nil without a
// login.
func loadKeeper(ctx context.Context, via http.RoundTripper, to Logins, address string) (*keeper, error) {
	l, err := loadLogin(ctx, to, address)
	if err != nil || l.Token == nil {
		return nil, err
	}
	return &keeper{ctx: ctx, to: to, address: address, via: via, login: l}, nil
}

// token returns the token, which it renews if it has expired. A renewal goes on after ctx has
// ended: the server may have replaced the token that it used up.
func (k *keeper) token(ctx context.Context) (*oauth2.Token, error) {
	select {
	case got := <-k.one.DoChan("", func() (any, error) {
		defer crash.Guard()
		return k.renew()
	}):
		t, _ := got.Val.(*oauth2.Token)
		return t, got.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// renew returns a token that is valid. Another session may have renewed it: a server can accept
// each refresh token once, and end the login at the second use.
func (k *keeper) renew() (t *oauth2.Token, err error) {
	if k.Token.Valid() {
		return k.Token, nil
	}
	release, err := k.to.Lock(k.ctx, k.address)
	if err != nil {
		return nil, fmt.Errorf("renew the login: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if kept, err := loadLogin(k.ctx, k.to, k.address); err == nil && kept.Token != nil { // else with the one we have
		k.login = kept
	}
	if k.Token.Valid() {
		return k.Token, nil
	}
	by := &loginTransport{via: k.via, address: cmp.Or(k.Resource, plainAddress(k.address))}
	cfg := oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: k.AuthStyle}}
	t, err = cfg.TokenSource(context.WithValue(k.ctx, oauth2.HTTPClient, by.client()), k.Token).Token()
	if err != nil {
		return nil, fmt.Errorf("log in again: the login has expired and cannot be renewed (%s)", bounded(err, maxWhy))
	}
	return t, k.save(t)
}

func (k *keeper) save(t *oauth2.Token) error {
	k.Token = t
	secret, err := json.Marshal(k.login)
	if err != nil {
		return err
	}
	return k.to.Save(k.ctx, k.address, string(secret))
}

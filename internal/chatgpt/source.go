package chatgpt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// early is how long before its end a token is renewed.
const early = 3 * time.Minute

// renewTime bounds a renewal, together with the wait for another process that renews.
const renewTime = time.Minute

// ErrSignedOut reports that the sign-in has ended.
var ErrSignedOut = errors.New("the sign-in with ChatGPT has ended: sign in again with agent login")

func (s Store) load(ctx context.Context, address string) (kept tokens, err error) {
	secret, err := s.Secrets.Load(ctx, address)
	if err != nil || secret == "" {
		return kept, err
	}
	if json.Unmarshal([]byte(secret), &kept) != nil {
		return tokens{}, errors.New("the tokens that are kept cannot be read") // the error would quote them
	}
	return kept, nil
}

func (s Store) save(ctx context.Context, address string, t tokens) error {
	t.ID, t.Scope, t.Seconds = "", "", 0
	secret, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.Secrets.Save(ctx, address, string(secret))
}

// Source gives the tokens for requests to one address. Several goroutines may use it.
type Source struct {
	store   Store
	address string
	one     singleflight.Group
	// The lock of the secrets guards the rest.
	kept tokens
	of   string // the name of the program that they were given to
}

// Source returns the source of the tokens for an address, without reading them.
func (s Store) Source(address string) *Source { return &Source{store: s, address: address} }

// Token returns a token. One that was refused is renewed, unless that has happened meanwhile; "" is
// none. A renewal goes on after ctx has ended: the issuer may have replaced the token that it used up.
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	select {
	case got := <-s.one.DoChan(refused, func() (any, error) {
		defer crash.Guard()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
		defer cancel()
		return s.fresh(ctx, refused)
	}):
		token, _ := got.Val.(string)
		return token, got.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// fit reports whether a token may be used.
func (t tokens) fit(refused string) bool {
	return t.Access != "" && t.Access != refused && time.Until(t.Until) > early
}

func (s *Source) fresh(ctx context.Context, refused string) (token string, err error) {
	release, err := s.store.Secrets.Lock(ctx, s.address)
	if err != nil {
		return "", fmt.Errorf("renew the sign-in: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	a, err := s.store.Account(s.address)
	switch {
	case err != nil:
		return "", err
	case !a.In:
		return "", ErrSignedOut
	case a.ClientID == s.of && s.kept.fit(refused):
		return s.kept.Access, nil
	}
	kept, err := s.store.load(ctx, s.address) // another process may have renewed them
	switch {
	case err != nil:
		return "", err
	case kept.Refresh == "":
		return "", ErrSignedOut
	case !kept.fit(refused):
		if kept, err = s.store.renew(ctx, s.address, a, kept); err != nil {
			return "", err
		}
	}
	s.kept, s.of = kept, a.ClientID
	return kept.Access, nil
}

// renew trades the token for that for new tokens, and keeps them. The old one is used up.
func (s Store) renew(ctx context.Context, address string, a Account, kept tokens) (tokens, error) {
	at, err := s.discover(ctx, a.Issuer)
	if err != nil {
		return tokens{}, err
	}
	got, err := s.request(ctx, at, url.Values{
		"grant_type": {"refresh_token"}, "client_id": {a.ClientID}, "refresh_token": {kept.Refresh}, "resource": {address},
	})
	if ended(err) {
		a.In = false
		return tokens{}, errors.Join(fmt.Errorf("%w: %w", ErrSignedOut, err), s.Secrets.Save(ctx, address, ""), s.put(ctx, address, a))
	}
	if err != nil {
		return tokens{}, fmt.Errorf("the sign-in could not be renewed: %w; try again", err)
	}
	if got.Refresh == "" {
		got.Refresh = kept.Refresh
	}
	return got, s.save(ctx, address, got)
}

// Package chatgpt signs in with a ChatGPT account, whose plan then pays for requests, as OpenAI
// documents it for open-source programs (developers.openai.com/siwc). It guarantees that nothing
// listens but for the time of a sign-in that a person asked for; that an account is kept only
// after its signed id token was verified; that tokens go to the issuer and to the one address
// that they are for; and that no error and no address shown holds a token.
package chatgpt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/bb2d0cf4/agent/internal/loopback"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

const (
	// firstClient is the name of a program that has not been given one of its own.
	firstClient = "dynamic_agent_client"
	name        = "agent"
	path        = "/auth/callback"
	port        = 1455
	planScope   = "chatgpt.tokens.use.direct"
	scopes      = "openid profile email offline_access resource.invoke " + planScope
	// Usage is the page where a person sees and limits what this program uses of the plan.
	Usage = "https://chatgpt.com/settings/usage"
)

// Account describes a sign-in beside its tokens. It outlives a sign-out, so that the
// next one is to the same account and under the same name.
type Account struct {
	Issuer   string `json:"issuer"`
	Host     string `json:"host"` // names this installation to the issuer
	ClientID string `json:"client_id,omitzero"`
	Subject  string `json:"subject,omitzero"`
	Email    string `json:"email,omitzero"`
	In       bool   `json:"signed_in,omitzero"`
	Declined bool   `json:"declined,omitzero"` // the person let no use of the plan
}

// Secrets keeps the tokens, by the address that they are for.
type Secrets interface {
	Load(ctx context.Context, address string) (string, error) // "" if none are kept
	Save(ctx context.Context, address, secret string) error   // "" deletes them
	// Lock waits until no other process renews them, and keeps others from it.
	Lock(ctx context.Context, address string) (release func() error, err error)
}

// Store holds the sign-ins of one user.
type Store struct {
	File    string // of the accounts
	Secrets Secrets
	Via     http.RoundTripper
}

func (s Store) accounts() statefile.JSON[map[string]Account] {
	return statefile.JSON[map[string]Account]{Path: s.File, Name: "sign-ins"}
}

// Account returns the account for an address; its In reports whether there is a sign-in.
func (s Store) Account(address string) (Account, error) {
	all, err := s.accounts().Read()
	return all[address], err
}

func (s Store) put(ctx context.Context, address string, a Account) error {
	return s.accounts().Change(ctx, func(all map[string]Account) map[string]Account {
		if all == nil {
			all = map[string]Account{}
		}
		all[address] = a
		return all
	})
}

// host returns the name of this installation, which is made once.
func (s Store) host() (string, error) {
	all, err := s.accounts().Read()
	if err != nil {
		return "", err
	}
	for _, address := range slices.Sorted(maps.Keys(all)) {
		return all[address].Host, nil
	}
	return newHost(), nil
}

// Person leads a person through a sign-in.
type Person struct {
	Show func(page string) // the page to open in a browser
	// Paste returns the address of the last page, if the browser is on another machine, to which
	// it cannot return; nil to wait for it here.
	Paste func(ctx context.Context) (string, error)
	// New begins under a new name, perhaps with another account.
	New bool
}

// SignIn signs in at an issuer to use the plan of the account for requests to an address.
func (s Store) SignIn(ctx context.Context, issuer, address string, p Person) (Account, error) {
	at, err := s.discover(ctx, issuer)
	if err != nil {
		return Account{}, err
	}
	was, err := s.Account(address)
	if err != nil {
		return was, err
	}
	if was.Host == "" || was.Issuer != issuer {
		was = Account{Issuer: issuer}
		if was.Host, err = s.host(); err != nil {
			return was, err
		}
		if err := s.put(ctx, address, was); err != nil { // the same name after a failure
			return was, err
		}
	}
	t := newTry(at, address, was, p.New)
	q, err := t.ask(ctx, p)
	if err != nil {
		return was, err
	}
	now, err := t.account(q)
	if err != nil {
		return was, err
	}
	got, err := s.exchange(ctx, t, now.ClientID, q.Get("code"))
	if err != nil {
		return was, err
	}
	who, err := s.verify(ctx, t, now.ClientID, got)
	switch {
	case err != nil:
		return was, fmt.Errorf("the sign-in cannot be trusted, so nothing was kept: %w", err)
	case t.was.Subject != "" && who.Subject != t.was.Subject:
		return was, errors.New("that is another account than the last time, so nothing was kept: choose the same one, or give --new")
	}
	now.Subject, now.Email = who.Subject, who.Email
	if now.Declined = !slices.Contains(strings.Fields(got.Scope), planScope); now.Declined {
		now.In = false
		return now, errors.Join(errors.New("signed in, but without the permission to use your ChatGPT plan, so no tokens were kept. Allow it, or use a key"), s.put(ctx, address, now))
	}
	if got.Refresh == "" {
		return was, errors.New("the issuer gave no token to renew the sign-in, so nothing was kept")
	}
	return s.keep(context.WithoutCancel(ctx), address, now, got)
}

// keep stores a sign-in: the tokens first.
func (s Store) keep(ctx context.Context, address string, a Account, got tokens) (Account, error) {
	release, err := s.Secrets.Lock(ctx, address)
	if err != nil {
		return a, err
	}
	a.In = true
	if err = s.save(ctx, address, got); err == nil {
		err = s.put(ctx, address, a)
	}
	return a, errors.Join(err, release())
}

// try is one attempt to sign in.
type try struct {
	at                     endpoints
	address, redirect      string
	was                    Account // with the name to use again, if any
	verifier, state, nonce string
}

func newTry(at endpoints, address string, was Account, anew bool) *try {
	if anew {
		was = Account{Issuer: was.Issuer, Host: was.Host}
	}
	return &try{at: at, address: address, was: was, verifier: oauth2.GenerateVerifier(), state: oauth2.GenerateVerifier(), nonce: oauth2.GenerateVerifier()}
}

// ask shows the page to the person and returns the parameters of the answer.
func (t *try) ask(ctx context.Context, p Person) (url.Values, error) {
	if p.Paste != nil {
		t.redirect = fmt.Sprintf("http://127.0.0.1:%d%s", port, path) // nobody listens there
		p.Show(t.page())
		text, err := p.Paste(ctx)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Path != path || u.Query().Get("state") != t.state {
			return nil, errors.New("that is not the address of the last page of this sign-in, which begins with " + t.redirect)
		}
		return u.Query(), nil
	}
	back, err := loopback.Listen(path, true, port, 0)
	if err != nil {
		return nil, err
	}
	defer back.Close(ctx)
	t.redirect = back.URL
	back.Expect(t.state)
	p.Show(t.page())
	return back.Wait(ctx)
}

// page returns the address of the page to sign in.
func (t *try) page() string {
	q := url.Values{
		"response_type": {"code"}, "redirect_uri": {t.redirect}, "scope": {scopes}, "resource": {t.address},
		"state": {t.state}, "nonce": {t.nonce}, "ext_agent_host_id": {t.was.Host},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(t.verifier)}, "code_challenge_method": {"S256"},
		"client_id": {t.was.ClientID},
	}
	if t.was.ClientID == "" {
		q.Set("client_id", firstClient)
		q.Set("agent_name_hint", name)
	}
	if t.was.Declined {
		q.Set("prompt", "consent")
	}
	return t.at.Authorization + "?" + q.Encode()
}

// account returns the account under the name that the issuer gave.
func (t *try) account(q url.Values) (Account, error) {
	now, given := t.was, q.Get("client_id")
	switch iss := q.Get("iss"); {
	case q.Get("error") == "access_denied":
		return now, errors.New("you did not allow the sign-in, so nothing was kept")
	case q.Get("code") == "":
		return now, errors.New("the issuer refused the sign-in: " + word(q.Get("error")))
	case iss != "" && iss != t.at.Issuer:
		return now, errors.New("the answer is from another issuer, so nothing was kept")
	case now.ClientID == "" && (given == "" || given == firstClient):
		return now, errors.New("the issuer gave this program no name of its own, so nothing was kept")
	case now.ClientID != "" && given != "" && given != now.ClientID:
		return now, errors.New("the issuer answered for another program, so nothing was kept")
	case now.ClientID == "":
		now.ClientID = given
	}
	return now, nil
}

// SignOut ends the sign-in for an address. It returns false without one; told reports
// whether the issuer has confirmed the end.
func (s Store) SignOut(ctx context.Context, address string) (was, told bool, err error) {
	a, err := s.Account(address)
	if err != nil || !a.In {
		return false, false, err
	}
	release, err := s.Secrets.Lock(ctx, address)
	if err != nil {
		return true, false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if kept, loadErr := s.load(ctx, address); loadErr == nil && kept.Refresh != "" {
		told = s.revoke(ctx, a, kept.Refresh) == nil
	}
	ctx = context.WithoutCancel(ctx) // no half of this is left undone
	if err := s.Secrets.Save(ctx, address, ""); err != nil {
		return true, told, err
	}
	a.In = false
	return true, told, s.put(ctx, address, a)
}

// revoke tells the issuer that a sign-in has ended.
func (s Store) revoke(ctx context.Context, a Account, token string) error {
	at, err := s.discover(ctx, a.Issuer)
	if err != nil {
		return err
	}
	if at.Revocation == "" {
		return errors.New("the issuer names no place to end a sign-in")
	}
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}, "client_id": {a.ClientID}}
	for wait := time.Second / 4; ; wait *= 2 {
		_, _, err = s.post(ctx, at.Revocation, form)
		if fault := new(fault); err == nil || errors.As(err, &fault) && fault.status < 500 || wait > time.Second {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

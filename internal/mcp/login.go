package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/loopback"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// Logins keeps the secrets of logins, by the address of the server that they are for.
type Logins interface {
	// Load returns "" if none is kept.
	Load(ctx context.Context, address string) (string, error)
	Save(ctx context.Context, address, secret string) error
	// Lock waits until no other session renews the login, and keeps others from it.
	Lock(ctx context.Context, address string) (release func() error, err error)
}

// login is the secret that Logins keeps: tokens, and the means to renew them.
type login struct {
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitzero"`
	TokenURL     string           `json:"token_url"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitzero"`
	Resource     string           `json:"resource,omitzero"` // as the server calls itself
	Token        *oauth2.Token    `json:"token"`
}

// Client is the program as an authorization server knows it. The zero value registers itself.
type Client struct {
	ID     string
	Secret string // "" if it has none, or for the one of the last login with that ID
	Port   int    // of the address that the browser returns to; 0 for any
}

// credentials returns the client for the SDK, nil if it registers itself. With the secret of
// the last login it returns the only address that may get it: the server may name any.
func (c Client) credentials(ctx context.Context, to Logins, address string) (known *oauthex.ClientCredentials, only string) {
	if c.ID == "" {
		return nil, ""
	}
	if c.Secret == "" {
		last, err := loadLogin(ctx, to, address)
		if err == nil && last.ClientID == c.ID && last.ClientSecret != "" { // an unreadable one is replaced
			c.Secret, only = last.ClientSecret, last.TokenURL
		}
	}
	known = &oauthex.ClientCredentials{ClientID: c.ID}
	if c.Secret != "" {
		known.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: c.Secret}
	}
	return known, only
}

// Login logs in to the server at an address by OAuth: show gets the address that the person
// opens in a browser and, for a further one, why the server asks again. Logins of opt keeps the tokens and the client's secret, for the server's
// address alone.
func Login(ctx context.Context, opt Options, s Server, client Client, show func(address, why string)) error {
	u, err := url.Parse(s.URL)
	if err != nil || !safe(u) {
		return errors.New("a login needs an https address")
	}
	back, err := loopback.Listen("/callback", false, client.Port)
	if err != nil {
		return err
	}
	defer back.Close(ctx)
	var got *keeper
	known, only := client.credentials(ctx, opt.Logins, s.URL)
	one := newServer(opt, s)
	defer one.via.CloseIdleConnections()
	check := &loginTransport{via: one.via, address: plainAddress(s.URL), only: only}
	flow := &loginFlow{check: check}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: known,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "agent", RedirectURIs: []string{back.URL}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RedirectURL:         back.URL,
		RequestRefreshToken: true,
		Client:              check.client(),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if foreign := check.foreign.Load(); foreign != nil {
				return nil, fmt.Errorf("its metadata belongs to another resource: %s", *foreign)
			}
			flow.begun = true
			page := check.named(args.URL)
			back.Expect(stateOf(page))
			show(page, flow.again)
			return answered(back.Wait(ctx))
		},
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			got = &keeper{ctx: ctx, to: opt.Logins, address: s.URL, login: login{
				ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL, AuthStyle: cfg.Endpoint.AuthStyle, Token: t, Resource: check.resource(),
			}}
			return oauth2.StaticTokenSource(t), nil
		},
	})
	if err != nil {
		return err
	}
	flow.OAuthHandler = handler
	transport := &sdk.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: one.httpClient(nil), MaxEventSize: maxMessage, OAuthHandler: flow, DisableStandaloneSSE: true,
	}
	caller := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: opt.Version}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	session, err := caller.Connect(ctx, transport, nil)
	if err != nil {
		return errors.New(bounded(err, maxWhy))
	}
	_ = session.Close() // it has served its purpose
	if got == nil {
		return errors.New("the server asks for no login")
	}
	return got.save(got.Token)
}

// safe reports whether secrets may go to an address: they are encrypted or stay on this
// machine.
func safe(u *url.URL) bool {
	return u.Scheme == "https" && u.Host != "" || u.Scheme == "http" && peer.IsLoopback(u.Hostname())
}

// answered returns the result in the parameters of an answer.
func answered(q url.Values, err error) (*auth.AuthorizationResult, error) {
	if err != nil {
		return nil, err
	}
	if q.Get("code") == "" {
		return nil, errors.New("the server refused the login: " + clip.Bytes(q.Get("error")+" "+q.Get("error_description"), maxWhy, "…"))
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// stateOf returns the state in the address of the page to log in.
func stateOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return u.Query().Get("state")
}

// refusal is the authorization of a session, by the server's name. It asks nobody and follows no
// address that the server names.
type refusal string

// TokenSource implements auth.OAuthHandler. headers adds the token: it knows the context of the
// request.
func (refusal) TokenSource(context.Context) (oauth2.TokenSource, error) { return nil, nil }

// Authorize implements auth.OAuthHandler.
func (r refusal) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close() // nobody reads it
	return fmt.Errorf("it answered %d: log in with agent mcp login %s, then /mcp reconnect %s", resp.StatusCode, r, r)
}

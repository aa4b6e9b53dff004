package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// Logins keeps the secrets of logins, by the address of the server that they are for.
type Logins interface {
	// Load returns "" if none is kept.
	Load(ctx context.Context, address string) (string, error)
	Save(ctx context.Context, address, secret string) error
}

// login is the secret that Logins keeps: tokens, and the means to renew them.
type login struct {
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitzero"`
	TokenURL     string           `json:"token_url"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitzero"`
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
// opens in a browser. Logins of opt keeps the tokens and the client's secret, for the server's
// address alone.
func Login(ctx context.Context, opt Options, s Server, client Client, show func(address string)) error {
	u, err := url.Parse(s.URL)
	if err != nil || !safe(u) {
		return errors.New("a login needs an https address")
	}
	back, err := listen(client.Port)
	if err != nil {
		return err
	}
	defer back.close(ctx)
	var got *keeper
	known, only := client.credentials(ctx, opt.Logins, s.URL)
	one := newServer(opt, s)
	defer one.via.CloseIdleConnections()
	check := &loginTransport{via: one.via, address: s.URL, only: only}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: known,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "agent", RedirectURIs: []string{back.url}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RedirectURL:         back.url,
		RequestRefreshToken: true,
		Client:              check.client(),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if foreign := check.foreign.Load(); foreign != nil {
				return nil, fmt.Errorf("its metadata is of another resource: %s", *foreign)
			}
			back.expect(args.URL)
			show(args.URL)
			return back.wait(ctx)
		},
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			got = &keeper{ctx: ctx, to: opt.Logins, address: s.URL, login: login{
				ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL, AuthStyle: cfg.Endpoint.AuthStyle, Token: t,
			}}
			return oauth2.StaticTokenSource(t), nil
		},
	})
	if err != nil {
		return err
	}
	transport := &sdk.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: one.httpClient(nil), MaxEventSize: maxMessage, OAuthHandler: handler, DisableStandaloneSSE: true,
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

// loginTransport makes the requests of a login, which may hold secrets: encrypted ones only,
// with bounded answers.
type loginTransport struct {
	via     http.RoundTripper
	address string
	only    string                 // the address that may get a secret; "" for any
	foreign atomic.Pointer[string] // another resource that the server's metadata is of
}

// client returns a client that follows no redirect to another host, which would get the
// secrets.
func (l *loginTransport) client() *http.Client {
	return &http.Client{Transport: l, CheckRedirect: sameHost, Timeout: time.Minute}
}

// RoundTrip implements http.RoundTripper.
func (l *loginTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !safe(req.URL) {
		return nil, errors.New("it is not encrypted: " + req.URL.Host)
	}
	if l.only != "" && req.Method != http.MethodGet && req.URL.String() != l.only {
		return nil, fmt.Errorf("the server now sends the client's secret to %s, no longer to %s: give the secret again with --client-secret if that is right", req.URL.Host, hostOf(l.only))
	}
	resp, err := headers{via: l.via}.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK || req.Method != http.MethodGet {
		return resp, err
	}
	data, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if err := l.see(req.URL.Host, data); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// see looks at metadata, as the SDK decodes it. The SDK goes on without that of another resource,
// and accepts any method of PKCE.
func (l *loginTransport) see(host string, data []byte) error {
	var meta map[string]any
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&meta); err != nil {
		return fmt.Errorf("the answer of %s is no metadata: %w", host, err)
	}
	_, page := meta["authorization_endpoint"]
	_, named := meta["resource"]
	if resource, _ := meta["resource"].(string); (named || !page) && !within(l.address, resource) {
		l.foreign.Store(&resource)
	}
	if methods, _ := meta["code_challenge_methods_supported"].([]any); page && !slices.Contains(methods, any("S256")) {
		return fmt.Errorf("%s does not protect a login by PKCE with S256, so another program could take it over: its operator has to change that", host)
	}
	return nil
}

// within reports whether an address is that of a resource or below it.
func within(address, resource string) bool {
	rest, ok := strings.CutPrefix(address, strings.TrimRight(resource, "/"))
	return ok && hostOf(address) == hostOf(resource) && (rest == "" || strings.ContainsAny(rest[:1], "/?"))
}

// callback receives the browser after the login, on this machine.
type callback struct {
	url    string
	server *http.Server
	got    chan *auth.AuthorizationResult
	failed chan error
	state  atomic.Pointer[string] // of the login; nil before it
	work   crash.Group
}

// listen begins to receive the browser on a port, 0 for any.
func listen(port int) (*callback, error) {
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		return nil, err
	}
	c := &callback{
		url: "http://" + l.Addr().String() + "/callback",
		got: make(chan *auth.AuthorizationResult, 1), failed: make(chan error, 1),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", c.receive)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	c.work.Go(func() { _ = c.server.Serve(l) }) // it ends with close
	return c, nil
}

// expect notes the state in the address of the page to log in, which an answer must repeat.
func (c *callback) expect(page string) {
	if u, err := url.Parse(page); err == nil {
		state := u.Query().Get("state")
		c.state.Store(&state)
	}
}

func (c *callback) receive(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if q.Get("code") == "" {
		if state := c.state.Load(); state == nil || *state == "" || q.Get("state") != *state {
			http.Error(w, "This page does not belong to the login that the terminal waits for.", http.StatusBadRequest)
			return // any page may have sent the browser here
		}
		select {
		case c.failed <- errors.New("the server refused the login: " + cut(q.Get("error")+" "+q.Get("error_description"), maxWhy)):
		default:
		}
		_, _ = fmt.Fprintln(w, "The login failed. The terminal says more.")
		return
	}
	select {
	case c.got <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
	default: // the first one counts
	}
	_, _ = fmt.Fprintln(w, "You can close this page: the terminal goes on.")
}

// wait returns the first answer of the browser.
func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case res := <-c.got:
		return res, nil
	case err := <-c.failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// close ends the server. The browser may read its page, even if ctx has ended.
func (c *callback) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	c.work.Wait()
}

// keeper is the source of the tokens of a login. It keeps those that it renews.
type keeper struct {
	ctx     context.Context //nolint:containedctx // of the session; a token source takes none
	to      Logins
	address string

	one singleflight.Group // runs renew, which owns the rest
	login
	fresh oauth2.TokenSource
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
	k := &keeper{ctx: ctx, to: to, address: address, login: l}
	cfg := oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: k.AuthStyle}}
	k.fresh = cfg.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, (&loginTransport{via: via, address: address}).client()), k.Token)
	return k, nil
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

func (k *keeper) renew() (*oauth2.Token, error) {
	t, err := k.fresh.Token()
	if err != nil {
		return nil, fmt.Errorf("log in again: the login has expired and cannot be renewed (%s)", bounded(err, maxWhy))
	}
	if t.AccessToken != k.Token.AccessToken {
		err = k.save(t)
	}
	return t, err
}

func (k *keeper) save(t *oauth2.Token) error {
	k.Token = t
	secret, err := json.Marshal(k.login)
	if err != nil {
		return err
	}
	return k.to.Save(k.ctx, k.address, string(secret))
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

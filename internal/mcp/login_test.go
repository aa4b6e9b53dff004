package mcp_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

// kept keeps logins in memory.
type kept struct {
	mu  sync.Mutex
	all map[string]string

	renews sync.Mutex // a session renews a login
}

func (k *kept) Lock(context.Context, string) (func() error, error) {
	k.renews.Lock()
	return func() error { k.renews.Unlock(); return nil }, nil
}

func (k *kept) Load(_ context.Context, address string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[address], nil
}

func (k *kept) Save(_ context.Context, address, secret string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]string{}
	}
	k.all[address] = secret
	return nil
}

// browse opens an address as a browser does.
func browse(t *testing.T, address string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		t.Error(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the browser got %d: %s", resp.StatusCode, body)
	}
}

// logIn logs in to o, in a browser that follows each redirect.
func logIn(t *testing.T, o *mcptest.OAuth, k *kept) error {
	t.Helper()
	return logInAs(t, o, k, mcp.Client{})
}

func logInAs(t *testing.T, o *mcptest.OAuth, k *kept, client mcp.Client) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return mcp.Login(ctx, mcp.Options{Version: "test", Logs: t.TempDir(), Logins: k}, mcp.Server{Name: "a", URL: o.URL() + o.Query}, client, func(address, _ string) { browse(t, address) })
}

// session starts a session with the server, with the login that is kept.
func session(t *testing.T, o *mcptest.OAuth, k *kept) *mcp.Servers {
	t.Helper()
	s := mcp.New(mcp.Options{Logs: t.TempDir(), Logins: k}, []mcp.Server{{Name: "a", URL: o.URL() + o.Query}})
	s.Start(t.Context(), nil)
	t.Cleanup(s.Close)
	s.Settle(t.Context())
	return s
}

// TestLogin: a login is kept for the sessions after it. Without one, nothing is asked of
// the authorization server.
func TestLogin(t *testing.T) {
	o, k := new(mcptest.OAuth).Start(t), &kept{}
	if s := session(t, o, k).Status()[0]; s.State != mcp.Failed || !strings.Contains(s.Why, "agent mcp login a") || o.Count("POST /register") > 0 {
		t.Errorf("%+v", s)
	}
	if err := logIn(t, o, k); err != nil {
		t.Fatal(err)
	}
	if s := session(t, o, k).Status()[0]; s.State != mcp.Ready || s.Tools == 0 {
		t.Errorf("%+v", s)
	}
	if n := o.Count("POST /token"); n != 1 {
		t.Errorf("%d requests for tokens", n)
	}
}

// TestRenewal: a token that has expired is renewed and kept; if that fails, the person is
// told to log in again.
func TestRenewal(t *testing.T) {
	o, k := (&mcptest.OAuth{Short: true}).Start(t), &kept{}
	if err := logIn(t, o, k); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := session(t, o, k).Status()[0]; s.State != mcp.Ready {
			t.Errorf("%+v", s)
		}
	}
	if n := o.Count("POST /token"); n != 2 || !strings.Contains(k.all[o.URL()], "access-2") {
		t.Errorf("%d requests for tokens", n)
	}

	o, k = (&mcptest.OAuth{Short: true, NoRefresh: true}).Start(t), &kept{}
	if err := logIn(t, o, k); err != nil {
		t.Fatal(err)
	}
	if s := session(t, o, k).Status()[0]; s.State != mcp.Failed || !strings.Contains(s.Why, "log in again") {
		t.Errorf("%+v", s)
	}
}

// TestRotation: sessions at the same time renew a login once, although each refresh token is
// accepted once; a second use would end the login.
func TestRotation(t *testing.T) {
	o, k := (&mcptest.OAuth{Short: true, Rotate: true}).Start(t), &kept{}
	if err := logIn(t, o, k); err != nil {
		t.Fatal(err)
	}
	var all []*mcp.Servers
	for range 3 { // each has the login before one of them renews it
		s := mcp.New(mcp.Options{Logs: t.TempDir(), Logins: k}, []mcp.Server{{Name: "a", URL: o.URL()}})
		t.Cleanup(s.Close)
		all = append(all, s)
	}
	for _, s := range all {
		s.Start(t.Context(), nil)
	}
	for _, s := range all {
		if s.Settle(t.Context()); s.Status()[0].State != mcp.Ready {
			t.Errorf("%+v", s.Status()[0])
		}
	}
	if n := o.Count("POST /token"); n != 2 {
		t.Errorf("%d requests for tokens", n)
	}
}

// TestNamesOfTheResource: a login and its renewal use the name that the server gives itself: with
// another slash, of a parent, without the query of the address.
func TestNamesOfTheResource(t *testing.T) {
	for name, o := range map[string]*mcptest.OAuth{
		"a query": {Query: "?tenant=1"}, "a slash": {Own: "/mcp/"}, "the parent": {Own: "/"}, "the host": {Own: ""}, "a query and the parent": {Query: "?a=b&c=d", Own: "/"},
		"at the root": {Own: "", AtRoot: true}, "at the root, with a query": {Own: "/", AtRoot: true, Query: "?x"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a query" {
				o.Own = "/mcp"
			}
			o.Short, o.Named = true, true
			k := &kept{}
			o.Start(t)
			if err := logIn(t, o, k); err != nil {
				t.Fatal(err)
			}
			if s := session(t, o, k).Status()[0]; s.State != mcp.Ready || o.Count("POST /token") != 2 {
				t.Errorf("%+v, %d requests for tokens", s, o.Count("POST /token"))
			}
		})
	}
}

// TestSecondPage: after a refused login no further page is shown, except for further rights, with
// the reason.
func TestSecondPage(t *testing.T) {
	for name, c := range map[string]struct {
		o     *mcptest.OAuth
		pages int
		says  string
	}{
		"refused token":  {&mcptest.OAuth{WrongTokens: true}, 1, "refuses the token of this login: 401 Unauthorized: invalid_token it is not for us"},
		"state":          {&mcptest.OAuth{State: "other"}, 1, "state mismatch"},
		"further rights": {&mcptest.OAuth{Further: true}, 2, ""},
	} {
		o, k := c.o.Start(t), &kept{}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var reasons []string
		err := mcp.Login(ctx, mcp.Options{Logs: t.TempDir(), Logins: k}, mcp.Server{Name: "a", URL: o.URL()}, mcp.Client{}, func(address, why string) {
			reasons = append(reasons, why)
			browse(t, address)
		})
		cancel()
		if len(reasons) != c.pages || reasons[0] != "" || c.pages > 1 && !strings.Contains(reasons[1], "insufficient_scope") {
			t.Errorf("%s: pages for %q", name, reasons)
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStuckRenewal: a session does not wait for a renewal that is never answered.
func TestStuckRenewal(t *testing.T) {
	o, k := (&mcptest.OAuth{Short: true}).Start(t), &kept{}
	if err := logIn(t, o, k); err != nil {
		t.Fatal(err)
	}
	o.Stuck = make(chan struct{})
	s := mcp.New(mcp.Options{Logs: t.TempDir(), Logins: k}, []mcp.Server{{Name: "a", URL: o.URL()}})
	s.Start(t.Context(), nil)
	<-o.Stuck
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the session waits for the renewal")
	}
}

// TestKnownClient: a server that registers no client takes the one that is configured. Its
// secret is kept with the tokens, and used for the next login and to renew them.
func TestKnownClient(t *testing.T) {
	known := func() *mcptest.OAuth {
		return (&mcptest.OAuth{Client: "known", Secret: "s3cret", Short: true}).Start(t)
	}
	o, k := known(), &kept{}
	if err := logInAs(t, o, k, mcp.Client{ID: "known", Secret: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	if s := session(t, o, k).Status()[0]; s.State != mcp.Ready || o.Count("POST /token") != 2 || o.Count("POST /register") != 0 {
		t.Errorf("%+v", s)
	}
	o, k = known(), &kept{}
	for _, secret := range []string{"s3cret", ""} {
		if err := logInAs(t, o, k, mcp.Client{ID: "known", Secret: secret}); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range []mcp.Client{{}, {ID: "known"}, {ID: "other", Secret: "s3cret"}, {ID: "known", Secret: "wrong"}} {
		o, k := known(), &kept{}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := mcp.Login(ctx, mcp.Options{Logs: t.TempDir(), Logins: k}, mcp.Server{Name: "a", URL: o.URL()}, wrong, func(address, _ string) {
			resp, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				cancel() // the page refuses the client
			}
		})
		if cancel(); err == nil || len(k.all) > 0 {
			t.Errorf("%+v logged in", wrong)
		}
	}
}

// TestSecretOfTheLastLogin: a kept secret goes only to the address that had it, even if the
// server names a different one. A secret that the person gives goes there.
func TestSecretOfTheLastLogin(t *testing.T) {
	first, k := (&mcptest.OAuth{Client: "known", Secret: "s3cret"}).Start(t), &kept{}
	if err := logInAs(t, first, k, mcp.Client{ID: "known", Secret: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	moved := (&mcptest.OAuth{Client: "known", Secret: "s3cret"}).Start(t)
	k.all[moved.URL()] = k.all[first.URL()]
	err := logInAs(t, moved, k, mcp.Client{ID: "known"})
	if n := moved.Count("POST /token"); n != 0 || err == nil || !strings.Contains(err.Error(), "--client-secret") {
		t.Errorf("%d requests for tokens, %v", n, err)
	}
	if err := logInAs(t, moved, k, mcp.Client{ID: "known", Secret: "s3cret"}); err != nil {
		t.Error(err)
	}
}

// TestRefusedLogin: only the page of the login can end it, with the state of that login.
func TestRefusedLogin(t *testing.T) {
	for _, own := range []bool{false, true} {
		o, k := new(mcptest.OAuth).Start(t), &kept{}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := mcp.Login(ctx, mcp.Options{Logs: t.TempDir(), Logins: k}, mcp.Server{Name: "a", URL: o.URL()}, mcp.Client{}, func(address, _ string) {
			page, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			answer := url.Values{"error": {"access_denied"}, "state": {"other"}}
			if own {
				answer.Set("state", page.Query().Get("state"))
			}
			resp, err := http.Get(page.Query().Get("redirect_uri") + "?" + answer.Encode())
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if refused := resp.StatusCode == http.StatusBadRequest; refused == own {
				t.Errorf("the browser got %d", resp.StatusCode)
			}
			if !own {
				browse(t, address)
			}
		})
		cancel()
		if refused := err != nil && strings.Contains(err.Error(), "the server refused the login: access_denied"); refused != own || !own && err != nil {
			t.Errorf("with its own state %t: %v", own, err)
		}
	}
}

// TestFlawedLogins: each check of a login, falsified once, ends it without a token, and no
// other host gets anything.
func TestFlawedLogins(t *testing.T) {
	var reached atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	const noPKCE = "does not protect a login by PKCE with S256"
	for name, flaw := range map[string]struct {
		o    *mcptest.OAuth
		says string
	}{
		"issuer of the metadata": {&mcptest.OAuth{Issuer: other}, "metadata issuer"},
		"issuer of the redirect": {&mcptest.OAuth{Iss: other}, "does not match expected issuer"},
		"state":                  {&mcptest.OAuth{State: "other"}, "state mismatch"},
		"no issuer comes back":   {&mcptest.OAuth{Drop: "iss"}, "but none was received"},
		"no state comes back":    {&mcptest.OAuth{Drop: "state"}, "state mismatch"},
		"no PKCE":                {&mcptest.OAuth{Methods: "none"}, noPKCE},
		"plain PKCE":             {&mcptest.OAuth{Methods: "plain"}, noPKCE},
		"another resource":       {&mcptest.OAuth{Resource: other + "/mcp"}, "metadata belongs to another resource"},
		"PKCE, odd metadata":     {&mcptest.OAuth{Methods: "plain", More: map[string]any{"resource": 5}}, noPKCE},
		"a resource with a page": {&mcptest.OAuth{Resource: other + "/mcp", More: map[string]any{"authorization_endpoint": other}}, "metadata belongs to another resource"},
		"a resource beside it":   {&mcptest.OAuth{Beside: true}, "metadata belongs to another resource"},
		"foreign token endpoint": {&mcptest.OAuth{TokenTo: other}, "redirects to another host"},
		"page without https":     {&mcptest.OAuth{PageTo: "http://login.example/authorize"}, "does not use HTTPS"},
		"page of a script":       {&mcptest.OAuth{PageTo: "javascript:alert(1)"}, "disallowed scheme"},
		"refused token":          {&mcptest.OAuth{WrongTokens: true}, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			o, k := flaw.o, &kept{}
			o.Start(t)
			if err := logIn(t, o, k); err == nil || !strings.Contains(err.Error(), flaw.says) {
				t.Error(err)
			}
			if len(k.all) > 0 {
				t.Error("a login is kept")
			}
			if exchanged := o.Count("POST /token"); exchanged > 0 && name != "refused token" && name != "foreign token endpoint" {
				t.Errorf("%d requests for tokens", exchanged)
			}
		})
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

// TestLoginIsForItsAddress: the token of one server goes to no other, nor unencrypted.
func TestLoginIsForItsAddress(t *testing.T) {
	o, k := new(mcptest.OAuth).Start(t), &kept{}
	if err := logIn(t, o, k); err != nil {
		t.Fatal(err)
	}
	second := new(mcptest.OAuth).Start(t)
	if s := session(t, second, k).Status()[0]; s.State != mcp.Failed {
		t.Errorf("%+v", s)
	}
	err := mcp.Login(t.Context(), mcp.Options{Logins: k}, mcp.Server{Name: "a", URL: "http://mcp.example/"}, mcp.Client{}, func(string, string) { t.Error("a page was shown") })
	if err == nil || !strings.Contains(err.Error(), "https") {
		t.Error(err)
	}
}

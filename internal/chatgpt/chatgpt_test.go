package chatgpt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/chatgpt/chatgpttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secrets keeps tokens in memory; several stores may share it as processes share a keyring.
type secrets struct {
	one  sync.Mutex
	mu   sync.Mutex
	kept map[string]string
}

func (s *secrets) Load(_ context.Context, address string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[address], nil
}

func (s *secrets) Save(_ context.Context, address, secret string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.kept[address] = secret
	return nil
}

func (s *secrets) Lock(context.Context, string) (func() error, error) {
	s.one.Lock()
	return func() error { s.one.Unlock(); return nil }, nil
}

func newStore(t *testing.T) Store {
	return Store{File: filepath.Join(t.TempDir(), "signins.json"), Secrets: &secrets{}, Via: &http.Transport{DisableKeepAlives: true}}
}

// browse opens the page as a browser does, and returns the last page.
func browse(t *testing.T, page string) string {
	resp, err := http.Get(page)
	if err != nil {
		t.Errorf("the page: %v", err)
		return ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	http.DefaultClient.CloseIdleConnections()
	return string(text)
}

func signIn(t *testing.T, s Store, o *chatgpttest.Issuer, p Person) (Account, error) {
	t.Helper()
	var done sync.WaitGroup
	defer done.Wait()
	show := p.Show
	p.Show = func(page string) {
		if show != nil {
			show(page)
		}
		done.Go(func() { browse(t, page) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return s.SignIn(ctx, o.URL(), o.API(), p)
}

// tokenWorks reports whether the server takes the token that a source gives.
func tokenWorks(t *testing.T, s *Source, o *chatgpttest.Issuer) error {
	t.Helper()
	token, err := s.Token(t.Context(), "")
	for range 2 {
		if err != nil {
			return err
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, o.API()+"/models", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, getErr := http.DefaultClient.Do(req)
		if getErr != nil {
			return getErr
		}
		_ = resp.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		token, err = s.Token(t.Context(), token)
	}
	return errors.New("refused twice")
}

// A sign-in keeps the account and the tokens; a second one uses the same name; a sign-out ends
// both here and at the issuer.
func TestSignIn(t *testing.T) {
	o := new(chatgpttest.Issuer).Start(t)
	s := newStore(t)
	a, err := signIn(t, s, o, Person{})
	if err != nil || !a.In || a.ClientID != chatgpttest.Client || a.Email != chatgpttest.Email {
		t.Fatalf("%v: %+v", err, a)
	}
	if err := tokenWorks(t, s.Source(o.API()), o); err != nil {
		t.Error(err)
	}
	again := ""
	if b, err := signIn(t, s, o, Person{Show: func(page string) { again = page }}); err != nil || b.Host != a.Host || !strings.Contains(again, "client_id="+chatgpttest.Client) {
		t.Errorf("%v: %+v by %s", err, b, again)
	}
	was, told, err := s.SignOut(t.Context(), o.API())
	if err != nil || !was || !told {
		t.Errorf("%v, %v, %v", was, told, err)
	}
	if _, err := s.Source(o.API()).Token(t.Context(), ""); !errors.Is(err, ErrSignedOut) {
		t.Errorf("after the sign-out: %v", err)
	}
	if was, _, err := s.SignOut(t.Context(), o.API()); was || err != nil {
		t.Errorf("a second sign-out: %v, %v", was, err)
	}
	if kept, err := s.Secrets.Load(t.Context(), o.API()); kept != "" || err != nil {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// A flaw ends a sign-in, and nothing is kept.
func TestFlawedSignIn(t *testing.T) {
	claim := func(name string, value any) func(jwt.MapClaims) {
		return func(c jwt.MapClaims) { c[name] = value }
	}
	for name, c := range map[string]struct {
		issuer *chatgpttest.Issuer
		want   string
	}{
		"denied":             {&chatgpttest.Issuer{Deny: true}, "you did not allow"},
		"no use of the plan": {&chatgpttest.Issuer{NoPlan: true}, "without the permission to use your ChatGPT plan"},
		"another audience":   {&chatgpttest.Issuer{Claims: claim("aud", "oaiapp_other")}, "cannot be trusted"},
		"two audiences":      {&chatgpttest.Issuer{Claims: claim("aud", []string{chatgpttest.Client, "other"})}, "cannot be trusted"},
		"another issuer":     {&chatgpttest.Issuer{Claims: claim("iss", "https://auth.example.com")}, "cannot be trusted"},
		"another nonce":      {&chatgpttest.Issuer{Claims: claim("nonce", "x")}, "cannot be trusted"},
		"no account":         {&chatgpttest.Issuer{Claims: claim("sub", "")}, "cannot be trusted"},
		"expired":            {&chatgpttest.Issuer{Claims: claim("exp", time.Now().Add(-time.Hour).Unix())}, "cannot be trusted"},
		"no end":             {&chatgpttest.Issuer{Claims: func(c jwt.MapClaims) { delete(c, "exp") }}, "cannot be trusted"},
		"tampered":           {&chatgpttest.Issuer{Tamper: true}, "cannot be trusted"},
		"signed by another":  {&chatgpttest.Issuer{Forge: true}, "cannot be trusted"},
		"unsigned":           {&chatgpttest.Issuer{Bare: true}, "cannot be trusted"},
		"no name":            {&chatgpttest.Issuer{NoName: true}, "no name of its own"},
		"callback of others": {&chatgpttest.Issuer{Iss: "https://auth.example.com"}, "another issuer"},
		"foreign endpoint":   {&chatgpttest.Issuer{Foreign: true}, "names another host"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.issuer.Start(t)
			s := newStore(t)
			_, err := signIn(t, s, o, Person{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
			for _, secret := range o.Secrets() {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("%q holds a secret", err)
				}
			}
			if a, _ := s.Account(o.API()); a.In {
				t.Errorf("signed in as %+v", a)
			}
			if kept, _ := s.Secrets.Load(t.Context(), o.API()); kept != "" {
				t.Error("tokens were kept")
			}
		})
	}
}

// After a sign-in to one account, another account is refused, unless the person begins anew. The
// person who let no use of the plan is asked for it again.
func TestAnotherAccount(t *testing.T) {
	o := new(chatgpttest.Issuer).Start(t)
	s := newStore(t)
	if _, err := signIn(t, s, o, Person{}); err != nil {
		t.Fatal(err)
	}
	o.Change(func() { o.Claims = func(c jwt.MapClaims) { c["sub"] = "user-2" } })
	if _, err := signIn(t, s, o, Person{}); err == nil || !strings.Contains(err.Error(), "another account") {
		t.Error(err)
	}
	if a, _ := s.Account(o.API()); !a.In || a.Subject != chatgpttest.Subject {
		t.Errorf("the first one is %+v", a)
	}
	if a, err := signIn(t, s, o, Person{New: true}); err != nil || a.Subject != "user-2" {
		t.Errorf("%v: %+v", err, a)
	}
	o.Change(func() { o.NoPlan = true })
	_, _ = signIn(t, s, o, Person{})
	o.Change(func() { o.NoPlan = false })
	page := ""
	if a, err := signIn(t, s, o, Person{Show: func(p string) { page = p }}); err != nil || !a.In || !strings.Contains(page, "prompt=consent") {
		t.Errorf("%v: %+v by %s", err, a, page)
	}
}

// A wrong clock of this machine does not matter.
func TestWrongClock(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour, 26 * time.Hour} {
		o := (&chatgpttest.Issuer{Clock: off}).Start(t)
		s := newStore(t)
		if _, err := signIn(t, s, o, Person{}); err != nil {
			t.Errorf("off by %v: %v", off, err)
		}
		if err := tokenWorks(t, s.Source(o.API()), o); err != nil {
			t.Errorf("off by %v: %v", off, err)
		}
	}
}

// If the usual port is taken the browser returns to another; without a browser here nothing listens.
func TestPort(t *testing.T) {
	taken, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err == nil { // else another program has it, which is as good
		defer taken.Close()
	}
	o := new(chatgpttest.Issuer).Start(t)
	s := newStore(t)
	page := ""
	if a, err := signIn(t, s, o, Person{Show: func(p string) { page = p }}); err != nil || !a.In {
		t.Fatal(err)
	}
	if strings.Contains(page, "%3A1455%2F") {
		t.Errorf("the page is %s", page)
	}
}

// A person whose browser is elsewhere pastes the address of its last page.
func TestPaste(t *testing.T) {
	back := make(chan string, 1)
	o := &chatgpttest.Issuer{Visit: func(u *url.URL) { back <- u.String() }}
	o.Start(t)
	s := newStore(t)
	paste := func(change func(string) string) Person {
		return Person{Paste: func(context.Context) (string, error) { return change(<-back), nil }}
	}
	refuse := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer refuse.CloseIdleConnections()
	try := func(p Person) (Account, error) {
		p.Show = func(page string) {
			if resp, err := refuse.Get(page); err == nil {
				_ = resp.Body.Close()
			}
		}
		return s.SignIn(t.Context(), o.URL(), o.API(), p)
	}
	if _, err := try(paste(func(string) string { return "http://127.0.0.1:1455/auth/callback?code=x&state=y" })); err == nil || !strings.Contains(err.Error(), "not the address of the last page") {
		t.Error(err)
	}
	if a, err := try(paste(func(u string) string { return " " + u + "\n" })); err != nil || !a.In {
		t.Errorf("%v: %+v", err, a)
	}
}

// A stranger's callback ends nothing: neither with a code nor with an error.
func TestStranger(t *testing.T) {
	o := &chatgpttest.Issuer{Visit: func(back *url.URL) {
		for _, q := range []string{"code=evil&state=wrong", "code=evil", "error=access_denied&state=wrong", "error=access_denied", ""} {
			evil := *back
			evil.RawQuery = q
			resp, err := http.Get(evil.String())
			if err != nil || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%q: %v, %v", q, resp, err)
				continue
			}
			_ = resp.Body.Close()
		}
	}}
	o.Start(t)
	if a, err := signIn(t, newStore(t), o, Person{}); err != nil || !a.In {
		t.Errorf("%v: %+v", err, a)
	}
}

// A refused or expired token is renewed once, however many ask, and whichever process does.
func TestRenewal(t *testing.T) {
	o := new(chatgpttest.Issuer).Start(t)
	s := newStore(t)
	if _, err := signIn(t, s, o, Person{}); err != nil {
		t.Fatal(err)
	}
	one, other := s.Source(o.API()), s.Source(o.API())
	for round := range 3 {
		before := o.Count("POST /token")
		o.Expire()
		var done sync.WaitGroup
		for range 8 {
			for _, source := range []*Source{one, other} {
				done.Go(func() {
					if err := tokenWorks(t, source, o); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
		}
		done.Wait()
		if n := o.Count("POST /token") - before; n != 1 {
			t.Errorf("round %d: renewed %d times", round, n)
		}
	}
}

// A token that has expired by the clock is renewed before it is sent.
func TestEarlyRenewal(t *testing.T) {
	o := (&chatgpttest.Issuer{Short: true}).Start(t)
	s := newStore(t)
	if _, err := signIn(t, s, o, Person{}); err != nil {
		t.Fatal(err)
	}
	o.Change(func() { o.Short = false })
	if err := tokenWorks(t, s.Source(o.API()), o); err != nil {
		t.Error(err)
	}
	if n := o.Count("GET /v1/models"); n != 1 {
		t.Errorf("%d requests for models", n)
	}
}

// A sign-in that has ended elsewhere ends here, with the reason; a fault of the issuer does not end it.
func TestEnd(t *testing.T) {
	for name, end := range map[string]func(*chatgpttest.Issuer){"revoked": (*chatgpttest.Issuer).End, "used elsewhere": (*chatgpttest.Issuer).Use} {
		t.Run(name, func(t *testing.T) {
			o := new(chatgpttest.Issuer).Start(t)
			s := newStore(t)
			if _, err := signIn(t, s, o, Person{}); err != nil {
				t.Fatal(err)
			}
			o.Change(func() { o.Foreign = true })
			source := s.Source(o.API())
			token, err := source.Token(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := source.Token(t.Context(), token); err == nil || errors.Is(err, ErrSignedOut) {
				t.Errorf("with a faulty issuer: %v", err)
			}
			o.Change(func() { o.Foreign, o.Busy = false, true })
			if _, err := source.Token(t.Context(), token); err == nil || errors.Is(err, ErrSignedOut) || !strings.Contains(err.Error(), "try again") {
				t.Errorf("with a busy issuer: %v", err)
			}
			o.Change(func() { o.Busy = false })
			end(o)
			if _, err := source.Token(t.Context(), token); !errors.Is(err, ErrSignedOut) {
				t.Error(err)
			}
			if a, _ := s.Account(o.API()); a.In || a.ClientID != chatgpttest.Client {
				t.Errorf("the account is %+v", a)
			}
			if a, err := signIn(t, s, o, Person{}); err != nil || !a.In {
				t.Errorf("the next sign-in: %v, %+v", err, a)
			}
		})
	}
}

// A sign-in that nobody ends leaves nothing behind.
func TestGivenUp(t *testing.T) {
	o := new(chatgpttest.Issuer).Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := newStore(t).SignIn(ctx, o.URL(), o.API(), Person{Show: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

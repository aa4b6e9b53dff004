package chatgpt

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/peer"
)

const (
	// answerTime bounds a request to an issuer.
	answerTime = 30 * time.Second
	// maxAnswer bounds its answer, in bytes.
	maxAnswer = 1 << 20
	// leeway is how much the clocks of an issuer's machines may differ.
	leeway = time.Minute
)

// endpoints are the addresses of an issuer.
type endpoints struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	Keys          string `json:"jwks_uri"`
	Revocation    string `json:"revocation_endpoint"`
}

// discover returns the addresses of an issuer, all of which are its own.
func (s Store) discover(ctx context.Context, issuer string) (at endpoints, err error) {
	data, _, err := s.ask(ctx, http.MethodGet, issuer+"/.well-known/openid-configuration", nil)
	if err == nil {
		err = json.Unmarshal(data, &at)
	}
	if err != nil {
		return at, fmt.Errorf("the issuer %s does not answer as one: %w", issuer, err)
	}
	if at.Issuer != issuer {
		return at, errors.New("the description at " + issuer + " is from another issuer")
	}
	for _, address := range []string{at.Authorization, at.Token, at.Keys, at.Revocation} {
		if own := sameHost(issuer, address); !own && (address != "" || at.Authorization == "" || at.Token == "" || at.Keys == "") {
			return at, errors.New("the issuer " + issuer + " names another host, or not all of its addresses")
		}
	}
	return at, nil
}

// sameHost reports whether an address is at the host of another, and secrets may go there: they
// are encrypted or stay on this machine.
func sameHost(one, other string) bool {
	a, err := url.Parse(one)
	b, err2 := url.Parse(other)
	return err == nil && err2 == nil && b.Host != "" && a.Host == b.Host && a.Scheme == b.Scheme &&
		(b.Scheme == "https" || b.Scheme == "http" && peer.IsLoopback(b.Hostname()))
}

// fault is an answer with an error.
type fault struct {
	status int
	code   string // in the issuer's words
}

func (f *fault) Error() string { return fmt.Sprintf("%s (HTTP %d)", f.code, f.status) }

// words matches an issuer's code for an error. Anything else might quote a secret.
var words = lazyregexp.New(`^[A-Za-z0-9_:.-]{1,64}$`)

func word(code string) string {
	if !words.MatchString(code) {
		return "no reason given"
	}
	return code
}

// ask sends a request and returns the body of the answer and the issuer's time.
func (s Store) ask(ctx context.Context, method, address string, form url.Values) (data []byte, now time.Time, err error) {
	if !sameHost(address, address) {
		return nil, now, errors.New(address + " is not encrypted")
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, now, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", name)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := http.Client{Transport: s.Via, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, now, bare(err)
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return nil, now, bare(err)
	}
	if now, err = http.ParseTime(resp.Header.Get("Date")); err != nil {
		now = time.Now()
	}
	if resp.StatusCode != http.StatusOK {
		return nil, now, &fault{resp.StatusCode, codeIn(data)}
	}
	return data, now, nil
}

// bare returns err without the address of the request.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// codeIn returns the code in an answer with an error: {"error": "code"} or {"error": {"code": …}}.
func codeIn(data []byte) string {
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	var code string
	var inner struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(data, &body) == nil && json.Unmarshal(body.Error, &code) != nil && json.Unmarshal(body.Error, &inner) == nil {
		code = inner.Code
	}
	return word(code)
}

func (s Store) post(ctx context.Context, address string, form url.Values) ([]byte, time.Time, error) {
	return s.ask(ctx, http.MethodPost, address, form)
}

// tokens is an answer of an issuer.
type tokens struct {
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token"`
	ID      string    `json:"id_token,omitzero"` // not kept
	Scope   string    `json:"scope,omitzero"`
	Seconds int64     `json:"expires_in,omitzero"`
	Until   time.Time `json:"until"` // by our clock

	issued time.Time // by the issuer's clock
}

// request asks for tokens.
func (s Store) request(ctx context.Context, at endpoints, form url.Values) (got tokens, err error) {
	begin := time.Now()
	data, issued, err := s.post(ctx, at.Token, form)
	if err != nil {
		return got, err
	}
	if json.Unmarshal(data, &got) != nil || got.Access == "" || got.Seconds <= 0 {
		return got, errors.New("the issuer's answer has no tokens")
	}
	got.Until, got.issued = begin.Add(time.Duration(got.Seconds)*time.Second), issued
	return got, nil
}

// exchange trades the code of a sign-in for tokens.
func (s Store) exchange(ctx context.Context, t *try, client, code string) (tokens, error) {
	got, err := s.request(ctx, t.at, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code},
		"redirect_uri": {t.redirect}, "code_verifier": {t.verifier}, "resource": {t.address},
	})
	if err != nil {
		return got, fmt.Errorf("the issuer gave no tokens: %w", err)
	}
	return got, nil
}

// claims are the members of an id token.
type claims struct {
	jwt.RegisteredClaims
	Nonce string `json:"nonce"`
	Email string `json:"email"`
	Party string `json:"azp"`
}

// verify returns the claims of the id token if the issuer has signed it for this sign-in. Its times are
// compared with the issuer's clock, as ours may be wrong.
func (s Store) verify(ctx context.Context, t *try, client string, got tokens) (claims, error) {
	var c claims
	_, err := jwt.ParseWithClaims(got.ID, &c, func(id *jwt.Token) (any, error) {
		kid, _ := id.Header["kid"].(string)
		return s.key(ctx, t.at, kid)
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(t.at.Issuer), jwt.WithAudience(client), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(func() time.Time { return got.issued }))
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return c, errors.New("there is no id token")
	case err != nil:
		return c, err
	case c.Nonce != t.nonce:
		return c, errors.New("the id token belongs to another sign-in")
	case c.Subject == "" || len(c.Audience) > 1 && c.Party != client:
		return c, errors.New("the id token is not for this program")
	}
	return c, nil
}

// key returns the key with which the issuer signs.
func (s Store) key(ctx context.Context, at endpoints, kid string) (*rsa.PublicKey, error) {
	data, _, err := s.ask(ctx, http.MethodGet, at.Keys, nil)
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []struct {
			Kind string `json:"kty"`
			ID   string `json:"kid"`
			Use  string `json:"use"`
			N    string `json:"n"`
			E    string `json:"e"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("the issuer's keys: %w", err)
	}
	for _, k := range set.Keys {
		n, err := base64.RawURLEncoding.DecodeString(k.N)
		e, err2 := base64.RawURLEncoding.DecodeString(k.E)
		if k.Kind != "RSA" || k.ID != kid || k.Use != "" && k.Use != "sig" || err != nil || err2 != nil || len(e) > 4 || len(n) < 256 {
			continue
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
	}
	return nil, errors.New("it is signed with a key that the issuer does not name")
}

// newHost returns a name for this installation: a random UUID.
func newHost() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// over are the codes after which only a new sign-in helps.
var over = []string{"invalid_grant", "invalid_refresh_token", "token_expired", "refresh_token_expired", "refresh_token_invalidated", "refresh_token_reused", "invalid_client"}

func ended(err error) bool {
	fault := new(fault)
	return errors.As(err, &fault) && slices.Contains(over, fault.code)
}

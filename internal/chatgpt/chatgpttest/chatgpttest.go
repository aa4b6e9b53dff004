// Package chatgpttest provides an issuer for sign-ins and the server that its tokens are for. Both
// are as strict as OpenAI documents its own, and misbehave on demand.
package chatgpttest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Issuer is an issuer and a server of models. The fields are flaws, and may be set before a request.
type Issuer struct {
	Next http.Handler // answers the requests for models; it may be nil

	Deny    bool                  // the person allows nothing
	NoPlan  bool                  // the person allows the sign-in, but no use of the plan
	Claims  func(c jwt.MapClaims) // changes the id token
	Forge   bool                  // the id token is signed with another key
	Bare    bool                  // the id token is not signed
	Tamper  bool                  // a byte of the id token was changed
	NoName  bool                  // the callback names no client
	Iss     string                // the issuer in the callback
	Foreign bool                  // the description names the token endpoint of another host
	Clock   time.Duration         // how far the issuer's clock is ahead
	Short   bool                  // access tokens have expired when they arrive
	Visit   func(back *url.URL)   // sees where the browser goes, before it does
	Busy    bool                  // the token endpoint answers 503
	Limit   string                // the body of the answer when a cap is reached

	http *httptest.Server
	key  *rsa.PrivateKey

	mu       sync.Mutex
	wrong    []string
	requests []string
	asked    url.Values // of the last page
	issued   int
	refresh  string // the only one that is accepted
	ended    bool
	bodies   [][]byte
	secrets  []string
}

// The name of the client that is given to a program, and its account.
const (
	Client  = "oaiapp_test"
	Subject = "user-1"
	Email   = "ada@example.com"
	scopes  = "openid profile email offline_access resource.invoke chatgpt.tokens.use.direct"
)

// Start starts both servers, until the test ends. A request that the pages do not allow fails the test.
func (o *Issuer) Start(t testing.TB) *Issuer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	o.key = key
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", o.describe)
	mux.HandleFunc("GET /authorize", o.authorize)
	mux.HandleFunc("POST /token", o.token)
	mux.HandleFunc("POST /revoke", o.revoke)
	mux.HandleFunc("GET /keys", o.keys)
	mux.HandleFunc("/v1/", o.serve)
	o.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.requests = append(o.requests, r.Method+" "+r.URL.Path)
		w.Header().Set("Date", time.Now().Add(o.Clock).UTC().Format(http.TimeFormat))
		o.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		o.http.CloseClientConnections()
		o.http.Close()
		if len(o.wrong) > 0 {
			t.Errorf("requests that the issuer does not allow: %q", o.wrong)
		}
	})
	return o
}

// URL returns the address of the issuer.
func (o *Issuer) URL() string { return o.http.URL }

// API returns the address that the tokens are for.
func (o *Issuer) API() string { return o.http.URL + "/v1" }

// Change changes flaws while the servers run.
func (o *Issuer) Change(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// Count returns the number of requests, such as "POST /token".
func (o *Issuer) Count(request string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.requests {
		if r == request {
			n++
		}
	}
	return n
}

// Secrets returns all tokens, codes and verifiers that there were.
func (o *Issuer) Secrets() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.secrets)
}

// Bodies returns the bodies of the requests for answers.
func (o *Issuer) Bodies() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.bodies)
}

// Expire ends the access token, but not the sign-in.
func (o *Issuer) Expire() { o.Change(func() { o.issued++ }) }

// End ends the sign-in, as a person can in the settings of ChatGPT.
func (o *Issuer) End() { o.Change(func() { o.ended, o.refresh = true, "" }) }

// Use renews the sign-in elsewhere, with a copy of the tokens.
func (o *Issuer) Use() {
	o.Change(func() { o.issued++; o.refresh = fmt.Sprint("refresh-elsewhere-", o.issued) })
}

func (o *Issuer) fault(w http.ResponseWriter, format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
	refuse(w, http.StatusBadRequest, "invalid_request")
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"no"}}`, code)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (o *Issuer) describe(w http.ResponseWriter, _ *http.Request) {
	tokens := o.http.URL + "/token"
	if o.Foreign {
		tokens = "https://elsewhere.example.com/token"
	}
	answer(w, map[string]any{
		"issuer": o.http.URL, "authorization_endpoint": o.http.URL + "/authorize", "token_endpoint": tokens,
		"jwks_uri": o.http.URL + "/keys", "revocation_endpoint": o.http.URL + "/revoke",
	})
}

var hostID = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// authorize is the page to sign in, where the person answers at once.
func (o *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	first := q.Get("client_id") == "dynamic_agent_client"
	if why := o.wrongPage(q, first); err != nil || why != "" {
		o.fault(w, "%s: %s", why, q.Encode())
		o.mu.Unlock()
		return
	}
	o.asked = q
	back.RawQuery = o.back(q, first).Encode()
	visit := o.Visit
	o.mu.Unlock()
	if visit != nil {
		visit(back)
	}
	http.Redirect(w, r, back.String(), http.StatusFound)
}

var redirect = regexp.MustCompile(`^http://127\.0\.0\.1:\d+/auth/callback$`)

// wrongPage returns the part of a page's address that is wrong, or "".
func (o *Issuer) wrongPage(q url.Values, first bool) string {
	switch {
	case !redirect.MatchString(q.Get("redirect_uri")):
		return "redirect_uri"
	case !first && q.Get("client_id") != Client, first != (q.Get("agent_name_hint") != ""):
		return "client_id or agent_name_hint"
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43:
		return "PKCE"
	case q.Get("scope") != scopes || q.Get("resource") != o.API() || !hostID.MatchString(q.Get("ext_agent_host_id")):
		return "scope, resource or ext_agent_host_id"
	case len(q.Get("state")) < 32 || len(q.Get("nonce")) < 32 || q.Get("state") == q.Get("nonce"):
		return "state or nonce"
	}
	return ""
}

func (o *Issuer) back(q url.Values, first bool) url.Values {
	if o.Deny {
		return url.Values{"state": {q.Get("state")}, "error": {"access_denied"}}
	}
	sent := url.Values{"state": {q.Get("state")}, "code": {"code-0123456789abcdef"}, "scope": {scopes}}
	if first && !o.NoName {
		sent.Set("client_id", Client)
	}
	if o.Iss != "" {
		sent.Set("iss", o.Iss)
	}
	o.secrets = append(o.secrets, sent.Get("code"))
	return sent
}

func (o *Issuer) token(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Busy {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable")
		return
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch grant := r.PostFormValue("grant_type"); {
	case r.URL.RawQuery != "" || r.PostFormValue("client_id") != Client || r.PostFormValue("resource") != o.API() || r.PostForm.Has("client_secret"):
		o.fault(w, "client_id, resource or client_secret: %s", r.PostForm.Encode())
	case grant == "authorization_code":
		o.secrets = append(o.secrets, r.FormValue("code_verifier"))
		if o.asked == nil || challenge != o.asked.Get("code_challenge") || r.FormValue("redirect_uri") != o.asked.Get("redirect_uri") || r.FormValue("code") != "code-0123456789abcdef" {
			o.fault(w, "code, verifier or redirect: %s", r.PostForm.Encode())
			return
		}
		o.give(w, o.idToken())
		o.asked = nil
	case grant != "refresh_token" || r.PostForm.Has("scope"):
		o.fault(w, "grant_type or scope: %s", r.PostForm.Encode())
	case o.ended:
		refuse(w, http.StatusUnauthorized, "refresh_token_invalidated")
	case r.FormValue("refresh_token") != o.refresh:
		o.ended, o.refresh = true, "" // a token that is used twice ends the sign-in
		refuse(w, http.StatusUnauthorized, "refresh_token_reused")
	default:
		o.give(w, "")
	}
}

// give answers with tokens, new ones each time.
func (o *Issuer) give(w http.ResponseWriter, id string) {
	o.issued++
	o.ended = false
	o.refresh = fmt.Sprintf("refresh-0123456789-%d", o.issued)
	got := map[string]any{
		"access_token": o.access(), "refresh_token": o.refresh, "token_type": "Bearer", "expires_in": 3600, "scope": scopes, "earliest_refresh_at": 0,
	}
	if o.Short {
		got["expires_in"] = 1
	}
	if o.NoPlan {
		got["scope"] = "openid profile email offline_access"
	}
	o.secrets = append(o.secrets, o.access(), o.refresh)
	if id != "" {
		got["id_token"] = id
		o.secrets = append(o.secrets, id)
	}
	answer(w, got)
}

func (o *Issuer) access() string { return fmt.Sprintf("access-0123456789-%d", o.issued) }

func (o *Issuer) idToken() string {
	now := time.Now().Add(o.Clock)
	c := jwt.MapClaims{
		"iss": o.http.URL, "sub": Subject, "aud": []string{Client}, "email": Email, "nonce": o.asked.Get("nonce"),
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	if o.Claims != nil {
		o.Claims(c)
	}
	if o.Bare {
		id, _ := jwt.NewWithClaims(jwt.SigningMethodNone, c).SignedString(jwt.UnsafeAllowNoneSignatureType)
		return id
	}
	key := o.key
	if o.Forge {
		key, _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	t.Header["kid"] = "k1"
	id, _ := t.SignedString(key)
	if o.Tamper {
		parts := strings.Split(id, ".")
		body, _ := base64.RawURLEncoding.DecodeString(parts[1])
		parts[1] = base64.RawURLEncoding.EncodeToString(bytes.Replace(body, []byte(Email), []byte("eve@example.com"), 1))
		id = strings.Join(parts, ".")
	}
	return id
}

func (o *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	b64 := base64.RawURLEncoding.EncodeToString
	e := big.NewInt(int64(o.key.E)).Bytes()
	answer(w, map[string]any{"keys": []map[string]string{
		{"kty": "EC", "kid": "k0", "crv": "P-256"},
		{"kty": "RSA", "kid": "k1", "use": "sig", "n": b64(o.key.N.Bytes()), "e": b64(e)},
	}})
}

func (o *Issuer) revoke(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.PostFormValue("client_id") != Client || r.PostFormValue("token_type_hint") != "refresh_token" {
		o.fault(w, "revocation: %s", r.PostForm.Encode())
		return
	}
	if r.PostFormValue("token") == o.refresh {
		o.ended, o.refresh = true, ""
		o.issued++
	}
}

// unplanned are the fields that the page about limits forbids.
var unplanned = []string{
	"background", "conversation", "max_output_tokens", "max_tool_calls", "metadata", "moderation", "multi_agent", "previous_response_id", "prompt",
	"prompt_cache_retention", "safety_identifier", "temperature", "top_logprobs", "top_p", "truncation", "user",
}

// serve answers for models.
func (o *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil:
		return
	case r.Header.Get("Authorization") != "Bearer "+o.access() || o.issued == 0 || o.Short:
		refuse(w, http.StatusUnauthorized, "token_expired")
		return
	case r.URL.Path == "/v1/models":
		answer(w, map[string]any{"models": []map[string]string{
			{"slug": "hidden", "visibility": "hide"}, {"slug": "test", "display_name": "Test", "visibility": "list"},
		}})
		return
	case r.URL.Path != "/v1/responses":
		refuse(w, http.StatusForbidden, "subscription_sharing_route_not_supported")
		return
	}
	if why := allowed(body); why != "" {
		o.fault(w, "%s in %s", why, body)
		return
	}
	o.bodies = append(o.bodies, body)
	if o.Limit != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, o.Limit)
		return
	}
	o.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	o.Next.ServeHTTP(w, r)
	o.mu.Lock()
}

// allowed returns the first part of a request for an answer that the page about limits forbids.
func allowed(body []byte) string {
	var req map[string]json.RawMessage
	if err := json.Unmarshal(body, &req); err != nil {
		return err.Error()
	}
	for _, key := range unplanned {
		if _, has := req[key]; has {
			return key
		}
	}
	if string(req["store"]) != "false" || string(req["stream"]) != "true" {
		return "store or stream"
	}
	var tools []struct{ Type string }
	if err := json.Unmarshal([]byte(cmp.Or(string(req["tools"]), "[]")), &tools); err != nil {
		return "tools: " + err.Error()
	}
	for _, t := range tools {
		if t.Type != "namespace" && t.Type != "web_search" {
			return "a " + t.Type + " outside of a namespace"
		}
	}
	return allowedItems(req["input"])
}

func allowedItems(input []byte) string {
	var items []struct {
		Type, Role string
		Tools      []struct{ Type, Name string }
	}
	if err := json.Unmarshal(input, &items); err != nil {
		return "input: " + err.Error()
	}
	for _, it := range items {
		switch {
		case it.Role == "system":
			return "a system message"
		case it.Type == "additional_tools" && (it.Role != "developer" || len(it.Tools) == 0):
			return "additional_tools of another form"
		}
	}
	return ""
}

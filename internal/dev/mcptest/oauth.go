package mcptest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// OAuth is an MCP server behind an authorization server, both real. A client
// must notice each flaw.
type OAuth struct {
	// Client is the id of the only client, which must be known before; "" registers any.
	Client string
	Secret string // of Client; "" for none

	// Flaws: of the metadata, the redirect to the client, and the token endpoint.
	Issuer      string // in the metadata of the authorization server, instead of its own
	Resource    string // in the metadata of the resource
	Named       bool   // that resource has the path Own
	Own         string
	AtRoot      bool           // the metadata of the resource is at the root, and named nowhere
	Query       string         // of the address that clients use
	Rotate      bool           // a refresh token is accepted once; a second use ends the login
	Further     bool           // the MCP server wants further rights after the first login
	Beside      bool           // that resource has an address that begins like its own
	More        map[string]any // added to the metadata of both
	Methods     string         // the only method of PKCE in the metadata instead of S256, "none" for no list
	State       string         // sent back
	Iss         string         // sent back
	Drop        string         // the parameter that is not sent back
	TokenTo     string         // where the token endpoint redirects to
	PageTo      string         // the address of the page to log in
	Short       bool           // access tokens expire at once
	NoRefresh   bool           // refresh tokens are refused
	WrongTokens bool           // the MCP server takes no token
	Stuck       chan struct{}  // if set, gets each request for tokens, which is never answered

	http *httptest.Server

	mu        sync.Mutex
	requests  []string // method and path of each
	challenge string
	redirect  string
	issued    int
	refresh   string // the only one that is accepted
	ended     bool
}

// Start starts the servers, until the test ends.
func (o *OAuth) Start(t testing.TB) *OAuth {
	mux := http.NewServeMux()
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return New() }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { o.guard(w, r, serve) })
	at := "/mcp"
	if o.AtRoot {
		at = ""
	}
	mux.HandleFunc("GET /.well-known/oauth-protected-resource"+at, func(w http.ResponseWriter, _ *http.Request) {
		o.describe(w, map[string]any{"resource": o.resource(), "authorization_servers": []string{o.http.URL}})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", o.metadata)
	mux.HandleFunc("POST /register", o.register)
	mux.HandleFunc("GET /authorize", o.authorize)
	mux.HandleFunc("POST /token", o.token)
	o.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.requests = append(o.requests, r.Method+" "+r.URL.Path)
		o.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		o.http.CloseClientConnections()
		o.http.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return o
}

// URL returns the address of the MCP server.
func (o *OAuth) URL() string { return o.http.URL + "/mcp" }

// Count returns the number of requests, such as "POST /token".
func (o *OAuth) Count(request string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.requests {
		if r == request {
			n++
		}
	}
	return n
}

func (o *OAuth) resource() string {
	if o.Beside {
		return strings.TrimSuffix(o.URL(), "p")
	}
	if o.Named {
		return o.http.URL + o.Own
	}
	return cmp.Or(o.Resource, o.URL())
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// describe answers with metadata.
func (o *OAuth) describe(w http.ResponseWriter, meta map[string]any) {
	all := map[string]any{}
	maps.Copy(all, o.More)
	maps.Copy(all, meta)
	answer(w, all)
}

func (o *OAuth) guard(w http.ResponseWriter, r *http.Request, next http.Handler) {
	o.mu.Lock()
	good := r.Header.Get("Authorization") == fmt.Sprint("Bearer access-", o.issued) && o.issued > 0 && !o.WrongTokens
	o.mu.Unlock()
	metadata := `resource_metadata="` + o.http.URL + `/.well-known/oauth-protected-resource/mcp"`
	switch {
	case good && o.Further && o.issued == 1:
		w.Header().Set("Www-Authenticate", `Bearer error="insufficient_scope", scope="more", `+metadata)
		w.WriteHeader(http.StatusForbidden)
		return
	case good:
		next.ServeHTTP(w, r)
		return
	case o.AtRoot:
		w.Header().Set("Www-Authenticate", "Bearer")
	case o.WrongTokens && r.Header.Get("Authorization") != "":
		w.Header().Set("Www-Authenticate", `Bearer error="invalid_token", error_description="it is not for us", `+metadata)
	default:
		w.Header().Set("Www-Authenticate", "Bearer "+metadata)
	}
	w.WriteHeader(http.StatusUnauthorized)
}

func (o *OAuth) metadata(w http.ResponseWriter, _ *http.Request) {
	meta := map[string]any{
		"issuer": cmp.Or(o.Issuer, o.http.URL), "authorization_endpoint": cmp.Or(o.PageTo, o.http.URL+"/authorize"), "token_endpoint": o.http.URL + "/token",
		"registration_endpoint": o.http.URL + "/register", "response_types_supported": []string{"code"},
		"authorization_response_iss_parameter_supported": true, "token_endpoint_auth_methods_supported": []string{"none"},
	}
	if o.Client != "" {
		delete(meta, "registration_endpoint")
	}
	if o.Secret != "" {
		meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	}
	if o.Methods != "none" {
		meta["code_challenge_methods_supported"] = []string{cmp.Or(o.Methods, "S256")}
	}
	o.describe(w, meta)
}

func (o *OAuth) register(w http.ResponseWriter, r *http.Request) {
	var client map[string]any
	if err := json.NewDecoder(r.Body).Decode(&client); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	client["client_id"] = "client"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(client)
}

// authorize is the page to log in, where everybody is welcome.
func (o *OAuth) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Hostname() != "127.0.0.1" || q.Get("code_challenge_method") != "S256" || q.Get("resource") != o.resource() || q.Get("client_id") != cmp.Or(o.Client, "client") {
		http.Error(w, "a wrong request: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	o.challenge, o.redirect = q.Get("code_challenge"), q.Get("redirect_uri")
	o.mu.Unlock()
	sent := url.Values{"code": {"code"}, "state": {cmp.Or(o.State, q.Get("state"))}, "iss": {cmp.Or(o.Iss, o.http.URL)}}
	sent.Del(o.Drop)
	back.RawQuery = sent.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (o *OAuth) token(w http.ResponseWriter, r *http.Request) {
	if o.Stuck != nil {
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the client is noticed
		o.Stuck <- struct{}{}
		<-r.Context().Done()
		return
	}
	if o.TokenTo != "" {
		http.Redirect(w, r, o.TokenTo, http.StatusTemporaryRedirect)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch known := r.FormValue("client_id") == cmp.Or(o.Client, "client") && r.FormValue("client_secret") == o.Secret; {
	case !known:
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	case r.FormValue("grant_type") == "refresh_token" && o.refreshes(r):
	case r.FormValue("grant_type") == "authorization_code" && r.FormValue("code") == "code" && r.FormValue("redirect_uri") == o.redirect &&
		r.FormValue("resource") == o.resource() && base64.RawURLEncoding.EncodeToString(sum[:]) == o.challenge:
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, strings.Repeat("no ", 1000))
		return
	}
	o.issued++
	o.refresh = "refresh"
	if o.Rotate {
		o.refresh = fmt.Sprint("refresh-", o.issued)
	}
	life := 3600
	if o.Short && o.issued == 1 {
		life = 1 // the client takes it as expired
	}
	answer(w, map[string]any{"access_token": fmt.Sprint("access-", o.issued), "token_type": "Bearer", "refresh_token": o.refresh, "expires_in": life})
}

// refreshes reports whether a request may renew the token.
func (o *OAuth) refreshes(r *http.Request) bool {
	if o.Rotate && r.FormValue("refresh_token") != o.refresh {
		o.ended = true
	}
	return !o.NoRefresh && !o.ended && r.FormValue("refresh_token") == o.refresh && r.FormValue("resource") == o.resource()
}

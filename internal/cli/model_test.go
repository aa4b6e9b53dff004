package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
)

func TestKey(t *testing.T) {
	t.Setenv("SOME_KEY", "from-env")
	for _, c := range []struct {
		name string
		in   config.Provider
		want string
		err  string
	}{
		{"none", config.Provider{}, "", ""},
		{"variable", config.Provider{APIKeyEnv: "SOME_KEY"}, "from-env", ""},
		{"variable that is not set", config.Provider{APIKeyEnv: "NO_SUCH_KEY"}, "", ""},
		{"command", config.Provider{APIKeyEnv: "SOME_KEY", APIKeyCommand: []string{"printf", `a-key\nnote`}}, "a-key", ""},
		{"command that prints nothing", config.Provider{APIKeyCommand: []string{"true"}}, "", "true printed no key"},
		{"command that fails", config.Provider{APIKeyCommand: []string{"sh", "-c", "echo locked >&2; exit 3"}}, "", "exit status 3: locked"},
		{"no such command", config.Provider{APIKeyCommand: []string{"no-such-program"}}, "", "no-such-program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := key(t.Context(), c.in)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

func TestKeyCommandEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := key(ctx, config.Provider{APIKeyCommand: []string{"sleep", "100"}}); err == nil {
		t.Error("no error")
	}
}

func TestCheckModel(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := w.Write([]byte(`{"data":[{"id":"large"}]}`)); err != nil {
			t.Error(err)
		}
	}))
	defer srv.Close()
	t.Setenv("CORP_KEY", "good")
	t.Setenv("BAD_KEY", "bad")
	cfg := config.Config{Providers: map[string]config.Provider{
		"corp":   {BaseURL: srv.URL, APIKeyEnv: "CORP_KEY"},
		"bad":    {BaseURL: srv.URL, APIKeyEnv: "BAD_KEY"},
		"nokey":  {BaseURL: srv.URL, APIKeyEnv: "NO_SUCH_KEY"},
		"gone":   {BaseURL: "http://127.0.0.1:1"},
		"broken": {BaseURL: "http://127.0.0.1:1", APIKeyCommand: []string{"false"}},
	}}
	for _, c := range []struct {
		model string
		grade grade
		text  string
		fix   string
	}{
		{"corp/large", good, "answers (1 models", ""},
		{"corp/small", weak, "does not list this model", "it lists large"},
		{"bad/large", broken, "bad/large at " + srv.URL, "the key in BAD_KEY"},
		{"nokey/large", broken, "nokey/large", "export NO_SUCH_KEY="},
		{"gone/m", broken, "gone/m at http://127.0.0.1:1", "server is running"},
		{"broken/m", broken, "broken/m", "the command false"},
		{"nowhere/m", broken, `no provider "nowhere"`, "agent config set model"},
		{"script:/no/such/file", broken, "/no/such/file", "readable file"},
	} {
		t.Run(c.model, func(t *testing.T) {
			cfg.Model = c.model
			got := checkModel(t.Context(), cfg, nil)
			if got.grade != c.grade || !strings.Contains(got.text, c.text) || !strings.Contains(got.fix, c.fix) {
				t.Errorf("%+v", got)
			}
		})
	}
}

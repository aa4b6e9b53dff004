//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestFaultsOfAServer: the message names the fault of the model's server, and what to do.
func TestFaultsOfAServer(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	plain := httptest.NewServer(answer(200, "{}"))
	t.Cleanup(plain.Close)
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	busy := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "9000")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	now := time.Now()
	for name, tt := range map[string]struct {
		address string
		want    []string
	}{
		"https to an http server": {strings.Replace(plain.URL, "http:", "https:", 1), []string{"does not speak TLS", "Try http://"}},
		"expired":                 {secure(t, now.Add(-48*time.Hour), now.Add(-24*time.Hour)), []string{"has an expired certificate (since " + now.Add(-24*time.Hour).UTC().Format(time.DateOnly) + ")", "clock says " + now.Format(time.DateOnly)}},
		"not yet valid":           {secure(t, now.Add(24*time.Hour), now.Add(48*time.Hour)), []string{"is not valid before " + now.Add(24*time.Hour).UTC().Format(time.DateOnly)}},
		"self-signed":             {secure(t, now.Add(-time.Hour), now.Add(time.Hour)), []string{"has a self-signed certificate", "SSL_CERT_FILE"}},
		"a proxy's login":         {serve(answer(200, `<html><title>Guest WiFi</title><form><input type="password"></form>`)), []string{`a login page ("Guest WiFi")`, "open that address in a browser"}},
		"a blocked page":          {serve(answer(403, "<html><title>Web Filter</title>")), []string{"A proxy or firewall blocked the request", "Web Filter"}},
		"no right":                {serve(answer(403, `{"error":{"message":"Your organization must be verified"}}`)), []string{"denied access: Your organization must be verified"}},
		"a refused key":           {serve(answer(403, `{"error":{"message":"API key not valid"}}`)), []string{"refused the API key"}},
		"out of credit":           {serve(answer(402, `{"error":{"message":"top up"}}`)), []string{"account is out of credit: top up"}},
		"hours":                   {serve(http.HandlerFunc(busy)), []string{"Rate limited by ", "The server asks to wait 2 hours 30 minutes, until "}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t), nil)
			code, out := d.prompted("--base-url", tt.address)
			if code != 1 {
				t.Errorf("exit status %d", code)
			}
			for _, w := range tt.want {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in %s", w, out)
				}
			}
		})
	}
}

// secure returns the address of a server whose certificate signs itself and is valid between two times.
func secure(t *testing.T, from, to time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestChangesAreTold: config set, mcp add and mcp rm report their changes, and a server is replaced
// only after a yes.
func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	for _, step := range []struct {
		args string
		code int
		want string
	}{
		{"config set max_turns 7", 0, "saved max_turns in "},
		{"config get max_turns", 0, "7\n"},
		{"config get interface", 0, "interface.theme  auto\n"},
		{"config get max_turn", 2, `did you mean "max_turns"`},
		{"config set model openai/other", 0, "AGENT_MODEL overrides it: model is openai/test"},
		{"mcp add x -- echo one", 0, "added the MCP server x to "},
		{"mcp add x -- echo two", 2, "already configured: echo one"},
		{"config path", 0, "config.yaml"},
		{"mcp add x --yes --url https://x.example/mcp", 0, "replaced the MCP server x in "},
		{"mcp rm x", 0, "removed the MCP server x from "},
		{"mcp rm x", 2, `no MCP server "x"`},
	} {
		if code, out := d.command(strings.Fields(step.args)...); code != step.code || !strings.Contains(out, step.want) {
			t.Errorf("%s: exit status %d: %s", step.args, code, out)
		}
		if data, err := os.ReadFile(d.home + "/config.yaml"); err != nil || step.args == "config path" && !strings.Contains(string(data), "one") {
			t.Errorf("%v: %s", err, data)
		}
	}
}

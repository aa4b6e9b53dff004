package allowedservers

import (
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/peer"
)

const far = "https://models.example/v1"

func model(address, from string) config.Model {
	return config.Model{Ref: "corp/m", Provider: "corp", From: from, Endpoint: config.Provider{BaseURL: address, APIKeyEnv: "CORP_KEY"}}
}

func TestStore(t *testing.T) {
	s := Open(t.TempDir())
	for _, e := range []Entry{{Address: far, Provider: "b"}, {Address: far, Provider: "a"}, {Address: "http://proxy:3128"}, {Address: far, Provider: "b", User: "1001"}} {
		if err := s.Allow(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.List()
	want := []Entry{{Address: "http://proxy:3128"}, {Address: far, Provider: "a"}, {Address: far, Provider: "b", User: "1001"}}
	if d := cmp.Diff(want, all); d != "" || err != nil {
		t.Error(d, err)
	}
	if was, err := s.Remove(t.Context(), far+"/"); !was || err != nil {
		t.Error(was, err)
	}
	if all, err := s.List(); len(all) != 1 || err != nil {
		t.Error(all, err)
	}
	if was, err := s.Remove(t.Context(), far); was || err != nil {
		t.Error(was, err)
	}
	scratch.Write(t, s.entries().Path, "[")
	if err := s.Permit(model(far, "X in the environment")); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Error(err)
	}
}

// An address is allowed for one provider. A key entered for it counts as permission.
func TestPermit(t *testing.T) {
	t.Setenv("CORP_KEY", "")
	const from = "OPENAI_BASE_URL in the environment"
	s := Open(t.TempDir())
	if err := s.Permit(model(far, "")); err != nil {
		t.Error("a person's own address:", err)
	}
	if err := s.Permit(config.Model{Provider: config.ScriptProvider, From: from}); err != nil {
		t.Error("a script:", err)
	}
	unasked := new(UnaskedError)
	if err := s.Permit(model(far, from)); !errors.As(err, &unasked) || unasked.Address != far || !strings.Contains(err.Error(), from) || strings.Contains(err.Error(), "CORP_KEY") {
		t.Error(err)
	}
	if err := s.Allow(t.Context(), Entry{Address: far, Provider: "other"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Permit(model(far, from)); err == nil {
		t.Error("another provider's answer counts")
	}
	if err := s.Permit(model("https://me:secret@models.example/v1/", from)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", "")
	if _, err := keystore.Open(s.home).Put(t.Context(), far, "k"); err != nil {
		t.Fatal(err)
	}
	if err := s.Permit(model(far, from)); err != nil {
		t.Error("a key that was entered for it:", err)
	}
	t.Setenv("CORP_KEY", "k")
	if err := s.Permit(model(far, from)); err == nil || !strings.Contains(err.Error(), "the key in CORP_KEY") {
		t.Error("a key of the environment:", err)
	}
	t.Setenv("CORP_KEY", "")
	command, headers := model(far, from), model(far, from)
	command.Endpoint.APIKeyCommand = []string{"pass", "corp"}
	headers.Endpoint.Headers = map[string]string{"X-Token": "t"}
	for want, m := range map[string]config.Model{"the key that pass prints": command, "the headers of providers.corp": headers} {
		if err := s.Permit(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Error("beside a key that was entered:", err)
		}
	}
}

// The pair of OPENAI_BASE_URL and OPENAI_API_KEY needs no permission for this machine,
// whose other users Check keeps away.
func TestPermitPairs(t *testing.T) {
	s := Open(t.TempDir())
	for _, c := range []struct {
		address   string
		pair, yes bool
	}{
		{"http://127.0.0.1:1/v1", true, true},
		{"http://localhost:1/v1", true, true},
		{"http://[::1]:1/v1", true, true},
		{"http://127.0.0.1:1/v1", false, false},
		{"http://localhost.example:1/v1", true, false},
		{"http://127.0.0.1.example/v1", true, false},
		{"http://10.0.0.1:1/v1", true, false},
		{far, true, false},
	} {
		m := model(c.address, "OPENAI_BASE_URL in the environment")
		m.FromPair = c.pair
		if err := s.Permit(m); (err == nil) != c.yes {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCheckOfOwnServers(t *testing.T) {
	s := httptest.NewServer(nil)
	t.Cleanup(s.Close)
	if u := Stranger(s.URL); u != "" {
		t.Error("a stranger:", u)
	}
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := Open(t.TempDir()).Check(conn); err != nil {
		t.Error(err)
	}
	for _, address := range []string{far, "::", "http://127.0.0.1:1", "http://10.0.0.1:80"} {
		if u := Stranger(address); u != "" {
			t.Errorf("%s: %s", address, u)
		}
	}
}

// unowned is a local connection whose user the system does not know.
type unowned struct{ net.Conn }

func (unowned) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (unowned) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

// between is a connection between two addresses.
type between struct {
	net.Conn
	local, remote net.IP
}

func (b between) LocalAddr() net.Addr  { return &net.TCPAddr{IP: b.local, Port: 1} }
func (b between) RemoteAddr() net.Addr { return &net.TCPAddr{IP: b.remote, Port: 2} }

// A program at this machine's own address in a network is checked like one on loopback, and
// a server on another machine is not.
func TestCheckOfInterfaces(t *testing.T) {
	s := Open(t.TempDir())
	here, there := net.IPv4(198, 51, 100, 1), net.IPv4(198, 51, 100, 2)
	if err := s.Check(between{local: here, remote: here}); err == nil {
		t.Error("an unknown user's program passes")
	}
	if err := s.Check(between{local: here, remote: there}); err != nil {
		t.Error(err)
	}
}

// A program whose user is unknown counts as a stranger's until it is allowed.
func TestCheckOfUnknownUsers(t *testing.T) {
	s := Open(t.TempDir())
	refused := new(llm.Error)
	if err := s.Check(unowned{}); !errors.As(err, &refused) || !strings.Contains(refused.Message, "an unknown user") {
		t.Error(err)
	}
	if err := s.Allow(t.Context(), Entry{Address: "http://localhost:2/v1", Provider: "corp", User: unknown}); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(unowned{}); err != nil {
		t.Error(err)
	}
}

func TestEntries(t *testing.T) {
	for want, e := range map[string]Entry{
		"server   https://models.example/v1  (for the provider corp)":                          {Address: far, Provider: "corp"},
		"proxy    http://127.0.0.1:3128  (run by an unknown user)":                             {Address: "http://127.0.0.1:3128", User: unknown},
		"server   http://127.0.0.1:1/v1  (for the provider ollama)  (run by the user 4294967)": {Address: "http://127.0.0.1:1/v1", Provider: "ollama", User: peer.User("4294967")},
	} {
		if got := e.String(); got != want {
			t.Errorf("%q", got)
		}
	}
	for address, want := range map[string]bool{"http://localhost/v1": true, "https://127.0.0.1/v1": false, "http://[::1]:80": true, "http://10.0.0.1:80": false} {
		if got := (Entry{Address: address}).isAt(80); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

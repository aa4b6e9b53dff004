//go:build unix

package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// counted is a proxy that counts connections.
func counted(t *testing.T, behind http.Handler) (address string, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	s := httptest.NewUnstartedServer(behind)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/v1", connections
}

// prompted runs the program with -p and returns its status and output.
func (d *desk) prompted(args ...string) (code int, out string) {
	d.t.Helper()
	return d.command(append([]string{"-p", "hi"}, args...)...)
}

// command runs the program without a terminal.
func (d *desk) command(args ...string) (code int, out string) {
	d.t.Helper()
	cmd := d.program(args...)
	text, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed { //nolint:errorlint // Run returns it bare
		d.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// Without a configured model, neither -p nor a session without a terminal uses a server
// found on this machine.
func TestLocalServersAreNotUsedUnasked(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Turn{Text: "I am the model."})
	address, connections := counted(t, server)
	d := fresh(t, server)
	d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+address+"\n")
	if code, out := d.prompted(); code != 2 || !strings.Contains(out, "no model is configured") {
		t.Errorf("exit status %d: %s", code, out)
	}
	cmd := d.program()
	cmd.Stdin = strings.NewReader("hi\n")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no model is configured") {
		t.Errorf("%v: %s", err, out)
	}
	cmd = d.program("doctor")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no model is configured") {
		t.Errorf("%v: %s", err, out)
	}
	if n := connections.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
}

// connectAndChat approves the server or proxy, runs a turn and quits.
func (d *desk) connectAndChat() {
	d.t.Helper()
	d.choose("2")
	d.WaitFor(`(?m)^❯`)
	d.say("hi")
	d.WaitFor(`Hello\.`)
	d.idle()
	d.leave()
}

// An address from the environment gets neither prompt nor the key that the user's file
// names before a person has approved it, once. -p refuses it.
func TestAnAddressOfTheEnvironmentIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"OPENAI_BASE_URL", "AGENT_BASE_URL"} {
		t.Run(variable, func(t *testing.T) {
			server := answers(t, "Hello.", "Hello.")
			address, connections := counted(t, server)
			d := newDesk(t, server, nil)
			d.keep("config.yaml", "providers:\n  openai:\n    api_key_env: OPENAI_API_KEY\n")
			d.env = append(d.env, "OPENAI_BASE_URL=", variable+"="+d.serves(address))
			if code, out := d.prompted(); code != 2 || !strings.Contains(out, "agent trust add "+address) {
				t.Errorf("exit status %d: %s", code, out)
			}
			d.begin(100, 30)
			d.WaitFor(`(?s)Use this model server\?.*` + address + `.*comes from ` + variable + `.*key in OPENAI_API_KEY`)
			d.choose("3")
			if code := d.Wait(); code != 1 {
				t.Errorf("exit status %d", code)
			}
			d.WaitFor(`nothing was sent to`)
			d.restored()
			if n := connections.Load(); n > 0 {
				t.Errorf("%d connections before an answer", n)
			}
			d.begin(100, 30)
			d.WaitFor(`Use this model server\?`)
			d.connectAndChat()
			d.sit() // does not ask again
			d.leave()
			if code, out := d.prompted(); code != 0 {
				t.Errorf("exit status %d: %s", code, out)
			}
			d.env = append(d.env, variable+"="+strings.Replace(address, "127.0.0.1", "localhost", 1))
			if code, out := d.prompted(); code != 2 {
				t.Errorf("another address: exit status %d: %s", code, out)
			}
			d.noCanary()
		})
	}
}

// A key command and headers of one address in the user's file are used for no other.
func TestACommandAndHeadersStayWithTheirAddress(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.")
	address, connections := counted(t, server)
	d := newDesk(t, server, nil)
	ran := filepath.Join(t.TempDir(), "ran")
	d.keep("config.yaml", "model: corp/m\nproviders:\n  corp:\n    base_url: https://models.example/v1\n"+
		"    api_key_command: [touch, "+ran+"]\n    headers: {X-Team: "+canary+"}\n")
	d.env = append(d.env, "OPENAI_BASE_URL=", "AGENT_MODEL=", "AGENT_BASE_URL="+address)
	code, out := d.prompted()
	if code != 2 || !strings.Contains(out, "the key that touch prints and the headers of providers.corp") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if _, err := os.Stat(ran); err == nil || connections.Load() > 0 {
		t.Errorf("the command ran: %v; %d connections", err == nil, connections.Load())
	}
	// A permission for one model does not extend to another.
	d.keep("config.yaml", "model: corp/m\nbase_url: "+address+"\n")
	d.env = append(d.env, "AGENT_BASE_URL=", "AGENT_MODEL=openai/test")
	if code, out := d.prompted(); code != 2 || !strings.Contains(out, "base_url in ") || connections.Load() > 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
	d.keep("config.yaml", "model: openai/test\nbase_url: "+d.serves(address)+"\n")
	d.env = append(d.env, "AGENT_MODEL=")
	if code, out := d.prompted(); code != 0 {
		t.Errorf("a person's own file: exit status %d: %s", code, out)
	}
}

// A proxy from the environment needs approval once, also one that only ALL_PROXY names.
func TestAProxyIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"HTTP_PROXY", "ALL_PROXY"} {
		t.Run(variable, func(t *testing.T) { askedAboutProxy(t, variable) })
	}
}

func askedAboutProxy(t *testing.T, variable string) {
	t.Helper()
	server := answers(t, "Hello.", "Hello.")
	address, connections := counted(t, server) // a proxy gets the whole address
	proxy := strings.TrimSuffix(address, "/v1")
	d := newDesk(t, server, nil)
	d.serves(proxy)
	d.keep("config.yaml", "model: corp/m\nproviders:\n  corp:\n    base_url: http://models.example/v1\n    api_key_env: CORP_KEY\n")
	d.env = append(d.env, "OPENAI_BASE_URL=", "AGENT_MODEL=", "CORP_KEY="+canary, "HTTP_PROXY=", "http_proxy=", "NO_PROXY=", "no_proxy=", variable+"="+proxy)
	if code, out := d.prompted(); code != 2 || !strings.Contains(out, "agent trust add "+proxy) || connections.Load() > 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
	d.begin(100, 30)
	d.WaitFor(`(?s)Connect through this proxy\?.*` + proxy + `.*` + variable + ` in the environment.*models\.example`)
	if n := connections.Load(); n > 0 {
		t.Errorf("%d connections before an answer", n)
	}
	d.connectAndChat()
	if code, out := d.prompted(); code != 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
}

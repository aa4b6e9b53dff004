package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
	"github.com/bb2d0cf4/agent/internal/peer/peertest"
)

// another starts a model server as another user, and returns its address and a
// function that returns all requests so far.
func another(t *testing.T, at string) (address string, seen func() string) {
	t.Helper()
	s := peertest.Start(t, "TestModelServerProcess", at)
	address = "http://" + s.Next("listens at ") + "/v1"
	var text strings.Builder
	return address, func() string {
		for _, line := range s.Printed() {
			fmt.Fprintln(&text, line)
		}
		return text.String()
	}
}

// TestModelServerProcess is the other user's server: it prints its address, a line for
// each connection, and each request.
func TestModelServerProcess(t *testing.T) {
	t.Parallel()
	at, ok := peertest.Asked()
	if !ok {
		return
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listens at", l.Addr())
	s := http.Server{
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				fmt.Println("connected")
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Printf("%s %s %s\n", r.URL.Path, r.Header.Get("Authorization"), body)
			switch {
			case strings.HasSuffix(r.URL.Path, "/models"):
				fmt.Fprint(w, `{"data":[{"id":"evil"}]}`)
			case strings.HasSuffix(r.URL.Path, "/chat/completions"):
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"I am the model.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			default:
				http.NotFound(w, r)
			}
		}),
	}
	_ = s.Serve(l) // until the test kills this process
}

// Another user's program on a model server's port gets no prompt and no key before a
// person has allowed that user.
func TestAnotherUsersModelServer(t *testing.T) {
	t.Parallel()
	address, seen := another(t, "127.0.0.1:0")
	d := fresh(t, answers(t))
	d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+address+"\n")

	// Without a configured model the program sends it nothing.
	d.begin(100, 30)
	d.WaitFor(`(?s)another user of\s+this machine.*Which model\?|(?s)Which model\?.*another user of\s+this machine`)
	d.Press("esc")
	d.Wait()
	if got := seen(); got != "" {
		t.Errorf("it was asked: %s", got)
	}

	// The model is configured, and the other user took its port.
	d.env = append(d.env, "AGENT_MODEL=ollama/evil")
	if code, out := d.prompted(); code != 2 || !strings.Contains(out, "it is run by the user 61234 of this machine") {
		t.Errorf("exit status %d: %s", code, out)
	}
	d.begin(100, 30)
	d.WaitFor(`(?s)Use this model server\?.*run by the user 61234`)
	if got := seen(); got != "" {
		t.Errorf("it was asked: %s", got)
	}
	d.choose("3")
	d.Wait()

	d.begin(100, 30)
	d.WaitFor(`Use this model server\?`)
	d.choose("2")
	d.WaitFor(`(?m)^❯`)
	d.say("hi")
	d.WaitFor(`I am the model\.`)
	d.idle()
	d.leave()
	if code, out := d.prompted(); code != 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
	if got := seen(); !strings.Contains(got, "/chat/completions") {
		t.Errorf("the stranger has seen %q: the test watches nothing", got)
	}
}

// A port that changes hands between two requests gets nothing of the second.
func TestPortChangesHands(t *testing.T) {
	t.Parallel()
	peertest.NeedsAnotherUser(t)
	server := answers(t, "Hello.")
	ours := &httptest.Server{Listener: fixedport.Listen(t), Config: &http.Server{Handler: server}}
	ours.Start()
	d := newDesk(t, server, nil)
	d.keep("config.yaml", "providers:\n  corp: {base_url: "+d.serves(ours.URL)+"/v1, api_key_env: CORP_KEY}\n")
	d.env = append(d.env, "AGENT_MODEL=corp/m", "CORP_KEY="+canary)
	d.sit()
	d.say("hi")
	d.WaitFor(`Hello\.`)
	d.idle()
	ours.CloseClientConnections()
	ours.Close()
	_, seen := another(t, ours.Listener.Addr().String())
	d.say("hi again")
	d.WaitFor(`(?s)run by the user 61234 of this\s+machine, not by you.*Nothing\s+was\s+sent`)
	if got := seen(); strings.Contains(got, "/") {
		t.Errorf("the stranger got %s", got)
	}
	d.idle()
	d.leave()
}

// TestAnotherUsersMCPServer: a program of another user on the port of an MCP server gets no
// token, until a person allows it.
func TestAnotherUsersMCPServer(t *testing.T) {
	t.Parallel()
	address, seen := another(t, "127.0.0.1:0")
	d := newDesk(t, answers(t, "Hello."), nil)
	d.keep("config.yaml", "mcp:\n  x:\n    url: "+strings.TrimSuffix(address, "/v1")+"/mcp\n    headers: {Authorization: \"Bearer ${MCP_TOKEN}\"}\n")
	d.env = append(d.env, "MCP_TOKEN="+canary)
	if code, out := d.prompted(); code != 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
	if _, out := d.command("mcp", "list"); !strings.Contains(out, "is run by the user 61234 of this machine") {
		t.Errorf("the list is %s", out)
	}
	if got := seen(); strings.Contains(got, "/mcp") || strings.Contains(got, canary) {
		t.Errorf("it was asked: %s", got)
	}
	if code, out := d.command("trust", "add", strings.TrimSuffix(address, "/v1"), "--yes"); code != 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
	if d.command("mcp", "list"); !strings.Contains(seen(), "/mcp") {
		t.Errorf("it was not asked: %s", seen())
	}
}

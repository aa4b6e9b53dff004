//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestServerLogin: agent mcp login shows the page to log in, the sessions after it use the
// tokens, which are shown nowhere, and agent mcp logout deletes them.
func TestServerLogin(t *testing.T) {
	t.Parallel()
	o := new(mcptest.OAuth).Start(t)
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__o__echo", `{"text":"in"}`), llmtest.Turn{Text: "Done."}), nil)
	d.keep("config.yaml", fmt.Sprintf("mcp: {o: {url: %s}}\n", o.URL()))
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=")
	if _, out := d.command("mcp", "list"); !strings.Contains(out, "log in with agent mcp login o") {
		t.Errorf("the list is %s", out)
	}
	if said, err := d.logIn("", "mcp", "login", "o"); err != nil || !strings.Contains(said, "logged in to o") || strings.Contains(said, "access-") {
		t.Errorf("%v: %s", err, said)
	}
	_, printed := d.prompted("--allow", "mcp__o")
	if got := string(d.request(1)); !strings.Contains(got, "echo: in") || strings.Contains(got+printed, "access-") {
		t.Errorf("told %s; printed %s", got, printed)
	}
	if _, out := d.command("doctor"); !strings.Contains(out, "0 stored in ") || !strings.Contains(out, ", with 1 logins to MCP servers") {
		t.Errorf("the doctor says %s", out)
	}
	if code, out := d.command("mcp", "logout", "o"); code != 0 {
		t.Error(out)
	}
	if code, out := d.command("mcp", "logout", "o"); code != 2 || !strings.Contains(out, "no login to o is kept") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if strings.Contains(d.kept("credentials.json"), "access-") {
		t.Error("the tokens are still kept")
	}
}

// logIn runs a login with a browser, and returns its output.
func (d *desk) logIn(stdin string, args ...string) (said string, err error) {
	d.t.Helper()
	cmd := d.program(args...)
	cmd.Stdin = strings.NewReader(stdin)
	return d.follow(cmd, func(line string) {
		if strings.HasPrefix(line, "http") {
			resp, err := http.Get(line)
			if err != nil {
				d.t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
	})
}

// follow runs a program, calls each with each line of its output, and returns all of it.
func (d *desk) follow(cmd *exec.Cmd, each func(line string)) (said string, err error) {
	d.t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		each(lines.Text())
	}
	return said, cmd.Wait()
}

// TestServerLoginOfAKnownClient: a client that the authorization server knows is configured;
// its secret is read from standard input and is in no file of settings.
func TestServerLoginOfAKnownClient(t *testing.T) {
	t.Parallel()
	o := (&mcptest.OAuth{Client: "known", Secret: "s3cret"}).Start(t)
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__o__echo", `{"text":"in"}`), llmtest.Turn{Text: "Done."}), nil)
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=")
	if code, out := d.command("mcp", "add", "o", "--url", o.URL()); code != 0 {
		t.Fatal(out)
	}
	if said, err := d.logIn("s3cret\n", "mcp", "login", "o", "--client-secret"); err == nil || !strings.Contains(said, "set mcp.o.client_id first") {
		t.Errorf("%v: %s", err, said)
	}
	port := strconv.Itoa(fixedport.Silent(t))
	if code, out := d.command("mcp", "add", "o", "--yes", "--url", o.URL(), "--client-id", "known", "--callback-port", port); code != 0 {
		t.Fatal(out)
	}
	said, err := d.logIn("s3cret\n", "mcp", "login", "o", "--client-secret")
	if err != nil || !strings.Contains(said, "logged in to o") || !strings.Contains(said, "%3A"+port+"%2F") || strings.Contains(said, "s3cret") {
		t.Errorf("%v: %s", err, said)
	}
	_, printed := d.prompted("--allow", "mcp__o")
	if got := string(d.request(1)); !strings.Contains(got, "echo: in") || strings.Contains(got+printed+d.kept("config.yaml"), "s3cret") {
		t.Errorf("told %s; printed %s", got, printed)
	}
}

//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestServerLogin: agent mcp login shows the page to log in, the sessions after it use the
// tokens, which are shown nowhere, and agent mcp logout deletes them.
func TestServerLogin(t *testing.T) {
	o := new(mcptest.OAuth).Start(t)
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__o__echo", `{"text":"in"}`), llmtest.Turn{Text: "Done."}), nil)
	d.keep("config.yaml", fmt.Sprintf("mcp: {o: {url: %s}}\n", o.URL()))
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=")
	if _, out := d.command("mcp", "list"); !strings.Contains(out, "log in with agent mcp login o") {
		t.Errorf("the list is %s", out)
	}
	cmd := exec.Command("agent", "mcp", "login", "o")
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "http") {
			resp, err := http.Get(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "logged in to o") || strings.Contains(said.String(), "access-") {
		t.Errorf("%v: %s", err, said.String())
	}
	_, printed := d.prompted("--allow", "mcp__o")
	if got := string(d.request(1)); !strings.Contains(got, "echo: in") || strings.Contains(got+printed, "access-") {
		t.Errorf("told %s; printed %s", got, printed)
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

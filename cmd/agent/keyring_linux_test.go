package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/dev/ringtest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestLoginInTheKeyring: the tokens of a login are in the system's keyring and in no file, also
// those that are renewed, and agent mcp logout deletes them there. A keyring that is locked is named.
func TestLoginInTheKeyring(t *testing.T) {
	t.Parallel()
	o, ring := (&mcptest.OAuth{Short: true}).Start(t), ringtest.New(t)
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__o__echo", `{"text":"in"}`), llmtest.Turn{Text: "Done."}), nil)
	d.keep("config.yaml", fmt.Sprintf("mcp: {o: {url: %s}}\n", o.URL()))
	d.env = append(d.env, ring.Env...)
	holds := func(want string) {
		t.Helper()
		if got := ring.Secrets()["mcp "+o.URL()]; want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("the keyring has %q", got)
		}
		if file := d.kept("credentials.json"); strings.Contains(file, "access-") || strings.Contains(file, "refresh") || want != "" && !strings.Contains(file, o.URL()) {
			t.Errorf("the file has %s", file)
		}
	}
	if said, err := d.logIn("", "mcp", "login", "o"); err != nil {
		t.Fatal(said)
	}
	holds("access-1")
	d.prompted("--allow", "mcp__o")
	if got := string(d.request(1)); !strings.Contains(got, "echo: in") {
		t.Errorf("told %s", got)
	}
	holds("access-2")
	if code, out := d.command("mcp", "logout", "o"); code != 0 {
		t.Error(out)
	}
	holds("")

	if said, err := d.logIn("", "mcp", "login", "o"); err != nil {
		t.Fatal(said)
	}
	ring.Lock()
	if _, out := d.command("mcp", "list"); !strings.Contains(out, "keyring did not return the login to "+o.URL()) {
		t.Errorf("the list is %s", out)
	}
}

// TestKeyInTheKeyring: a pasted key is in the system's keyring and in no file, and the next
// session uses it.
func TestKeyInTheKeyring(t *testing.T) {
	t.Parallel()
	server, ring := answers(t, "Hello.", "Again."), ringtest.New(t)
	d := fresh(t, server, append(ring.Env, "AGENT_MODEL=corp/test-model")...)
	address := d.serves(models(t, server, `{"data":[{"id":"test-model"}]}`, canary))
	d.keep("config.yaml", "providers:\n  corp:\n    base_url: "+address+"\n    api_key_env: CORP_KEY\n")
	d.begin(80, 24)
	d.WaitFor(`(?s)Paste the key for http://127.*Key:`)
	d.Paste(canary)
	d.WaitFor(`14 characters`)
	d.Press("enter")
	d.WaitFor(`(?s)the key is saved in the system's keyring.*❯`)
	for _, answer := range []string{`Hello\.`, `Again\.`} {
		d.say("hi")
		d.WaitFor(answer)
		d.idle()
		d.leave()
		d.sit()
	}
	d.leave()
	if got := ring.Secrets(); got[address] != canary {
		t.Errorf("the keyring has %q", got)
	}
}

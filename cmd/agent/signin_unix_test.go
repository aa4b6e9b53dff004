//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/chatgpt/chatgpttest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// signingDesk returns a desk whose provider openai is signed in to at an issuer, and has no key.
func signingDesk(t *testing.T, o *chatgpttest.Issuer, turns ...llmtest.Turn) *desk {
	t.Helper()
	server := llmtest.NewServer(t, turns...)
	o.Next = server
	o.Start(t)
	d := newDesk(t, server, map[string]string{"a.txt": "one\n"})
	d.serves(o.API())
	d.signed = o
	d.keep("config.yaml", fmt.Sprintf("providers: {openai: {base_url: %s, login: %s, api_key_env: OPENAI_API_KEY, wire: responses, models: {test: {temperature: 0.5, max_tokens: 900, extra: {top_p: 0.9, metadata: {a: b}}}}}}\n", o.API(), o.URL()))
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=", "OPENAI_BASE_URL=", "OPENAI_API_KEY=")
	return d
}

// page matches the address of the page to sign in.
var page = regexp.MustCompile(`http://127\.0\.0\.1:\d+/authorize\?[^\s]+`)

// visit opens the page to sign in that a text shows, as a browser does. It follows no redirect to
// where nobody listens.
func (d *desk) visit(text string) {
	d.t.Helper()
	resp, err := http.Get(page.FindString(text))
	if err == nil {
		_ = resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

// browse runs a program, and a browser on another machine that opens the page which it shows.
func (d *desk) browse(cmd *exec.Cmd, then func()) (said string) {
	d.t.Helper()
	said, err := d.follow(cmd, func(line string) {
		if page.MatchString(line) {
			d.visit(line)
			then()
		}
	})
	if err != nil {
		d.t.Errorf("%v: %s", err, said)
	}
	return said
}

// leaks fails if a secret of the sign-in is in a text, or in a file other than the one of keys.
func (d *desk) leaks(o *chatgpttest.Issuer, texts ...string) {
	d.t.Helper()
	for _, dir := range []string{d.home, d.dir, d.tmp} {
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && filepath.Base(path) != "credentials.json" {
				data, _ := os.ReadFile(path)
				texts = append(texts, path+": "+string(data))
			}
			return nil
		})
	}
	for _, secret := range o.Secrets() {
		for _, text := range texts {
			if strings.Contains(text, secret) {
				d.t.Errorf("%q is in %.300q", secret, text)
			}
		}
	}
}

// A person signs in, edits a file without any key, sees it in the doctor, and signs out. A refused
// token is renewed in between. No token is anywhere but where keys are kept.
func TestSignIn(t *testing.T) {
	t.Parallel()
	o := new(chatgpttest.Issuer)
	d := signingDesk(t, o, callOf("write_file", `{"path":"b.txt","content":"two\n"}`), callOf("execute_command", `{"command":"env; cat /proc/self/environ"}`), llmtest.Turn{Text: "Done."}, llmtest.Turn{Text: "Again."})
	if code, out := d.command("-p", "x"); code == 0 || !strings.Contains(out, "or use your ChatGPT plan: agent login") {
		t.Errorf("before the sign-in: %d, %s", code, out)
	}
	said, err := d.logIn("", "login")
	if err != nil || !strings.Contains(said, "signed in as "+chatgpttest.Email) {
		t.Fatalf("%v: %s", err, said)
	}
	code, printed := d.command("-p", "x", "--permission-mode", "bypass", "--output-format", "stream-json")
	if got, err := os.ReadFile(filepath.Join(d.dir, "b.txt")); code != 0 || err != nil || string(got) != "two\n" {
		t.Errorf("%d, %q, %v: %s", code, got, err, printed)
	}
	bodies := o.Bodies()
	if len(bodies) != 3 || !strings.Contains(string(bodies[0]), `"input":[{"type":"additional_tools"`) && !strings.Contains(string(bodies[0]), `"type":"additional_tools"`) {
		t.Errorf("%d requests, the first is %s", len(bodies), bodies[0])
	}
	o.Expire()
	if code, out := d.command("-p", "x"); code != 0 || !strings.Contains(out, "Again.") {
		t.Errorf("with an expired token: %d, %s", code, out)
	}
	_, health := d.command("doctor")
	if !strings.Contains(strings.Join(strings.Fields(health), " "), "signed in as "+chatgpttest.Email) {
		t.Errorf("the doctor says %s", health)
	}
	if st, err := os.Stat(filepath.Join(d.home, "credentials.json")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	out, err := d.logIn("", "logout")
	if err != nil || !strings.Contains(out, "signed out: the tokens are deleted, here and at OpenAI") {
		t.Errorf("%v: %s", err, out)
	}
	if code, out := d.command("-p", "x"); code == 0 || !strings.Contains(out, "agent login") {
		t.Errorf("after the sign-out: %d, %s", code, out)
	}
	d.leaks(o, said, printed, health, out, fmt.Sprintf("%s", o.Bodies()), fmt.Sprintf("%s", d.server.Requests()))
}

// A cap that a person set, a revoked sign-in and one used elsewhere end a prompt with the reason.
func TestSignInEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(o *chatgpttest.Issuer)
		want string
	}{
		"cap": {func(o *chatgpttest.Issuer) {
			o.Change(func() {
				o.Limit = `{"error":{"code":"subscription_sharing_usage_limit_exceeded","message":"limit","resets_at":1796083200}}`
			})
		}, "https://chatgpt.com/settings/usage"},
		"cap with its date": {func(o *chatgpttest.Issuer) {
			o.Change(func() {
				o.Limit = `{"error":{"code":"subscription_sharing_usage_limit_exceeded","message":"limit","resets_at":1796083200}}`
			})
		}, "until Tue, Dec 1, 00:00"},
		"not eligible": {func(o *chatgpttest.Issuer) {
			o.Change(func() {
				o.Limit = `{"error":{"code":"subscription_sharing_user_not_eligible","message":"no"}}`
			})
		}, "Your ChatGPT plan cannot pay"},
		"revoked":        {func(o *chatgpttest.Issuer) { o.End(); o.Expire() }, "sign in again with agent login"},
		"used elsewhere": {(*chatgpttest.Issuer).Use, "sign in again with agent login"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := new(chatgpttest.Issuer)
			d := signingDesk(t, o)
			d.env = append(d.env, "TZ=UTC")
			if said, err := d.logIn("", "login"); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			c.end(o)
			code, out := d.command("-p", "x")
			if code != 1 || !strings.Contains(out, c.want) {
				t.Errorf("%d: %s", code, out)
			}
			if n := o.Count("POST /v1/responses"); n > 2 {
				t.Errorf("%d requests", n)
			}
			d.leaks(o, out)
		})
	}
}

// Without a browser on this machine the person pastes the address of its last page.
func TestSignInByPaste(t *testing.T) {
	t.Parallel()
	back := make(chan string, 1)
	o := &chatgpttest.Issuer{Visit: func(u *url.URL) { back <- u.String() }}
	d := signingDesk(t, o, llmtest.Turn{Text: "Done."})
	cmd := d.program("login", "--paste")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := d.browse(cmd, func() { fmt.Fprintln(in, <-back) })
	if !strings.Contains(said, "signed in as "+chatgpttest.Email) || !strings.Contains(said, "Its last page will not load") {
		t.Error(said)
	}
	if code, out := d.command("-p", "x"); code != 0 || !strings.Contains(out, "Done.") {
		t.Errorf("%d: %s", code, out)
	}
}

// The first start signs in: no key, one edit.
func TestSignInAtTheFirstStart(t *testing.T) {
	t.Parallel()
	o := new(chatgpttest.Issuer)
	d := signingDesk(t, o, callOf("write_file", `{"path":"b.txt","content":"two\n"}`), llmtest.Turn{Text: "Done."})
	d.env = append(d.env, "AGENT_MODEL=")
	d.open()
	d.run("agent")
	d.WaitFor(`(?s)continue with ChatGPT.*Esc exits`)
	d.Type("continue")
	d.Press("enter")
	d.WaitFor(`Show the address of the page`)
	d.choose("enter")
	d.WaitFor(`Waiting for the browser`)
	d.visit(string(d.Bytes()))
	d.WaitFor(`(?m)^❯`)
	d.say("write b.txt")
	d.asked(`two`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	d.idle()
	d.leave()
	if got, err := os.ReadFile(filepath.Join(d.dir, "b.txt")); err != nil || string(got) != "two\n" {
		t.Errorf("%q, %v", got, err)
	}
	var accounts map[string]struct{ Email string }
	if err := json.Unmarshal([]byte(d.kept("signins.json")), &accounts); err != nil || accounts[o.API()].Email != chatgpttest.Email {
		t.Errorf("%v: %v", err, accounts)
	}
	d.leaks(o, string(d.Bytes()))
}

package main

import (
	"bufio"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// other runs the program stranger as another user, and returns its address and what it
// has seen so far.
func other(t *testing.T, at string) (address string, seen func() string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as somebody else")
	}
	found, err := exec.LookPath("stranger")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "stranger") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("stranger", at)
	cmd.Path, cmd.Dir = copyOf(t, found, dir), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	port, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var text strings.Builder
	var work sync.WaitGroup
	work.Go(func() {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			mu.Lock()
			text.WriteString(line)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = hold.Close() // it ends with its input
		work.Wait()
		_ = cmd.Wait()
	})
	return "http://127.0.0.1:" + strings.TrimSpace(port) + "/v1", func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

// Another user's program on the port of a model server gets no prompt and no key before
// a person has allowed that user there.
func TestAnotherUsersModelServer(t *testing.T) {
	address, seen := other(t, "127.0.0.1:0")
	d := fresh(t, answers(t))
	d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+address+"\n")

	// No model is chosen: the program is not even asked.
	d.begin(100, 30)
	d.WaitFor(`(?s)another user of\s+this machine.*Which model\?|(?s)Which model\?.*another user of\s+this machine`)
	d.Press("esc")
	d.Wait()
	if got := seen(); got != "" {
		t.Errorf("it was asked: %s", got)
	}

	// It is the chosen model, as it took the port while the real one was away.
	d.env = append(d.env, "AGENT_MODEL=ollama/evil")
	if code, out := d.prompted(); code != 2 || !strings.Contains(out, "it is run by the user nobody of this machine") {
		t.Errorf("exit status %d: %s", code, out)
	}
	d.begin(100, 30)
	d.WaitFor(`(?s)Use this model server\?.*run by the user nobody`)
	if got := seen(); got != "" {
		t.Errorf("it was asked: %s", got)
	}
	d.Press("1")
	d.Wait()

	d.begin(100, 30)
	d.WaitFor(`Use this model server\?`)
	d.Press("2")
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

// A port that passes to another user between two requests gets nothing of the second.
func TestAPortThatPassesToAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as somebody else")
	}
	server := answers(t, "Hello.")
	ours := httptest.NewServer(server)
	d := newDesk(t, server, nil)
	d.keep("config.yaml", "providers:\n  corp: {base_url: "+ours.URL+"/v1, api_key_env: CORP_KEY}\n")
	d.env = append(d.env, "AGENT_MODEL=corp/m", "CORP_KEY="+canary)
	d.sit()
	d.say("hi")
	d.WaitFor(`Hello\.`)
	d.idle()
	ours.CloseClientConnections()
	ours.Close()
	_, seen := other(t, ours.Listener.Addr().String())
	d.say("hi again")
	d.WaitFor(`(?s)run by the user nobody of this\s+machine, not by you.*sent nothing`)
	if got := seen(); strings.Contains(got, "/") {
		t.Errorf("the stranger got %s", got)
	}
	d.idle()
	d.leave()
}

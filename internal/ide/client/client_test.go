package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// candidate is how the lock file of e is found.
func candidate(e *idetest.Editor) lock.Candidate {
	c := lock.Candidate{Port: e.Port(), Host: "127.0.0.1", Dialect: lock.Claude, File: lock.File{
		Name: e.Dialect.Name, Token: e.Token(), Folders: []string{root("p")},
	}}
	for _, d := range []lock.Dialect{lock.Claude, lock.Nexus3} {
		if e.Dialect.Header == d.Header {
			c.Dialect = d
		}
	}
	if e.Dialect.Auth == idetest.Proves {
		c.Dialect = lock.Agent
		c.File.Protocol, c.File.Secret, c.File.Token = 2, e.Token(), ""
	}
	return c
}

// root returns an absolute path on any system.
func root(elem ...string) string {
	dir, err := filepath.Abs(string(filepath.Separator))
	if err != nil {
		return err.Error()
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

func connect(t *testing.T, e *idetest.Editor) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), candidate(e), client.Options{Version: "1", Session: "s", Dir: root("p")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func dialects() []idetest.Dialect {
	return []idetest.Dialect{idetest.Ours(), idetest.Neovim(), idetest.Emacs(), idetest.JetBrains(), idetest.Nexus3()}
}

// request asks for a review of text.
func request(c *client.Client, text string) client.DiffRequest {
	return client.DiffRequest{
		Path: root("p", "a.go"), Text: text, Tab: c.TabName("a.go", "abc123"), ID: "d1", Description: "why",
		BaseSHA256: "00", OnClose: client.CloseKeeps, Batch: client.Batch{ID: "b", Index: 1, Total: 3},
	}
}

func TestConnect(t *testing.T) {
	for _, d := range dialects() {
		e := idetest.Start(t, d)
		c := connect(t, e)
		info := c.Info()
		limit := map[string]int{"Visual Studio Code": 16 << 20, "Emacs": 256 << 10}[d.Name]
		if limit == 0 {
			limit = 5 << 20
		}
		want := client.Info{
			Name: d.Name, Plugin: d.Server, Version: "1.2.3", Ours: d.Ours, Reviews: true, Tools: d.Listed, MaxMessage: limit,
		}
		if diff := cmp.Diff(want, info); diff != "" {
			t.Error(diff)
		}
		var hello struct {
			PID     int    `json:"pid"`
			Session string `json:"sessionId"`
		}
		if err := json.Unmarshal(e.WaitRequests("ide_connected", 1)[0].Params, &hello); err != nil || hello.PID == 0 || hello.Session != "s" {
			t.Errorf("hello: %+v, %v", hello, err)
		}
	}
}

func TestConnectFails(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	from := candidate(e)
	from.File.Secret = strings.Repeat("another secret", 3)
	if _, err := client.Connect(t.Context(), from, client.Options{}); !errors.Is(err, wire.ErrImpostor) {
		t.Errorf("error: %v", err)
	}
	other := idetest.Start(t, idetest.Neovim())
	from = candidate(other)
	from.File.Token = "another-token"
	if _, err := client.Connect(t.Context(), from, client.Options{}); !errors.Is(err, wire.ErrAuth) {
		t.Errorf("error: %v", err)
	}
	from = candidate(other)
	from.Dialect = lock.Agent // without a secret nothing is sent
	if _, err := client.Connect(t.Context(), from, client.Options{}); !errors.Is(err, wire.ErrImpostor) {
		t.Errorf("error: %v", err)
	}
	if _, refused := other.Handshakes(); refused != 1 {
		t.Errorf("%d handshakes refused", refused)
	}
	e = idetest.Start(t, idetest.Ours())
	e.Handle("tools/list", func(c *idetest.Conn, _ json.RawMessage) idetest.Reply {
		c.Close(1001, "bye")
		return idetest.Reply{Silent: true}
	})
	if _, err := client.Connect(t.Context(), candidate(e), client.Options{}); err == nil {
		t.Error("a connection that was closed at once was taken")
	}
}

func TestAnnounced(t *testing.T) {
	for announced, want := range map[string]int{
		`{"maxPayload":1000000}`: 1_000_000, `{"maxPayload":999999999}`: 16 << 20, `{}`: 16 << 20, `[]`: 16 << 20, `{"maxPayload":-1}`: 16 << 20,
	} {
		e := idetest.Start(t, idetest.Ours())
		e.Handle("initialize", func(*idetest.Conn, json.RawMessage) idetest.Reply {
			return idetest.Reply{Result: json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"agent/ide":` + announced + `}}}`)}
		})
		if info := connect(t, e).Info(); info.MaxMessage != want || !info.Ours {
			t.Errorf("%s: %+v", announced, info)
		}
	}
}

// TestNoReviews holds that an editor without openDiff is known to be one.
func TestNoReviews(t *testing.T) {
	d := idetest.JetBrains()
	d.Listed = []string{"getDiagnostics"}
	if connect(t, idetest.Start(t, d)).Info().Reviews {
		t.Error("it is said to show diffs")
	}
	d.Listed = []string{"open_diff"}
	if !connect(t, idetest.Start(t, d)).Info().Reviews {
		t.Error("open_diff is not known")
	}
	d.Listed = nil
	if !connect(t, idetest.Start(t, d)).Info().Reviews {
		t.Error("an editor that lists nothing is not even asked")
	}
}

func TestSnakeCase(t *testing.T) {
	d := idetest.JetBrains()
	d.Listed = []string{"get_diagnostics", "openDiff"}
	e := idetest.Start(t, d)
	e.Handle("get_diagnostics", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Text("[]") })
	if _, known, err := connect(t, e).Documents.Diagnostics(t.Context(), "", 0); err != nil || !known {
		t.Errorf("known %t, %v", known, err)
	}
}

func TestArguments(t *testing.T) {
	classic := map[string]any{
		"old_file_path": root("p", "a.go"), "new_file_path": root("p", "a.go"), "new_file_contents": "<a & b>\n",
	}
	for _, d := range dialects() {
		e := idetest.Start(t, d)
		c := connect(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() {
			_, err := c.Diffs.Open(ctx, request(c, "<a & b>\n"))
			over <- err
		}()
		shown := e.NextDiff()
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", d.Name, err)
		}
		var got map[string]any
		if err := json.Unmarshal(shown.Args, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"tab_name": c.TabName("a.go", "abc123")}
		for k, v := range classic {
			want[k] = v
		}
		if d.Ours {
			want["diff_id"], want["description"], want["base_sha256"], want["on_close"] = "d1", "why", "00", "keep"
			want["batch"] = map[string]any{"id": "b", "index": 1.0, "total": 3.0}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", d.Name, diff)
		}
		if strings.Contains(string(shown.Args), `\u003c`) {
			t.Errorf("%s: characters of web pages are escaped: %s", d.Name, shown.Args)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		dialect idetest.Dialect
		size    int
	}{{idetest.Emacs(), 256 << 10}, {idetest.Neovim(), 5 << 20}, {idetest.Ours(), 16 << 20}} {
		e := idetest.Start(t, c.dialect)
		conn := connect(t, e)
		if _, err := conn.Diffs.Open(t.Context(), request(conn, strings.Repeat("x", c.size))); !errors.Is(err, client.ErrTooLarge) {
			t.Errorf("%s: %v", c.dialect.Name, err)
		}
		if len(e.Requests("openDiff")) != 0 {
			t.Errorf("%s: it was sent", c.dialect.Name)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			e.WaitRequests("openDiff", 1)
			cancel()
		}()
		if _, err := conn.Diffs.Open(ctx, request(conn, strings.Repeat("x", c.size-4096))); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: what fits: %v", c.dialect.Name, err)
		}
	}
}

// TestNotText holds that what JSON would change silently is not sent.
func TestNotText(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := connect(t, e)
	for name, change := range map[string]func(r *client.DiffRequest){
		"text":     func(r *client.DiffRequest) { r.Text = "\xff" },
		"path":     func(r *client.DiffRequest) { r.Path += "\xff" },
		"relative": func(r *client.DiffRequest) { r.Path = "a.go" },
		"tab":      func(r *client.DiffRequest) { r.Tab = "README.md" },
	} {
		r := request(c, "x")
		change(&r)
		if _, err := c.Diffs.Open(t.Context(), r); err == nil {
			t.Errorf("%s was sent", name)
		}
	}
	if err := c.Diffs.Close(t.Context(), "README.md"); err == nil {
		t.Error("a user's buffer may be closed")
	}
	if n := len(e.Requests("openDiff")) + len(e.Requests("close_tab")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTabName(t *testing.T) {
	long := strings.Repeat("d/", 200) + "f.go"
	for rel, want := range map[string]string{
		"a/b.go": "✻ [agent] a/b.go (x1) ⧉", "a\nb\x1b[2J⧉.go": "✻ [agent] a·b·[2J·.go (x1) ⧉", "a\u202eb": "✻ [agent] a·b (x1) ⧉",
	} {
		if got := connect(t, idetest.Start(t, idetest.Ours())).TabName(rel, "x1"); got != want {
			t.Errorf("%q: %q, want %q", rel, got, want)
		}
	}
	c := connect(t, idetest.Start(t, idetest.Neovim()))
	if got := c.TabName("b", "x1"); got != "✻ [Claude Code] b (x1) ⧉" {
		t.Errorf("for its own family: %q", got)
	}
	if got := c.TabName(long, "x1"); utf8.RuneCountInString(got) > 160 || !strings.Contains(got, "f.go") {
		t.Errorf("long: %q", got)
	}
}

func TestStatus(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := connect(t, e)
	if err := c.SetStatus(t.Context(), "working", "a", "b"); err != nil {
		t.Error(err)
	}
	if p := string(e.Requests("setStatus")[0].Params); p != `{"state":"working","text":"a","tooltip":"b"}` {
		t.Error(p)
	}
	if err := connect(t, idetest.Start(t, idetest.Neovim())).SetStatus(t.Context(), "idle", "", ""); !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
}

func TestDoneAndProbe(t *testing.T) {
	e := idetest.Start(t, idetest.Neovim())
	c := connect(t, e)
	if err := c.Probe(t.Context()); err != nil || c.Err() != nil {
		t.Error(err, c.Err())
	}
	e.Drop()
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the loss went unseen")
	}
	if c.Err() == nil || c.Probe(t.Context()) == nil || c.Refresh(t.Context()) == nil {
		t.Error("the loss is not reported")
	}
}

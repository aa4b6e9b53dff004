package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// desk has servers that have settled, and the notes for the user.
type desk struct {
	*mcp.Servers
	t    *testing.T
	logs string

	mu    sync.Mutex
	notes []string
	told  chan struct{}
}

func start(t *testing.T, servers ...mcp.Server) *desk {
	t.Helper()
	d := &desk{t: t, logs: t.TempDir(), told: make(chan struct{}, 100)}
	d.Servers = mcp.New(mcp.Options{Version: "test", Logs: d.logs, Tell: func(note string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.notes = append(d.notes, note)
		d.told <- struct{}{}
	}}, servers)
	d.Start(t.Context(), nil)
	t.Cleanup(d.Close)
	d.Settle(t.Context())
	return d
}

// program is this test's program as a server.
func program(name string, args ...string) mcp.Server {
	return mcp.Server{Name: name, Command: append([]string{os.Args[0], "mcp-server"}, args...)}
}

func (d *desk) tool(name string) mcp.Tool {
	d.t.Helper()
	all := d.Tools()
	i := slices.IndexFunc(all, func(t mcp.Tool) bool { return t.Spec.Name == name })
	if i < 0 {
		d.t.Fatalf("no tool %s among %d; %v", name, len(all), d.Status())
	}
	return all[i]
}

func (d *desk) call(name, args string) string {
	d.t.Helper()
	res, err := d.Call(d.t.Context(), d.tool(name), json.RawMessage(args))
	if err != nil {
		d.t.Fatal(err)
	}
	return res.Text
}

func TestCall(t *testing.T) {
	d := start(t, program("b"), program("a"))
	var names []string
	for _, tool := range d.Tools() {
		names = append(names, tool.Spec.Name)
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "mcp__a__echo") || len(names) != 20 {
		t.Errorf("the tools are %q", names)
	}
	if got := d.call("mcp__b__echo", `{"text":"hello"}`); got != "echo: hello" {
		t.Errorf("got %q", got)
	}
	res, err := d.Call(t.Context(), d.tool("mcp__b__picture"), json.RawMessage(`{}`))
	if err != nil || len(res.Images) != 2 || res.Images[0].Mime != "image/png" || !bytes.Equal(res.Images[1].Data, mcptest.Picture()) {
		t.Errorf("got %+v, %v", res, err)
	}
	for _, want := range []string{"[image 1: image/png, ", "image/png, 3 bytes, which is not shown here: it is not a PNG", "[resource link: test://link, text/plain, A linked text.]", "an embedded text", "[image 2: test://shot"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("no %q in %s", want, res.Text)
		}
	}
	res, err = d.Call(t.Context(), d.tool("mcp__b__fail"), json.RawMessage(`{}`))
	if err != nil || !res.Failed || res.Text != "no such thing" {
		t.Errorf("got %+v, %v", res, err)
	}
	if len(d.notes) > 0 {
		t.Errorf("told %q", d.notes)
	}
}

// A program sees its own entry and what every program needs, no key of ours.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary")
	t.Setenv("SOME_TOKEN", "canary")
	dir := t.TempDir()
	one := program("a")
	one.Env, one.Dir = []string{"GITHUB_TOKEN=secret", "HOME=/elsewhere"}, dir
	got := start(t, one).call("mcp__a__environment", `{}`)
	lines := strings.Split(got, "\n")
	for _, want := range []string{"GITHUB_TOKEN=secret", "HOME=/elsewhere", "PATH=" + os.Getenv("PATH"), "folder=" + dir} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing in %q", want, lines)
		}
	}
	if strings.Contains(got, "canary") {
		t.Errorf("a key reaches the server: %q", lines)
	}
}

// A server that ends is reported, and the next call starts it again.
func TestDeath(t *testing.T) {
	d := start(t, program("a"))
	_, err := d.Call(t.Context(), d.tool("mcp__a__die"), json.RawMessage(`{}`))
	if err == nil || !strings.Contains(err.Error(), "its effect is unknown") {
		t.Errorf("the call ends with %v", err)
	}
	<-d.told
	if note := d.notes[0]; !strings.Contains(note, "MCP server a has ended (exit status 4)") {
		t.Errorf("told %q", note)
	}
	d.Settle(t.Context())
	if got := d.call("mcp__a__echo", `{"text":"again"}`); got != "echo: again" {
		t.Errorf("got %q", got)
	}
}

// The status of a server that does not start gives the reason, and the others work.
func TestBroken(t *testing.T) {
	nowhere := scratch.Abs("/no/such/program")
	d := start(t, program("bad", "broken"), program("good"), mcp.Server{Name: "none", Command: []string{"no-such-program"}},
		mcp.Server{Name: "nowhere", Command: []string{nowhere}})
	<-d.told
	<-d.told
	<-d.told
	for _, s := range d.Status() {
		switch s.Name {
		case "good":
			if s.State != mcp.Ready || s.Tools != 10 || s.Bytes == 0 {
				t.Errorf("%+v", s)
			}
		case "bad":
			if s.State != mcp.Failed || !strings.Contains(s.Why, "exit status 3: no license for this machine") {
				t.Errorf("%+v", s)
			}
			if log, err := os.ReadFile(s.Log); err != nil || !strings.HasPrefix(string(log), "starting\n") {
				t.Errorf("the log is %q, %v", log, err)
			}
		case "none":
			if s.State != mcp.Failed || s.Why != "the program no-such-program was not found: install it, or correct the server's command" {
				t.Errorf("%+v", s)
			}
		case "nowhere":
			if s.State != mcp.Failed || s.Why != "the program "+nowhere+" was not found: install it, or correct the server's command" {
				t.Errorf("%+v", s)
			}
		}
	}
	if len(d.Tools()) != 10 {
		t.Errorf("%d tools", len(d.Tools()))
	}
}

// The start waits for no server, and the end for none either.
func TestSlow(t *testing.T) {
	d := mcp.New(mcp.Options{Logs: t.TempDir()}, []mcp.Server{program("slow", "slow"), program("stubborn", "stubborn")})
	d.Start(t.Context(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Settle(ctx)
	if s := d.Status()[0]; s.State != mcp.Starting {
		t.Errorf("%+v", s)
	}
	d.Close()
}

// The servers start when the face is on the screen.
func TestStartAfter(t *testing.T) {
	shown, logs := make(chan struct{}), t.TempDir()
	d := mcp.New(mcp.Options{Logs: logs}, []mcp.Server{program("a")})
	t.Cleanup(d.Close)
	d.Start(t.Context(), shown)
	start(t, program("a")) // meanwhile a server can start and settle
	if files, err := os.ReadDir(logs); err != nil || len(files) > 0 {
		t.Fatal("it has started:", files, err)
	}
	close(shown)
	d.Settle(t.Context())
	if s := d.Status()[0]; s.State != mcp.Ready {
		t.Errorf("%+v", s)
	}
	late := mcp.New(mcp.Options{Logs: logs}, []mcp.Server{program("late")})
	late.Start(t.Context(), make(chan struct{}))
	late.Close() // before anything is on the screen
}

// The tools stay the same until the next turn.
func TestGrowth(t *testing.T) {
	d := start(t, program("a"))
	was := len(d.Tools())
	d.call("mcp__a__grow", `{}`)
	if len(d.Tools()) != was {
		t.Error("the tools changed within a turn")
	}
	for deadline := time.Now().Add(time.Minute); len(d.Tools()) == was; d.Settle(t.Context()) {
		if time.Now().After(deadline) {
			t.Fatal("the new tool never came")
		}
	}
	if got := d.call("mcp__a__grown", `{}`); got != "grown" {
		t.Errorf("got %q", got)
	}
}

func TestHostile(t *testing.T) {
	d := start(t, program("a", "hostile"))
	seen := map[string]bool{}
	for _, tool := range d.Tools() {
		name, text := tool.Spec.Name, tool.Spec.Description
		if seen[name] || len(name) > 64 || len(text) > 5000 || strings.ContainsAny(text, "\x1b\u202e\u200b") || tool.Size() > 70_000 {
			t.Errorf("%s: %.80q, %d bytes", name, text, tool.Size())
		}
		seen[name] = true
		if tool.Name != tool.Spec.Name && strings.HasPrefix(tool.Name, "xy") && len(tool.Name) == 121 {
			if got := d.call(name, `{}`); got != "text" {
				t.Errorf("the result is %q", got)
			}
		}
	}
	hidden := "\u202e\u200b\U000e0041\u2060"
	tool := d.tool("mcp__a__hide")
	if got := tool.Spec.Description + string(tool.Spec.Schema) + d.call("mcp__a__hide", `{}`); strings.ContainsAny(got, hidden) || strings.Count(got, `\u{202e}`) != 9 {
		t.Errorf("hidden text: %q", got)
	}
	if len(seen) != 15 {
		t.Errorf("%d tools: %v", len(seen), seen)
	}
	_, err := d.Call(t.Context(), d.tool("mcp__a__refuse"), json.RawMessage(`{}`))
	if err == nil || len(err.Error()) > 5000 || strings.ContainsAny(err.Error(), "\x1b\x07") || !strings.Contains(err.Error(), "refused at length") {
		t.Errorf("the error is %.200q", err)
	}
	if got := d.call("mcp__a__flood", `{}`); strings.ContainsAny(got, "\x1b\x07") || !strings.HasSuffix(got, "the end") {
		t.Errorf("the end is %q", got[len(got)-20:])
	}
}

// TestAddress: the headers go to the server's host and no other.
func TestAddress(t *testing.T) {
	var keys sync.Map
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return mcptest.New() }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys.Store(r.Header.Get("Authorization"), true)
		serve.ServeHTTP(w, r)
	}))
	defer srv.Close()
	var leaked sync.Map
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked.Store(r.Header.Get("Authorization"), true) }))
	defer other.Close()
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer thief.Close()
	headers := map[string]string{"Authorization": "Bearer secret"}
	d := start(t, mcp.Server{Name: "a", URL: srv.URL, Headers: headers}, mcp.Server{Name: "thief", URL: thief.URL, Headers: headers})
	if got := d.call("mcp__a__echo", `{"text":"far"}`); got != "echo: far" {
		t.Errorf("got %q", got)
	}
	d.Close()
	keys.Range(func(key, _ any) bool {
		if key != "Bearer secret" {
			t.Errorf("a request came with %q", key)
		}
		return true
	})
	leaked.Range(func(key, _ any) bool { t.Errorf("the other host got %q", key); return true })
	if s := d.Status()[1]; s.State != mcp.Failed || !strings.Contains(s.Why, "redirects to another host") {
		t.Errorf("%+v", s)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestCancel: a call ends with its context, and the server stays.
func TestCancel(t *testing.T) {
	d := start(t, program("a"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Call(ctx, d.tool("mcp__a__hang"), json.RawMessage(`{}`)); err == nil {
		t.Error("the call returned")
	}
	if got := d.call("mcp__a__echo", `{"text":"still"}`); got != "echo: still" {
		t.Errorf("got %q", got)
	}
	if entries, err := filepath.Glob(filepath.Join(d.logs, "*.log")); err != nil || len(entries) != 1 {
		t.Errorf("logs: %q, %v", entries, err)
	}
}

// TestOlderPrograms: a program that ends at a request before initialize, and one that never
// answers it, are started again with initialize.
func TestOlderPrograms(t *testing.T) {
	d := mcp.New(mcp.Options{Logs: t.TempDir()}.WithProbe(2*time.Second), []mcp.Server{program("mute", "mute"), program("strict", "strict")})
	d.Start(t.Context(), nil)
	t.Cleanup(d.Close)
	d.Settle(t.Context())
	for _, s := range d.Status() {
		if s.State != mcp.Ready || s.Tools != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// TestCancelUnread: a call whose server does not read it ends with its context, and the program
// is killed, so that it cannot carry out the call later.
func TestCancelUnread(t *testing.T) {
	d := start(t, program("a", "deaf"))
	tool, args := d.tool("mcp__a__echo"), json.RawMessage(`{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	for told := false; !told; { // on a busy machine a call may end before it is sent
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		ended := make(chan error, 1)
		go func() {
			_, err := d.Call(ctx, tool, args)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the call returned")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the call did not end with its context")
		}
		cancel()
		select {
		case <-d.told:
			told = true
		default:
		}
	}
	how := "signal: killed"
	if runtime.GOOS == "windows" {
		how = "exit status 1"
	}
	if !strings.Contains(d.notes[0], "has ended ("+how+")") {
		t.Errorf("told %q", d.notes)
	}
}

// A server at an address that must not be used any more ends with its tools, and is connected
// when it may be used again; a program is left alone.
func TestRecheck(t *testing.T) {
	s := mcptest.New()
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	var no atomic.Bool
	check := func(context.Context) error {
		if no.Load() {
			return errors.New("it is somebody else's")
		}
		return nil
	}
	here := program("here")
	here.Check = check
	d := start(t, here, mcp.Server{Name: "web", URL: web.URL, Check: check})
	for _, refused := range []bool{false, true, true, false} {
		no.Store(refused)
		d.Recheck()
		d.Settle(t.Context())
		var of []string
		for _, tool := range d.Tools() {
			of = append(of, tool.Server)
		}
		if !slices.Contains(of, "here") || slices.Contains(of, "web") == refused {
			t.Errorf("refused: %v, tools of %q", refused, slices.Compact(of))
		}
	}
	want := []string{"The MCP server web is not used: it is somebody else's. /mcp shows more.", "The MCP server web is used now."}
	if !slices.Equal(d.notes, want) {
		t.Errorf("told %q", d.notes)
	}
}

// A call under way when its server must not be used any more goes on to its end.
func TestRecheckDuringACall(t *testing.T) {
	s := mcptest.New()
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		web.Close()
		for session := range s.Sessions() { // its end comes behind the call, maybe too late
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	var no atomic.Bool
	d := start(t, mcp.Server{Name: "web", URL: web.URL, Check: func(context.Context) error {
		if no.Load() {
			return errors.New("it is somebody else's")
		}
		return nil
	}})
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	sdk.AddTool(s, &sdk.Tool{Name: "wait"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		close(began)
		<-end
		return nil, nil, nil
	})
	tool := d.tool("mcp__web__echo")
	tool.Name = "wait"
	go func() {
		_, err := d.Call(t.Context(), tool, json.RawMessage(`{}`))
		ended <- err
	}()
	<-began
	no.Store(true)
	d.Recheck()
	if d.Settle(t.Context()); len(d.Tools()) > 0 {
		t.Errorf("tools: %+v", d.Tools())
	}
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := d.Call(t.Context(), tool, json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("the next call: %v", err)
	}
}

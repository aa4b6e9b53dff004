package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// TestNotifications holds that custom ones arrive, in order, and that the SDK's
// own do too.
func TestNotifications(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	got := make(chan string, 300)
	o := options(e)
	o.Notify = func(method string, params json.RawMessage) { got <- method + string(params) }
	dial(t, o)
	var want []string
	for i := range 100 {
		e.Notify("selection_changed", i)
		e.Notify("notifications/tools/list_changed", i)
		want = append(want, fmt.Sprint("selection_changed", i), fmt.Sprint("notifications/tools/list_changed", i))
	}
	var all []string
	for range want {
		all = append(all, <-got)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}

// TestRequests holds that an editor's requests are answered: some drop clients
// that are silent.
func TestRequests(t *testing.T) {
	e := idetest.Start(t, idetest.JetBrains()) // it pings before the handshake is over
	dial(t, options(e))
	conn := e.Conns()[0]
	conn.Ask(7, "ping", nil)
	conn.Ask("s", "roots/list", nil)
	conn.Ask("x", "sampling/createMessage", map[string]any{})
	got := e.WaitAnswers(4)
	want := []string{
		`"ping-1" {}`, `7 {}`, `"s" error -32601`, `"x" error -32601`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestIDsOfRequests: an answer carries exactly the id of the editor's request. A
// null id is a notification's, an id of another type is nobody's.
func TestIDsOfRequests(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	dial(t, options(e))
	ids := []string{
		"0", "-1", "1.5", "1.0", "1e3", "0.1234567890123456789", "9007199254740993", "123456789012345678901234567890",
		`""`, `"1"`, `"\u00e9 \u0000"`, `"` + strings.Repeat("i", 10_000) + `"`,
	}
	for _, id := range append([]string{"null", "true", "{}", "[1]"}, ids...) {
		if err := e.Conns()[0].Raw([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for _, id := range ids {
		want = append(want, id+" {}")
	}
	if diff := cmp.Diff(want, e.WaitAnswers(len(ids))); diff != "" {
		t.Error(diff)
	}
}

// TestFloodOfRequests holds that answers that nobody reads do not pile up.
func TestFloodOfRequests(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	relay := idetest.NewRelay(t, e.Port())
	o := options(e)
	o.Address = relay.Address
	e.ProveFor(relay.Address)
	c := dial(t, o)
	relay.StallUpwards() // what we write goes nowhere
	flood := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, strings.Repeat("i", 10_000)))
	for range 100_000 {
		if e.Conns()[0].Raw(flood) != nil {
			break
		}
		select {
		case <-c.Done():
		default:
			continue
		}
		break
	}
	<-c.Done()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "flood") {
		t.Errorf("ended with %v", err)
	}
}

// TestNoise: malformed messages and unexpected answers do no harm.
func TestNoise(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := dial(t, options(e))
	conn := e.Conns()[0]
	noise := []string{
		``, `{`, `[]`, `[{"jsonrpc":"2.0","method":"m"}]`, `null`, `1`, `"x"`, "\xff\xfe", `{"jsonrpc":"1.0","method":"m"}`,
		`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":{},"result":{}}`,
		`{"jsonrpc":"2.0","id":999,"result":{}}`, `{"jsonrpc":"2.0","id":"1","result":{}}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"again":true}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","method":"","params":[]}`,
		strings.Repeat("[", 20_000), `{"jsonrpc":"2.0","method":"selection_changed","params":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":"x"}}`, `{"jsonrpc":"2.0","id":2}`,
	}
	for _, n := range noise {
		if err := conn.Raw([]byte(n)); err != nil {
			t.Fatalf("after %q: %v", n, err)
		}
	}
	if _, err := c.Call(t.Context(), "getOpenEditors", struct{}{}); err != nil {
		t.Error(err)
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

// TestSizes holds that large messages pass whole, as one frame each way, and that
// one beyond the limit ends the session, not the program.
func TestSizes(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	e.Handle("echo", func(_ *idetest.Conn, args json.RawMessage) idetest.Reply { return idetest.Reply{Result: args} })
	relay := idetest.NewRelay(t, e.Port())
	o := options(e)
	o.Address = relay.Address
	e.ProveFor(relay.Address)
	c := dial(t, o)
	for _, size := range []int{1, 125, 126, 4096, 40_000, 65_536, 1 << 20, 5 << 20} {
		want := strings.Repeat("x", size)
		raw, err := c.Call(t.Context(), "echo", map[string]string{"text": want})
		var got struct {
			Text string `json:"text"`
		}
		if err != nil || json.Unmarshal(raw, &got) != nil || got.Text != want {
			t.Errorf("%d bytes: %v, %d came back", size, err, len(got.Text))
		}
	}
	if n := relay.Fragments(); n != 0 {
		t.Errorf("%d fragments", n)
	}
	if err := e.Conns()[0].Raw([]byte(`"` + strings.Repeat("x", 64<<20) + `"`)); err != nil {
		t.Logf("the editor's write failed: %v", err)
	}
	<-c.Done()
	if c.Err() == nil {
		t.Error("a message of 64 MiB was taken")
	}
}

// TestListsThatFail holds that a session works without a list of tools.
func TestListsThatFail(t *testing.T) {
	for _, reply := range []idetest.Reply{
		idetest.Refusef(-32601, "no"), {Result: []any{}}, {Result: map[string]any{"tools": []any{nil, 1}}},
	} {
		e := idetest.Start(t, idetest.Ours())
		e.Handle("tools/list", func(*idetest.Conn, json.RawMessage) idetest.Reply { return reply })
		c := dial(t, options(e))
		if tools, err := c.Tools(t.Context()); err == nil {
			t.Errorf("%v: %q", reply, tools)
		}
		if c.Err() != nil {
			t.Error(c.Err())
		}
	}
	e := idetest.Start(t, idetest.Ours())
	e.Handle("tools/list", func(*idetest.Conn, json.RawMessage) idetest.Reply {
		return idetest.Reply{Result: map[string]any{"tools": []any{map[string]any{"name": "t"}}, "nextCursor": "more"}}
	})
	tools, err := dial(t, options(e)).Tools(t.Context())
	if err != nil || len(tools) == 0 || len(tools) > 8 {
		t.Errorf("a list without end: %d tools, %v", len(tools), err)
	}
}

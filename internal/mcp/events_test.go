package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/mcp"
)

// strayEvents are events between the messages of a server, and how they are told.
var strayEvents = map[string]struct {
	sent string
	told bool
}{
	"comment":              {": keep-alive\n\n", false},
	"comment alone":        {":\n", false},
	"empty lines":          {"\n\n\r\n", false},
	"byte order mark":      {"\ufeff: hi\n\n", false},
	"ping":                 {"event: ping\ndata: 1\n\n", false},
	"no data":              {"event: message\ndata:\n\n", false},
	"id alone":             {"id: 7\n\n", false},
	"retry":                {"retry: 10\n\n", false},
	"unknown field":        {"colour: red\n\n", false},
	"line without a colon": {"hello\n\n", false},
	"unknown id":           {"data: {\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n\n", false},
	"unknown method":       {"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/strange\"}\n\n", false},
	"text":                 {"data: connected\n\n", true},
	"unknown name":         {"event: status\ndata: {\"ready\":true}\n\n", true},
	"broken JSON":          {"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu\n\n", true},
	"another JSON":         {"data: {\"port\":1}\n\n", true},
	"number":               {"data: 42\r\n\r\n", true},
	"null":                 {"data: null\n\n", true},
	"empty list":           {"data: []\n\n", true},
	"old version":          {"data: {\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}\n\n", true},
	"no id":                {"data: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n\n", true},
	"odd list":             {"data: [{\"jsonrpc\":\"2.0\",\"method\":\"x\"},7]\n\n", true},
	"controls":             {"data: \x1b[2J\x00\a wiped\n\n", true},
	"JSON without a name":  {"{\"jsonrpc\":\"2.0\"}\n\n", true},
	"not UTF-8":            {"data: \xff\xfe\n\n", true},
	"deep":                 {"data: " + strings.Repeat("[", 20_000) + "\n\n", true},
}

// straying serves the tool echo over events, with the given one before each answer and after it. An
// answer takes several lines of data.
func straying(t *testing.T, stray string) mcp.Server {
	t.Helper()
	return mcp.Server{URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err != nil || json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer, known := map[string]string{
			"initialize": `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
			"tools/list": `"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
			"tools/call": `"result":{"content":[{"type":"text","text":"echo"}]}`,
		}[m.Method]
		if !known {
			answer = `"error":{"code":-32601,"message":"unknown method"}`
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "%sevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,%s}\n\n%s", stray, m.ID, answer, stray)
	})}
}

// TestStrayEvents: an event that is no message is kept in the log, told once, and ends nothing.
func TestStrayEvents(t *testing.T) {
	var servers []mcp.Server
	var kinds []string
	for kind, e := range strayEvents {
		s := straying(t, e.sent)
		s.Name = fmt.Sprint("s", len(kinds))
		servers, kinds = append(servers, s), append(kinds, kind)
	}
	d := start(t, servers...)
	for i, kind := range kinds {
		for range 2 {
			if got := d.call(fmt.Sprintf("mcp__s%d__echo", i), `{}`); got != "echo" {
				t.Errorf("%s: got %q", kind, got)
			}
		}
	}
	d.Close()
	for i, kind := range kinds {
		kept, err := os.ReadFile(filepath.Join(d.logs, servers[i].Name+".log"))
		if (err == nil && len(kept) > 0) != strayEvents[kind].told {
			t.Errorf("%s: kept %.300q, %v", kind, kept, err)
		}
		told := slices.DeleteFunc(slices.Clone(d.notes), func(note string) bool {
			return !strings.HasPrefix(note, "The MCP server "+servers[i].Name+" ")
		})
		if want := map[bool]int{true: 1}[strayEvents[kind].told]; len(told) != want || want > 0 && !strings.Contains(told[0], "sends events") || strings.ContainsAny(strings.Join(told, "")+string(kept), "\x1b\x00\a") {
			t.Errorf("%s: told %.300q", kind, told)
		}
	}
}

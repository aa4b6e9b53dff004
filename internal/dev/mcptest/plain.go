package mcptest

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// plain serves without the SDK, as Main says. Its only tool is echo.
func plain(has func(string) bool) {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for first := true; ; first = false {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if in.Decode(&m) != nil {
			os.Exit(0)
		}
		if first && m.Method != "initialize" && has("strict") {
			fmt.Fprintln(os.Stderr, "expected initialize")
			os.Exit(5)
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "plain", "version": "1"},
			}
		case "tools/list":
			answer["result"] = map[string]any{"tools": []any{map[string]any{"name": "echo", "inputSchema": object()}}}
		default:
			if has("mute") {
				continue
			}
			answer["error"] = map[string]any{"code": -32601, "message": "unknown method"}
		}
		if m.ID != nil && out.Encode(answer) != nil {
			os.Exit(1)
		}
		if m.Method == "tools/list" && has("deaf") {
			<-time.After(time.Hour)
		}
	}
}

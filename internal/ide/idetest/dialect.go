package idetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"github.com/bb2d0cf4/agent/internal/ide/proof"
)

// Auth is an editor's reaction to a handshake without the right token.
type Auth int

// The reactions.
const (
	Status401 Auth = iota
	Status400
	Close1008 // the upgrade succeeds, then the connection is closed
	Close4001
	NoToken // the editor has no token
	Proves  // both sides prove that they know the lock's secret
)

// Dialect is the way an editor speaks. The functions below return the dialects of
// editors in use; a test may change a copy.
type Dialect struct {
	Name     string // as in the lock file
	Server   string
	Protocol string // version in its answer; empty: the requested one
	Header   string // with the token
	Auth     Auth
	// Forge, if not nil, changes the proof that the editor gives.
	Forge func(proof string) string
	// WantsSubprotocol refuses a handshake that does not offer "mcp".
	WantsSubprotocol bool
	// OneClient closes the earlier connection when another client comes; Steals keeps it
	// open but never answers on it again.
	OneClient, Steals bool
	// Keeps leaves the diffs of a closed connection on the screen; their answers go to
	// the client that came last.
	Keeps bool

	Ours     bool // details, drafts, status
	Flat     bool // results without the usual wrapping; writes the file itself
	OneBased bool // lines of selections and diagnostics
	NoTexts  bool // of our own extension: it reports no texts of drafts, as of very long ones

	Listed   []string // tools in tools/list
	Unlisted []string // tools that work without being listed
	// Closing answers an open diff whose tab the client closes, unless it is empty.
	// Dismissed does the same for a tab closed by hand.
	Closing, Dismissed []string
	// Return changes a text that passes through the editor.
	Return func(text string) string
	// Greet, if not nil, runs when a client has connected.
	Greet func(c *Conn)
}

var everyTool = []string{
	"openDiff", "openFile", "getDiagnostics", "getCurrentSelection", "getLatestSelection",
	"getOpenEditors", "getWorkspaceFolders", "checkDocumentDirty", "saveDocument", "closeAllDiffTabs",
}

// Ours is our own extension.
func Ours() Dialect {
	return Dialect{
		Name: "Visual Studio Code", Server: "agent-ide", Auth: Proves, Ours: true,
		Listed:  append(slices.Clone(everyTool), "close_tab", "closeTab", "resolveDiff", "getPendingDiffs", "setStatus", "setCheck", "fileRemoved"),
		Closing: []string{"TAB_CLOSED"}, Dismissed: []string{"DIFF_REJECTED", "TAB"},
	}
}

// Neovim adds a newline that was not there and answers close_tab without
// listing it.
func Neovim() Dialect {
	return Dialect{
		Name: "Neovim", Server: "claudecode-neovim", Protocol: "2024-11-05",
		Header: "x-claude-code-ide-authorization", Auth: Status400,
		Listed: everyTool, Unlisted: []string{"close_tab"},
		Closing: []string{"DIFF_REJECTED", "TAB"}, Dismissed: []string{"DIFF_REJECTED", "TAB"},
		Return: func(text string) string {
			if strings.HasSuffix(text, "\n") {
				return text
			}
			return text + "\n"
		},
	}
}

// Emacs has no token and few tools, lets a second client steal the first one's
// connection with the answers to its diffs, and never answers for a closed diff.
func Emacs() Dialect {
	return Dialect{
		Name: "Emacs", Server: "claude-code-ide-mcp", Protocol: "2024-11-05", Auth: NoToken, Steals: true, Keeps: true, OneBased: true,
		Listed: []string{"openFile", "getDiagnostics", "openDiff", "closeAllDiffTabs", "close_tab"},
		Greet:  func(*Conn) {},
	}
}

// JetBrains wants the subprotocol and closes a connection without the token
// after the upgrade.
func JetBrains() Dialect {
	return Dialect{
		Name: "IntelliJ IDEA", Server: "jetbrains-mcp", Protocol: "2025-03-26",
		Header: "x-claude-code-ide-authorization", Auth: Close1008, WantsSubprotocol: true, OneClient: true,
		Listed:  []string{"openDiff", "openFile", "getDiagnostics", "close_tab", "closeAllDiffTabs"},
		Closing: []string{"TAB_CLOSED"}, Dismissed: []string{"TAB_CLOSED"},
		Greet: func(c *Conn) { c.Ask("ping-1", "ping", nil) },
	}
}

// Nexus3 writes the file itself and answers in flat shapes.
func Nexus3() Dialect {
	return Dialect{
		Name: "VS Code", Server: "nexus3-ide", Protocol: "2024-11-05",
		Header: "x-nexus3-ide-authorization", Auth: Close4001, Flat: true,
		Listed:  append(slices.Clone(everyTool), "closeTab"),
		Closing: []string{"DIFF_REJECTED"}, Dismissed: []string{"DIFF_REJECTED"},
	}
}

// refuses returns the HTTP status that refuses a handshake, or 0.
func (d Dialect) refuses(r *http.Request, token string) int {
	right := d.Auth == NoToken || d.Auth == Proves || r.Header.Get(d.Header) == token
	switch {
	case d.Auth == Proves && !proof.Valid(r.Header.Get(proof.NonceHeader)):
		return http.StatusUnauthorized
	case d.Ours && r.Header.Get("Origin") != "":
		return http.StatusForbidden
	case d.WantsSubprotocol && !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), "mcp"):
		return http.StatusBadRequest
	case !right && d.Auth == Status401:
		return http.StatusUnauthorized
	case !right && d.Auth == Status400:
		return http.StatusBadRequest
	}
	return 0
}

// hangsUp returns the status that closes an upgraded connection, or 0.
func (d Dialect) hangsUp(r *http.Request, token string) websocket.StatusCode {
	if d.Auth == NoToken || d.Auth == Proves || r.Header.Get(d.Header) == token {
		return 0
	}
	switch d.Auth {
	case Close1008:
		return websocket.StatusPolicyViolation
	case Close4001:
		return 4001
	}
	return 0
}

// method answers a request other than a tool call.
func (d Dialect) method(req Request) Reply {
	switch req.Method {
	case "initialize":
		return Reply{Result: d.greeting(req.Params)}
	case "tools/list":
		tools := []any{}
		for _, name := range d.Listed {
			tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
		}
		return Reply{Result: map[string]any{"tools": tools}}
	case "ping":
		if d.Ours {
			return Reply{Result: map[string]any{}}
		}
	}
	return Reply{Error: &Error{Code: -32601, Message: "Method not found"}}
}

func (d Dialect) greeting(params json.RawMessage) any {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &asked)
	if d.Protocol != "" {
		asked.Version = d.Protocol
	}
	capabilities := map[string]any{"tools": map[string]any{"listChanged": true}}
	if d.Ours {
		capabilities["experimental"] = map[string]any{"agent/ide": map[string]any{"maxPayload": 16 << 20}}
	}
	return map[string]any{
		"protocolVersion": asked.Version, "capabilities": capabilities,
		"serverInfo": map[string]any{"name": d.Server, "version": "1.2.3"},
	}
}

// call answers a tool call.
func (d Dialect) call(c *Conn, req Request) Reply {
	if d.Steals && c.editor.stolenFrom(c) {
		return Reply{Silent: true}
	}
	known := slices.Contains(d.Listed, req.Method) || slices.Contains(d.Unlisted, req.Method)
	if !known {
		return Reply{Error: &Error{Code: -32601, Message: "Tool not found: " + req.Method}}
	}
	switch req.Method {
	case "openDiff":
		return c.openDiff(req)
	case "close_tab", "closeTab":
		return c.closeTab(req.Params)
	case "closeAllDiffTabs":
		return c.closeAll()
	case "resolveDiff":
		return c.resolve(req.Params)
	case "saveDocument":
		if d := c.editor.buffer(req.Params); d != nil {
			d.Accept() // the plugin takes the save of its buffer for a yes
			return JSON(map[string]any{"success": true, "saved": true})
		}
	case "setStatus", "setCheck", "fileRemoved":
		return Text("{\"success\":true}")
	}
	return c.editor.World.call(d, req)
}

// stolenFrom reports whether another client has connected since c has.
func (e *Editor) stolenFrom(c *Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for other := range e.conns {
		if other.number > c.number {
			return true
		}
	}
	return false
}

// Text returns a result of text items.
func Text(items ...string) Reply {
	content := []any{}
	for _, item := range items {
		content = append(content, map[string]any{"type": "text", "text": item})
	}
	return Reply{Result: map[string]any{"content": content}}
}

// JSON returns a result of one text item that holds v as JSON.
func JSON(v any) Reply {
	data, err := json.Marshal(v)
	if err != nil {
		return Reply{Error: &Error{Code: -32603, Message: err.Error()}}
	}
	return Text(string(data))
}

// Refuse returns a result with isError set.
func Refuse(code, words string) Reply {
	r := Text(words)
	result := map[string]any{"content": []any{map[string]any{"type": "text", "text": words}}, "isError": true}
	if code != "" {
		result["structuredContent"] = map[string]any{"code": code, "message": words}
	}
	r.Result = result
	return r
}

// Refusef returns a JSON-RPC error.
func Refusef(code int, format string, args ...any) Reply {
	return Reply{Error: &Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

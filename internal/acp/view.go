package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// view shows a session to the host.
type view struct {
	conn *conn
	of   *Session

	mu    sync.Mutex     // guards the rest
	ready bool           // the host knows the session
	held  []any          // updates until then
	open  []llm.ToolCall // that run
	stop  session.Stop   // of the last turn
	mode  permission.Mode
}

func newView(c *conn, s *Session) *view { return &view{conn: c, of: s, mode: s.Mode()} }

// update sends an update, once the host knows the session.
func (v *view) update(u any) {
	v.mu.Lock()
	if !v.ready {
		v.held = append(v.held, u)
		v.mu.Unlock()
		return
	}
	v.mu.Unlock()
	v.conn.notify("session/update", updateParams{v.of.ID, u})
}

// known sends the updates so far: the host knows the session now.
func (v *view) known() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ready = true
	for _, u := range v.held {
		v.conn.notify("session/update", updateParams{v.of.ID, u})
	}
	v.held = nil
}

func (v *view) say(kind, text string) {
	if text != "" {
		v.update(chunk{kind, block{Type: "text", Text: text}})
	}
}

// emit shows an event of the session.
func (v *view) emit(ev session.Event) {
	switch ev := ev.(type) {
	case session.TextDelta:
		v.say("agent_message_chunk", ev.Text)
	case session.ReasoningDelta:
		v.say("agent_thought_chunk", ev.Text)
	case session.Retrying:
		if ev.Void {
			v.say("agent_message_chunk", "\n\n"+session.BrokeOff+"\n\n")
		}
	case session.Notice:
		v.say("agent_thought_chunk", sanitize.Line(ev.Text)+"\n")
	case session.TurnStarted:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.stop = ""
	case session.CallStarted:
		v.mu.Lock()
		v.open = append(v.open, ev.Call)
		v.mu.Unlock()
		c := v.describe(ev.Call, ev.Title)
		c.Kind, c.Status = "tool_call", "in_progress"
		v.update(c)
	case session.CallEnded:
		v.ended(ev)
	case session.TurnEnded:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.stop, v.open = ev.Stop, nil
	}
}

// stopped returns the reason why the last turn ended.
func (v *view) stopped() session.Stop {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stop
}

// now notes a mode that the host knows of.
func (v *view) now(m permission.Mode) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mode = m
}

// modeChanged tells the host about a mode that a turn entered.
func (v *view) modeChanged(m permission.Mode) {
	v.mu.Lock()
	changed := v.mode != m
	v.mode = m
	v.mu.Unlock()
	if changed {
		v.update(modeUpdate{"current_mode_update", m.String()})
	}
}

// describe returns a call as the host shows it.
func (v *view) describe(call llm.ToolCall, title string) toolCall {
	c := toolCall{ID: call.ID, Title: sanitize.Line(title), ToolKind: kindOf(call.Name)}
	if json.Valid([]byte(call.Args)) {
		c.RawInput = json.RawMessage(call.Args)
	}
	var at struct{ Path string }
	if json.Unmarshal([]byte(call.Args), &at) == nil && at.Path != "" {
		c.Locations = []location{{v.abs(at.Path)}}
	}
	return c
}

func (v *view) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(v.of.Dir, filepath.FromSlash(name))
}

// ended shows the result of a call.
func (v *view) ended(ev session.CallEnded) {
	v.mu.Lock()
	v.open = slices.DeleteFunc(v.open, func(c llm.ToolCall) bool { return c.ID == ev.Call.ID })
	v.mu.Unlock()
	c := toolCall{Kind: "tool_call_update", ID: ev.Call.ID, Status: "completed", Content: []callContent{text(ev.Result.ForUser)}}
	if ev.Result.Failed {
		c.Status = "failed"
	}
	if ev.Result.Ran {
		c.Content = []callContent{fenced("", sanitize.Plain(ev.Result.ForModel))}
	}
	for _, f := range ev.Result.Changes {
		c.Content = append(c.Content, fenced("diff", f.Diff))
	}
	v.update(c)
	if items := tools.LastTodo([]llm.Message{{Calls: []llm.ToolCall{ev.Call}}}); items != nil {
		p := plan{Kind: "plan", Entries: []planEntry{}}
		for _, i := range items {
			p.Entries = append(p.Entries, planEntry{i.Content, "medium", i.Status})
		}
		v.update(p)
	}
}

func text(s string) callContent {
	return callContent{Type: "content", Content: &block{Type: "text", Text: s}}
}

// fenced returns a block of code. Its fence is longer than each run of backticks in s, so
// that s cannot end it.
func fenced(language, s string) callContent {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return text(fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence)
}

// replay shows a message of a saved session.
func (v *view) replay(m llm.Message) {
	switch m.Role {
	case llm.User:
		v.say("user_message_chunk", m.UserText())
	case llm.Assistant:
		v.say("agent_thought_chunk", m.Reasoning())
		v.say("agent_message_chunk", m.Text())
		for _, call := range m.Calls {
			c := v.describe(call, call.Name)
			c.Kind, c.Status = "tool_call", "completed"
			v.update(c)
		}
	case llm.ToolReply:
		v.update(toolCall{Kind: "tool_call_update", ID: m.CallID, Status: "completed", Content: []callContent{fenced("", m.Text())}})
	}
}

// kindOf returns the protocol's kind of a tool.
func kindOf(tool string) string {
	if tools.ChangesFiles(tool) {
		return "edit"
	}
	switch tool {
	case "read_file", "get_diagnostics":
		return "read"
	case "list_files", "find_files", "search_files", "tool_search":
		return "search"
	case "execute_command":
		return "execute"
	case "todo", "present_plan":
		return "think"
	}
	return "other"
}

// promptText joins the blocks of a prompt.
func promptText(blocks []block) (string, error) {
	var b strings.Builder
	for _, part := range blocks {
		switch {
		case part.Type == "text":
			b.WriteString(part.Text)
		case part.Type == "resource_link":
			b.WriteString("@" + pathOf(part.URI))
		case part.Type == "resource" && part.Resource != nil && part.Resource.Text != nil:
			fmt.Fprintf(&b, "\n%s:\n```\n%s\n```\n", pathOf(part.Resource.URI), *part.Resource.Text)
		default:
			return "", fmt.Errorf("content of the type %q is not supported", part.Type)
		}
	}
	if strings.TrimSpace(b.String()) == "" {
		return "", errors.New("the prompt is empty")
	}
	return b.String(), nil
}

// pathOf returns the path of a file URI, or another URI as it is.
func pathOf(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	return uri
}

// serversOf returns the host's MCP servers.
func serversOf(all []mcpServer) ([]mcp.Server, error) {
	var out []mcp.Server
	for _, s := range all {
		one := mcp.Server{Name: serverName(s.Name), URL: s.URL, Headers: map[string]string{}}
		switch {
		case s.Type == "sse":
			return nil, fmt.Errorf("the MCP server %s needs SSE, which is not supported: use http", s.Name)
		case s.URL == "" && s.Command == "" || one.Name == "":
			return nil, errors.New("an MCP server needs a name, and a command or a url")
		case s.URL == "":
			one.Command = append([]string{s.Command}, s.Args...)
		}
		for _, e := range s.Env {
			one.Env = append(one.Env, e.Name+"="+e.Value)
		}
		for _, h := range s.Headers {
			one.Headers[h.Name] = h.Value
		}
		out = append(out, one)
	}
	return out, nil
}

// serverName returns a name for tools, of letters, digits and single hyphens.
func serverName(name string) string {
	words := bytes.FieldsFunc([]byte(name), func(r rune) bool {
		return r >= 0x80 || !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	joined := string(bytes.Join(words, []byte("-")))
	return joined[:min(len(joined), 30)]
}

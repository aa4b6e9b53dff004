package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/mcp/servername"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// view shows a session to the host.
type view struct {
	conn  *jsonrpc.Conn
	of    *hosted
	forms bool // the host shows forms

	mu    sync.Mutex      // guards the rest
	ready bool            // the host knows the session
	held  []any           // updates until then
	open  []llm.ToolCall  // that run
	stop  session.Stop    // of the last turn
	mode  permission.Mode // that the host knows, like title
	title string

	terminals map[string]string // of the host, by the call whose command runs there
	working   map[string]string // steps of a sub-agent, by its call

	offering sync.Mutex         // guards commands; held while they are sent
	commands []availableCommand // that the host knows; nil for none yet
}

func newView(c *jsonrpc.Conn, s *hosted) *view {
	return &view{conn: c, of: s, mode: s.Policy.Mode(), title: s.Current().Info().Title, terminals: map[string]string{}, working: map[string]string{}}
}

// update sends an update, once the host knows the session.
func (v *view) update(u any) {
	v.mu.Lock()
	if !v.ready {
		v.held = append(v.held, u)
		v.mu.Unlock()
		return
	}
	v.mu.Unlock()
	v.conn.Notify("session/update", updateParams{v.of.id, u})
}

// known sends the updates so far: the host knows the session now.
func (v *view) known() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ready = true
	for _, u := range v.held {
		v.conn.Notify("session/update", updateParams{v.of.id, u})
	}
	v.held = nil
}

// offer sends the commands if the host does not know them.
func (v *view) offer() {
	v.offering.Lock()
	defer v.offering.Unlock()
	now := v.of.offered()
	if v.commands != nil && slices.EqualFunc(v.commands, now, func(a, b availableCommand) bool { return reflect.DeepEqual(a, b) }) {
		return
	}
	v.commands = now
	v.update(commandsUpdate{"available_commands_update", now})
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
	case session.CallStarted:
		v.mu.Lock()
		v.open = append(v.open, ev.Call)
		v.mu.Unlock()
		c := v.describe(ev.Call, ev.Title)
		c.Kind, c.Status = "tool_call", "in_progress"
		v.update(c)
	case session.CallOutput:
		v.steps(ev)
	case session.CallEnded:
		v.ended(ev)
	case session.AnswerEnded:
		v.filled(session.Filled{Context: ev.Context, Window: ev.Window, Total: ev.Total})
	case session.Filled:
		v.filled(ev)
	case session.TurnEnded:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.stop, v.open = ev.Stop, nil
	}
}

// begun forgets how the last turn ended.
func (v *view) begun() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop = ""
}

// stopped returns the reason why the last turn ended.
func (v *view) stopped() session.Stop {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stop
}

// filled shows how full the model's context is, if its size is known.
func (v *view) filled(ev session.Filled) {
	if ev.Window <= 0 {
		return
	}
	u := usageUpdate{Kind: "usage_update", Used: ev.Context, Size: ev.Window}
	if ev.Total.CostUSD > 0 {
		u.Cost = &cost{ev.Total.CostUSD, "USD"}
	}
	v.update(u)
}

// changed shows the mode and the title if a turn has changed them.
func (v *view) changed() {
	m, title := v.of.Policy.Mode(), v.of.Current().Info().Title
	v.mu.Lock()
	other, renamed := v.mode != m, v.title != title
	v.mode, v.title = m, title
	v.mu.Unlock()
	if other {
		v.update(modeUpdate{"current_mode_update", m.String()})
		v.update(configOptions{"config_option_update", v.of.options()})
	}
	if renamed {
		v.update(infoUpdate{"session_info_update", sanitize.Line(title), time.Now().UTC().Format(time.RFC3339)})
	}
}

// describe returns a call as the host shows it.
func (v *view) describe(call llm.ToolCall, title string) toolCall {
	c := toolCall{ID: call.ID, Title: sanitize.Line(title), ToolKind: kindOf(call.Name)}
	if json.Valid([]byte(call.Args)) {
		c.RawInput = json.RawMessage(call.Args)
	}
	var at struct {
		Path string `json:"path"`
		To   string `json:"to"`
	}
	if jsonrpc.Unmarshal([]byte(call.Args), &at) == nil {
		if at.Path != "" {
			c.Locations = []location{{v.abs(at.Path)}}
		}
		if at.To != "" && c.ToolKind == "move" {
			c.Locations = append(c.Locations, location{v.abs(at.To)})
		}
	}
	return c
}

func (v *view) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(v.of.Dir, filepath.FromSlash(name))
}

// maxSteps is the number of bytes of a sub-agent's steps that are shown.
const maxSteps = 16 << 10

// steps shows the steps of a sub-agent so far.
func (v *view) steps(ev session.CallOutput) {
	v.mu.Lock()
	working := slices.ContainsFunc(v.open, func(c llm.ToolCall) bool { return c.ID == ev.ID && tools.Delegates(c.Name) })
	if !working {
		v.mu.Unlock()
		return
	}
	all := v.working[ev.ID] + sanitize.Text(ev.Text)
	for len(all) > maxSteps {
		_, all, _ = strings.Cut(all, "\n")
	}
	v.working[ev.ID] = all
	v.mu.Unlock()
	v.update(toolCall{Kind: "tool_call_update", ID: ev.ID, Status: "in_progress", Content: []callContent{fenced("", all)}})
}

// ended shows the result of a call.
func (v *view) ended(ev session.CallEnded) {
	v.mu.Lock()
	v.open = slices.DeleteFunc(v.open, func(c llm.ToolCall) bool { return c.ID == ev.Call.ID })
	steps := v.working[ev.Call.ID]
	delete(v.working, ev.Call.ID)
	v.mu.Unlock()
	c := toolCall{Kind: "tool_call_update", ID: ev.Call.ID, Status: "completed", Content: []callContent{text(ev.Result.ForUser)}}
	if steps != "" {
		c.Content = append(c.Content, fenced("", steps))
	}
	if ev.Result.Failed {
		c.Status = "failed"
	}
	if ev.Result.Ran {
		c.Content = []callContent{fenced("", sanitize.Plain(ev.Result.ForModel))}
	} else {
		for _, line := range ev.Result.Ended {
			c.Content = append(c.Content, text(sanitize.Line(line)))
		}
	}
	if id := v.terminalOf(ev.Call.ID); id != "" {
		c.Content = []callContent{{Type: "terminal", TerminalID: id}, text(ev.Result.ForUser)}
	}
	c.Content = append(c.Content, images(ev.Result.Pictures)...)
	for _, f := range ev.Result.Changes {
		c.Content = append(c.Content, diffs(f.Diff)...)
	}
	if ev.Result.Differs != "" {
		c.Content = append(c.Content, text("From the text that you approved to the one that your editor saved:"))
		c.Content = append(c.Content, diffs(ev.Result.Differs)...)
	}
	v.update(c)
	v.todo([]llm.Message{{Calls: []llm.ToolCall{ev.Call}}})
}

// todo shows the latest list of steps in messages, if any.
func (v *view) todo(messages []llm.Message) {
	items := tools.LastTodo(messages)
	if items == nil {
		return
	}
	p := plan{Kind: "plan", Entries: []planEntry{}}
	for _, i := range items {
		p.Entries = append(p.Entries, planEntry{i.Content, "medium", i.Status})
	}
	v.update(p)
}

// diffs returns a diff as content; nothing if it is empty, as that of a new empty file.
func diffs(diff string) []callContent {
	if diff == "" {
		return nil
	}
	return []callContent{fenced("diff", diff)}
}

func text(s string) callContent {
	return callContent{Type: "content", Content: &block{Type: "text", Text: s}}
}

// images returns the images among parts of a message.
func images(parts []llm.Part) []callContent {
	var list []callContent
	for _, p := range parts {
		if p.Kind == llm.ImagePart {
			list = append(list, callContent{Type: "content", Content: &block{Type: "image", MimeType: p.Mime, Data: p.Data}})
		}
	}
	return list
}

// fence returns a block of code. Its fence is longer than each run of backticks in s, so
// that s cannot end it.
func fence(language, s string) string {
	mark := "```"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	return mark + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + mark
}

func fenced(language, s string) callContent { return text(fence(language, s)) }

// replay shows a saved conversation.
func (v *view) replay(items []history.Item) {
	titles := map[string]string{}
	for _, it := range items {
		switch m := it.Message; m.Role {
		case llm.User:
			v.say("user_message_chunk", m.UserText())
		case llm.Assistant:
			v.say("agent_thought_chunk", m.Reasoning())
			v.say("agent_message_chunk", m.Text())
			for _, call := range m.Calls {
				titles[call.ID], _ = v.of.Loop.Describe(call)
				c := v.describe(call, titles[call.ID])
				c.Kind, c.Status = "tool_call", "completed"
				v.update(c)
			}
		case llm.ToolReply:
			v.replayResult(it, titles[m.CallID])
		}
	}
	v.todo(history.Messages(items))
}

// replayResult shows the result of a saved call.
func (v *view) replayResult(it history.Item, title string) {
	it = it.Whole()
	m := it.Message
	c := toolCall{Kind: "tool_call_update", ID: m.CallID, Status: "completed", Content: append([]callContent{fenced("", m.Text())}, images(m.Parts)...)}
	if it.Failed {
		c.Status = "failed"
	}
	if it.Deed != nil {
		c.Title = sanitize.Line(title)
		for _, f := range it.Deed.Files {
			c.Content = append(c.Content, diffs(f.Diff)...)
		}
	}
	v.update(c)
}

// kindOf returns the protocol's kind of a tool.
func kindOf(tool string) string {
	if tool == tools.Review {
		return string(tools.KindEdit)
	}
	return string(tools.FactsOf(tool).Kind)
}

// serversOf returns the host's MCP servers.
func serversOf(all []mcpServer) ([]mcp.Server, error) {
	var out []mcp.Server
	for _, s := range all {
		one := mcp.Server{Name: servername.Fit(s.Name), URL: s.URL, Headers: map[string]string{}}
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

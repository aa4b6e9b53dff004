package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// Servers gives access to the tools of MCP servers. mcp.Servers implements it.
type Servers interface {
	Tools() []mcp.Tool
	Call(ctx context.Context, t mcp.Tool, args json.RawMessage) (mcp.Result, error)
}

// Bounds of the result of a call of a server's tool, in bytes. A longer one is in a file,
// and the model sees its beginning and end.
const (
	maxCallResult = 100_000 // about 25,000 tokens
	callHead      = 8_000
	callTail      = 4_000
)

// serverTool is a tool of an MCP server. Each call is a question.
type serverTool struct {
	Deps
	mcp.Tool
}

// Spec implements Tool.
func (t serverTool) Spec() llm.ToolSpec {
	spec := t.Tool.Spec
	spec.Foreign = true
	return spec
}

// Title implements Tool.
func (t serverTool) Title(args json.RawMessage) string {
	title := "Call " + t.Server + ": " + t.Name
	if compact := bytes.TrimSpace(args); len(compact) > 0 && string(compact) != "{}" {
		title += " " + string(compact)
	}
	return title
}

// Call implements Tool.
func (t serverTool) Call(ctx context.Context, call Call) (Result, error) {
	shown, err := objectOf(call.Args)
	if err != nil {
		return toolcall.Failed("%s was not called: %w.", t.Tool.Spec.Name, err), nil
	}
	if err := call.WaitTurn(ctx); err != nil {
		return Result{}, UnansweredError{Err: err}
	}
	return t.First(ctx, call, func() (Result, error) { return t.decide(ctx, call, shown) })
}

// decide asks whether the call may be made, then makes it.
func (t serverTool) decide(ctx context.Context, call Call, shown []byte) (Result, error) {
	v, err := t.Ask.Ask(ctx, t.request(call, shown))
	if err != nil {
		return Result{}, UnansweredError{Err: err}
	}
	if v.Decision != confirm.Approve {
		return toolcall.Declined(t.Tool.Spec.Name, "call", "It was not made.", v), nil
	}
	res, err := t.run(ctx, shown, v)
	res.Record.What = "Call " + t.Server + ": " + t.Name
	return res, err
}

// request returns the question about a call.
func (t serverTool) request(call Call, args []byte) confirm.Request {
	return confirm.Request{
		Tool: t.Tool.Spec.Name, Description: call.Description, Batch: call.Batch,
		Subject: &confirm.Call{Server: t.Server, Tool: t.Name, Args: string(args), Definition: t.Tool.Spec.Description + "\n" + string(t.Tool.Spec.Schema)},
	}
}

// foreseeServer returns the question that a call of a server's tool would ask. The server need
// not run.
func (s *Set) foreseeServer(name string, args json.RawMessage) []Foreseen {
	shown, err := objectOf(args)
	if err != nil {
		return nil
	}
	return []Foreseen{{Request: s.serverToolNamed(name).request(Call{}, shown)}}
}

// serverToolNamed returns the tool of a server, which need not run.
func (s *Set) serverToolNamed(name string) serverTool {
	t := serverTool{Deps: s.deps, Tool: mcp.Tool{Spec: llm.ToolSpec{Name: name}}}
	t.Server, t.Name, _ = strings.Cut(strings.TrimPrefix(name, mcp.Prefix), "__")
	return t
}

// run makes an approved call.
func (t serverTool) run(ctx context.Context, args []byte, v confirm.Verdict) (Result, error) {
	got, err := t.Servers.Call(ctx, t.Tool, args)
	words := toolcall.Words(v)
	if ctx.Err() != nil {
		return Result{Ran: true, Record: Record{Result: "stopped during the call: its effect may be partial", Words: words}}, ctx.Err()
	}
	if err != nil {
		res := toolcall.Failed("%w.", err)
		res.Ran, res.Record.Words = true, words
		return res, nil
	}
	text, path, err := t.shorten(got.Text, maxCallResult)
	if err != nil {
		return Result{}, err
	}
	res := Result{ForModel: text, ForUser: size(got.Text), Log: path, Failed: got.Failed, Ran: true, Record: Record{Words: words}}
	t.show(&res, picturesOf(got.Images)...)
	if got.Failed {
		res.ForModel = "The call failed:\n" + res.ForModel
		res.ForUser = "failed, " + res.ForUser
	}
	res.ForModel += toolcall.Feedback(v)
	return res, nil
}

// picturesOf returns the images of a call as parts of its result.
func picturesOf(images []mcp.Image) []llm.Part {
	var parts []llm.Part
	for _, image := range images {
		parts = append(parts, llm.Part{Kind: llm.ImagePart, Mime: image.Mime, Data: image.Data})
	}
	return parts
}

// size describes a text in a few words.
func size(text string) string {
	if n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; n > 1 {
		return fmt.Sprintf("%d lines", n)
	}
	return toolcall.OneLine(text, toolcall.MaxTitle)
}

// shorten writes a text of more than limit bytes to a file, and returns its beginning and
// end.
func (d Deps) shorten(text string, limit int) (short, path string, err error) {
	if len(text) <= limit {
		return text, "", nil
	}
	path = filepath.Join(d.SpillDir(), fmt.Sprintf("call-%x.txt", sha256.Sum256([]byte(text))))
	if err := statefile.Write(path, []byte(text)); err != nil {
		return "", "", err
	}
	head := strings.ToValidUTF8(text[:callHead], "")
	tail := strings.ToValidUTF8(text[len(text)-callTail:], "")
	return fmt.Sprintf("%d bytes are left out below; read_file can read all of it: %s\n%s\n[…]\n%s", len(text)-callHead-callTail, path, head, tail), path, nil
}

// objectOf returns the arguments of a call, indented, if they are an object. Keys stay in
// their order, and the person sees the very bytes that are sent.
func objectOf(args json.RawMessage) ([]byte, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 {
		return []byte("{}"), nil
	}
	var out bytes.Buffer
	if args[0] != '{' {
		return nil, errors.New("its arguments are not a JSON object")
	}
	if err := json.Indent(&out, args, "", "  "); err != nil {
		return nil, fmt.Errorf("its arguments are not JSON: %w", err)
	}
	return out.Bytes(), nil
}

// serverTools returns the servers' tools for a request: all of them if their definitions
// fit, else those that were searched for, and a tool to search.
func (s *Set) serverTools() []Tool {
	if s.deps.Servers == nil {
		return nil
	}
	all := s.deps.Servers.Tools()
	total := 0
	for _, t := range all {
		total += t.Size()
	}
	var out []Tool
	fits := total <= s.room()
	for _, t := range all {
		if fits || t.Always || s.found[t.Spec.Name] || Cover(s.offered, t.Spec.Name) {
			out = append(out, serverTool{s.deps, t})
		}
	}
	if !fits {
		out = append(out, s.toolSearch(all))
	}
	return out
}

// room returns how many bytes the definitions of the servers' tools may take: a tenth of
// the model's context.
func (s *Set) room() int {
	const bytesPerToken, unknown = 4, 32_000
	tokens := int64(0)
	if s.deps.Window != nil {
		tokens = s.deps.Window()
	}
	return int(cmp.Or(tokens, unknown)) * bytesPerToken / 10
}

// findServerTool returns the tool of a server with the given name, offered or not, or nil.
func (s *Set) findServerTool(name string) Tool {
	if s.deps.Servers == nil {
		return nil
	}
	all := s.deps.Servers.Tools()
	for _, t := range all {
		if t.Spec.Name == name {
			return serverTool{s.deps, t}
		}
	}
	if name == toolSearchFacts.Name && len(all) > 0 {
		return s.toolSearch(all)
	}
	return nil
}

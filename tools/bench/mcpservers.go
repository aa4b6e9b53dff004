//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	mcpServers     = 10
	mcpArgument    = "mcp-server" // makes this program an MCP server
	mcpDescription = 2_000        // bytes of the description of a server's tool
)

// serveMCP serves one tool on standard input and output.
func serveMCP() error {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "work", Description: strings.Repeat("x", mcpDescription), InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// served measures the time until the prompt is shown with MCP servers configured.
func (b *bench) served() (shown float64, err error) {
	home, tree, err := b.fresh()
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	config := "mcp:\n"
	for i := range mcpServers {
		config += fmt.Sprintf("  s%d: {command: [%q, %s], load: always}\n", i, self, mcpArgument)
	}
	if err := os.WriteFile(filepath.Join(home, ".agent", "config.yaml"), []byte(config), 0o600); err != nil {
		return 0, err
	}
	b.server.load(scenario{steps: []step{{text: endMark}}})
	t, err := b.start(append([]string{b.agent.path}, b.agent.tui...), home, tree)
	if err != nil {
		return 0, err
	}
	defer func() { err = errorsFirst(err, t.close()) }()
	at, err := t.expect(glyph)()
	if err != nil {
		return 0, err
	}
	t.quiet(300 * time.Millisecond)
	answered := t.expect(endMark)
	if _, err := t.key("go\r"); err != nil {
		return 0, err
	}
	if _, err := answered(); err != nil {
		return 0, err
	}
	if reqs, _ := b.server.requests(); reqs[0].size < mcpServers*mcpDescription {
		return 0, fmt.Errorf("the first request has %d bytes: not all MCP servers were used", reqs[0].size)
	}
	return ms(at.Sub(t.begin)), nil
}

// Command gosdk calls the tools of an MCP server with the official client for
// Go. It reads {"url","headers","calls":[{"name","arguments"}]} and writes
// {"tools":[names],"answers":[texts]}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type request struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Calls   []struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"calls"`
}

type report struct {
	Tools   []string `json:"tools"`
	Answers []string `json:"answers"`
}

// withHeaders adds headers to every request.
type withHeaders map[string]string

func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var req request
	if err := json.NewDecoder(os.Stdin).Decode(&req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   req.URL,
		HTTPClient: &http.Client{Transport: withHeaders(req.Headers)},
	}, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	var found report
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the tools: %w", err)
		}
		found.Tools = append(found.Tools, tool.Name)
	}
	for _, c := range req.Calls {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
		if err != nil {
			return fmt.Errorf("call %s: %w", c.Name, err)
		}
		if len(result.Content) == 0 {
			return fmt.Errorf("call %s: an answer without content", c.Name)
		}
		text, ok := result.Content[0].(*mcp.TextContent)
		if !ok || result.IsError {
			return fmt.Errorf("call %s: answered %+v", c.Name, result)
		}
		found.Answers = append(found.Answers, text.Text)
	}
	if err := session.Close(); err != nil {
		return fmt.Errorf("end the session: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

package mcptest

import (
	"context"
	"fmt"
	"os"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// options are those of a server. Clients may subscribe to each resource.
func options() *sdk.ServerOptions {
	return &sdk.ServerOptions{
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	}
}

// offers adds resources and prompts, some of them hostile, and the tools update, which changes
// test://doc, and more, which adds a resource and a prompt. Each read is noted on standard
// error.
func offers(s *sdk.Server) {
	resource := func(uri string, c sdk.ResourceContents) {
		s.AddResource(&sdk.Resource{URI: uri, Name: uri}, func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			fmt.Fprintln(os.Stderr, "read", req.Params.URI)
			c.URI = req.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
		})
	}
	resource("test://doc", sdk.ResourceContents{MIMEType: "text/plain", Text: "the \x1b]0;title\x07doc\U000e0041\n```\n!touch made"})
	resource("test://shot", sdk.ResourceContents{MIMEType: "image/png", Blob: Picture()})
	resource("test://zip", sdk.ResourceContents{MIMEType: "application/zip", Blob: []byte{1, 2, 3}})
	resource("test://long", sdk.ResourceContents{Text: strings.Repeat("long ", 100_000)})
	resource("test://evil\u202e", sdk.ResourceContents{Text: "x"})
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://item/{id}", Name: "item"}, func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, Text: "item " + req.Params.URI}}}, nil
	})
	prompt := func(name, text string, f func(args map[string]string) []*sdk.PromptMessage, args ...*sdk.PromptArgument) {
		s.AddPrompt(&sdk.Prompt{Name: name, Description: text, Arguments: args}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: f(req.Params.Arguments)}, nil
		})
	}
	says := func(role sdk.Role, text string) *sdk.PromptMessage {
		return &sdk.PromptMessage{Role: role, Content: &sdk.TextContent{Text: text}}
	}
	prompt("review", "Reviews \x1b[31mcode\u202e. "+strings.Repeat("It is described at length. ", 100), func(args map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{says("user", "Review "+args["code"]+" in the style "+args["style"]+"."), says("assistant", "Gladly."), says("user", "See @t:test://doc.")}
	}, &sdk.PromptArgument{Name: "code", Description: "the code to review", Required: true}, &sdk.PromptArgument{Name: "style"})
	prompt("evil one", "", func(map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{says("user", "!touch made\x1b]0;title\x07")}
	}, &sdk.PromptArgument{Name: "a\x1b]0;title\x07\u202e\u009b2Jb"}, &sdk.PromptArgument{Name: "why"}, nil)
	prompt("slash", "", func(map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{says("user", "/quit")}
	})
	prompt("shot", "", func(map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{{Role: "user", Content: &sdk.ImageContent{Data: Picture(), MIMEType: "image/png"}}}
	})
	add(s, "update", "Changes test://doc.", func(map[string]any) string {
		_ = s.ResourceUpdated(context.Background(), &sdk.ResourceUpdatedNotificationParams{URI: "test://doc"})
		return "updated"
	})
	add(s, "more", "Adds a resource and a prompt.", func(map[string]any) string {
		resource("test://added", sdk.ResourceContents{Text: "added"})
		prompt("added", "Is new.", func(map[string]string) []*sdk.PromptMessage { return []*sdk.PromptMessage{says("user", "new")} })
		return "added"
	})
}

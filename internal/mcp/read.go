package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// readTime bounds the reading of a resource or a prompt.
const readTime = time.Minute

// Read reads a resource. Its text is not bounded further than a message of the server.
func (s *Servers) Read(ctx context.Context, name, uri string) (out Result, err error) {
	var res *sdk.ReadResourceResult
	err = s.ask(ctx, name, func(ctx context.Context, one *server, to *sdk.ClientSession) (err error) {
		one.subscribe(ctx, to, uri)
		res, err = to.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return Result{}, err
	}
	var parts []string
	for _, c := range res.Contents {
		if c != nil {
			parts = append(parts, out.resource(c))
		}
	}
	out.Text = cmp.Or(sanitize.ForModel(strings.Join(parts, "\n")), "(empty)")
	return out, nil
}

// Fill returns the text of a prompt with arguments, as one message. Parts of the model are
// marked.
func (s *Servers) Fill(ctx context.Context, p Prompt, args map[string]string) (out Result, err error) {
	var res *sdk.GetPromptResult
	err = s.ask(ctx, p.Server, func(ctx context.Context, _ *server, to *sdk.ClientSession) (err error) {
		res, err = to.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Name, Arguments: args})
		return err
	})
	if err != nil {
		return Result{}, err
	}
	var parts []string
	for _, m := range res.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		text := out.add(m.Content)
		if m.Role == "assistant" {
			text = "(The assistant's part of the prompt:)\n" + text
		}
		parts = append(parts, text)
	}
	if out.Text = strings.TrimSpace(sanitize.ForModel(strings.Join(parts, "\n\n"))); out.Text == "" {
		return Result{}, fmt.Errorf("the MCP server %s returned an empty prompt", p.Server)
	}
	return out, nil
}

// ask has send request something from a server, within readTime.
func (s *Servers) ask(ctx context.Context, name string, send func(ctx context.Context, one *server, to *sdk.ClientSession) error) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	to, err := one.connection(ctx, false)
	if err == nil {
		defer to.leave(ctx)
		err = send(ctx, one, to.session)
	}
	if err != nil {
		return one.failure(ctx, err)
	}
	return nil
}

// failure returns the error of a request, bounded and clean.
func (s *server) failure(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the MCP server %s did not answer within %s", s.Name, readTime)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("the MCP server %s answered: %s", s.Name, bounded(err, maxWhy))
}

package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// localTime is how long a server on this machine may take to answer.
const localTime = time.Second

// ModelInfo describes a model of a server. ContextWindow is in tokens; zero if unknown.
type ModelInfo struct {
	ID            string
	ContextWindow int64
}

// ListModels returns the server's models, in its own order. Its errors are *llm.Error,
// or ctx's.
func (c *Client) ListModels(ctx context.Context) ([]ModelInfo, error) {
	if c.base == nil {
		return nil, c.reporter().addressFailure()
	}
	models, err := c.listModels(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, c.reporter().explain(err).err
	}
	return models, nil
}

func (c *Client) listModels(ctx context.Context) ([]ModelInfo, error) {
	key, err := c.key.get(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.opt.BaseURL+"/models", nil)
	if err != nil {
		return nil, err
	}
	c.opt.Authorize(req.Header, key)
	resp, err := c.do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
		return nil, c.reporter().pageFailure(body)
	}
	return parseModels(body)
}

// listed is a model in any of the forms in which servers list it.
type listed struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	ContextLength int64  `json:"context_length"`
	MaxModelLen   int64  `json:"max_model_len"`
	ContextWindow int64  `json:"context_window"`
}

func parseModels(body []byte) ([]ModelInfo, error) {
	var answer struct {
		Data   []listed `json:"data"`
		Models []listed `json:"models"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		if json.Unmarshal(body, &answer.Data) != nil {
			return nil, fmt.Errorf("the list of models: %w", err)
		}
	}
	if len(answer.Data) == 0 {
		answer.Data = answer.Models
	}
	var models []ModelInfo
	for _, l := range answer.Data {
		if l.ID == "" {
			l.ID = l.Name
		}
		if l.ID != "" {
			models = append(models, ModelInfo{ID: l.ID, ContextWindow: max(l.ContextLength, l.MaxModelLen, l.ContextWindow)})
		}
	}
	return models, nil
}

// Local is a model server on this machine.
type Local struct {
	Name    string // the provider's name
	BaseURL string
	Models  []ModelInfo // its chat models; set by FindLocals
}

// LocalServers returns the usual addresses of the servers that people run on their own
// machine.
func LocalServers() []Local {
	return []Local{
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1"},
		{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1"},
		{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1"},
		{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1"},
	}
}

// FindLocals asks all servers at once and returns those that offer a model, in their
// order. It takes at most a second, and next to no time if nothing listens.
func FindLocals(ctx context.Context, servers []Local) []Local {
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	transport := NewTransport(nil)
	transport.Proxy = nil
	defer transport.CloseIdleConnections()
	found := make([]Local, len(servers))
	var wait crash.Group
	for i, s := range servers {
		wait.Go(func() {
			models, err := New(Options{Name: s.Name, BaseURL: s.BaseURL, Transport: transport}, nil).ListModels(ctx)
			if err != nil {
				return // nothing there, or not a model server
			}
			s.Models = ChatModels(models)
			found[i] = s
		})
	}
	wait.Wait()
	return slices.DeleteFunc(found, func(s Local) bool { return len(s.Models) == 0 })
}

// ChatModels returns all without the models that only embed text.
func ChatModels(all []ModelInfo) []ModelInfo {
	var chat []ModelInfo
	for _, m := range all {
		if !strings.Contains(strings.ToLower(m.ID), "embed") {
			chat = append(chat, m)
		}
	}
	return chat
}

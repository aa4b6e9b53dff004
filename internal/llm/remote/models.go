package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// localTime is how long a server on this machine may take to answer.
const localTime = time.Second

// ModelInfo describes a model of a server. Facts that the server does not tell are zero.
type ModelInfo struct {
	ID            string
	ContextWindow int64 // tokens
	Prices        Prices
	Images        *bool // whether it takes images
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

// maxPages is how many pages of a list are read.
const maxPages = 20

func (c *Client) listModels(ctx context.Context) (all []ModelInfo, err error) {
	key, err := c.key.get(ctx)
	if err != nil {
		return nil, err
	}
	path := "/models"
	for range maxPages {
		body, err := c.get(ctx, path, key)
		if err != nil {
			var again bool
			if key, again, err = c.key.again(ctx, key, err); again {
				body, err = c.get(ctx, path, key)
			}
		}
		if err != nil {
			return nil, err
		}
		models, next, err := parseModels(body)
		if err != nil {
			return nil, err
		}
		all = append(all, models...)
		if next == "" {
			break
		}
		path = "/models?after_id=" + url.QueryEscape(next)
	}
	return all, nil
}

// get returns the answer to a request below the base URL.
func (c *Client) get(ctx context.Context, path, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.opt.BaseURL+path, nil)
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
	if err == nil && strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
		err = c.reporter().pageFailure(body)
	}
	return body, err
}

// listed is a model in any of the forms in which servers list it.
type listed struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	Slug             string `json:"slug"`               // OpenAI, with a plan of ChatGPT
	Visibility       string `json:"visibility"`         // the same; only "list" is offered
	ContextLength    int64  `json:"context_length"`     // OpenRouter, Together
	MaxModelLen      int64  `json:"max_model_len"`      // vLLM
	ContextWindow    int64  `json:"context_window"`     // Groq
	MaxContextLength int64  `json:"max_context_length"` // Mistral
	MaxInputTokens   int64  `json:"max_input_tokens"`   // Anthropic
	Architecture     struct {
		Modalities []string `json:"input_modalities"`
	} `json:"architecture"`
	Modalities   []string        `json:"input_modalities"`
	Capabilities json.RawMessage `json:"capabilities"` // of several forms
	Pricing      pricing         `json:"pricing"`
}

// pricing holds prices for a token as OpenRouter lists them, or for a million as Together does.
type pricing struct {
	Prompt     price `json:"prompt"`
	Completion price `json:"completion"`
	CacheRead  price `json:"input_cache_read"`
	CacheWrite price `json:"input_cache_write"`
	Input      price `json:"input"`
	Output     price `json:"output"`
	Cached     price `json:"cached_input"`
}

// price is an amount in USD: a number, or a string with one. An unknown one, or one that varies, is zero.
type price float64

// UnmarshalJSON implements json.Unmarshaler.
func (p *price) UnmarshalJSON(data []byte) error {
	usd, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && usd > 0 && usd < 1e6 {
		*p = price(usd)
	}
	return nil // a list with an odd price is still a list
}

// million returns the price for a million tokens.
func (p price) million() float64 { return math.Round(float64(p)*1e12) / 1e6 }

func (l listed) prices() Prices {
	if p := l.Pricing; p.Prompt > 0 || p.Completion > 0 {
		return Prices{Input: p.Prompt.million(), Output: p.Completion.million(), Cached: p.CacheRead.million(), Written: p.CacheWrite.million()}
	}
	return Prices{Input: float64(l.Pricing.Input), Output: float64(l.Pricing.Output), Cached: float64(l.Pricing.Cached)}
}

// images returns whether the model takes images; nil if the server does not tell.
func (l listed) images() *bool {
	if all := slices.Concat(l.Architecture.Modalities, l.Modalities); len(all) > 0 {
		takes := slices.Contains(all, "image")
		return &takes
	}
	var can struct {
		Vision *bool `json:"vision"` // Mistral
		Images struct {
			Supported *bool `json:"supported"`
		} `json:"image_input"` // Anthropic
	}
	if json.Unmarshal(l.Capabilities, &can) != nil {
		return nil // a list of words
	}
	return cmp.Or(can.Vision, can.Images.Supported)
}

// parseModels returns the models of a page, and the id after which the next one begins.
func parseModels(body []byte) (models []ModelInfo, next string, err error) {
	var answer struct {
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
		More   bool              `json:"has_more"` // Anthropic
		Last   string            `json:"last_id"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		if json.Unmarshal(body, &answer.Data) != nil {
			return nil, "", fmt.Errorf("the list of models: %w", err)
		}
	}
	if len(answer.Data) == 0 {
		answer.Data = answer.Models
	}
	for _, data := range answer.Data {
		var l listed
		_ = json.Unmarshal(data, &l) // a member of another form is left out
		if l.ID = cmp.Or(l.ID, l.Slug, l.Name); l.ID != "" && (l.Visibility == "" || l.Visibility == "list") {
			window := max(l.ContextLength, l.MaxModelLen, l.ContextWindow, l.MaxContextLength, l.MaxInputTokens)
			models = append(models, ModelInfo{ID: l.ID, ContextWindow: window, Prices: l.prices(), Images: l.images()})
		}
	}
	if answer.More && len(answer.Data) > 0 {
		next = answer.Last
	}
	return models, next, nil
}

// Local is a model server on this machine.
type Local struct {
	Name    string // the provider's name
	BaseURL string
	Models  []ModelInfo // its chat models; set by FindLocals
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

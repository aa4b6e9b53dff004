// Package local asks model servers that people run themselves for facts about a model
// that the protocol does not cover. It guarantees that it sends no key and takes at
// most a second.
package local

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// probeTime is how long a server may take to describe a model.
const probeTime = time.Second

// Facts are a server's facts about a model that the protocol does not cover. Zero means
// unknown.
type Facts struct {
	Server        string // ollama, lmstudio, llamacpp or vllm
	ContextWindow int64  // tokens in its present configuration
	MaxContext    int64  // maximum of the model in tokens
	NoTools       bool   // the model cannot call tools
	Untrained     bool   // the model was not trained to call tools
	NotLoaded     bool   // the server has to load the model first
}

// Model is a model of the server at an address.
type Model struct{ Address, Name string }

// atOnce is how many models ProbeAll asks about at the same time.
const atOnce = 8

// ProbeAll calls Probe for several models, within Probe's time for all of them. Models
// that it does not reach in time have no facts.
func ProbeAll(ctx context.Context, models []Model) []Facts {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	all := make([]Facts, len(models))
	slots := make(chan struct{}, atOnce)
	var wait crash.Group
	for i, m := range models {
		wait.Go(func() {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			defer func() { <-slots }()
			if f, err := Probe(ctx, m.Address, m.Name); err == nil {
				all[i] = f
			}
		})
	}
	wait.Wait()
	return all
}

// On reports whether a URL names this machine.
func On(address string) bool {
	u, err := url.Parse(address)
	return err == nil && peer.IsLoopback(u.Hostname())
}

// Near reports whether a URL names this machine or one of the same network, whose models answer
// one person and may read a prompt for minutes.
func Near(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	named := slices.ContainsFunc([]string{".local", ".lan", ".internal", ".home.arpa", ".localhost"}, func(end string) bool { return strings.HasSuffix(host, end) })
	return host != "" && (named || !strings.Contains(host, "."))
}

// root returns the address below which a server's own paths begin.
func root(address string) string { return strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1") }

// server is a server's root address and the model to ask about.
type server struct {
	root, model string
}

// Probe asks the server about the model in the way of each known kind of server. It
// takes at most a second. It returns an error if the server does not answer, but not if
// it knows nothing.
func Probe(ctx context.Context, address, model string) (Facts, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	models, err := remote.New(remote.Options{BaseURL: address, Name: address}, nil).ListModels(ctx)
	if err != nil {
		return Facts{}, err
	}
	c := server{root: root(address), model: model}
	ways := []func(context.Context) (Facts, bool){c.askOllama, c.askLMStudio, c.askLlamaCpp}
	said := make([]Facts, len(ways))
	var wait crash.Group
	for i, ask := range ways {
		wait.Go(func() {
			if f, ok := ask(ctx); ok {
				said[i] = f
			}
		})
	}
	wait.Wait()
	for _, f := range said {
		if f.Server != "" {
			return f, nil
		}
	}
	if i := slices.IndexFunc(models, func(m remote.ModelInfo) bool { return m.ID == c.model }); i >= 0 && models[i].ContextWindow > 0 {
		return Facts{Server: "vllm", ContextWindow: models[i].ContextWindow}, nil
	}
	return Facts{}, nil
}

// fetch decodes the answer to a request below the server's root. It returns false if
// the server is of another kind.
func (c server) fetch(ctx context.Context, method, path string, body, into any) bool {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return false
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.root+path, in)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(resp.Body, 16<<20)).Decode(into) == nil
}

var numCtx = lazyregexp.New(`(?m)^\s*num_ctx\s+(\d+)`)

// askOllama looks at the loaded models, else at the model's file; the server's own
// default cannot be asked for.
func (c server) askOllama(ctx context.Context) (f Facts, ok bool) {
	var show struct {
		Info         map[string]any `json:"model_info"`
		Capabilities []string       `json:"capabilities"`
		Parameters   string         `json:"parameters"`
	}
	if !c.fetch(ctx, http.MethodPost, "/api/show", map[string]string{"model": c.model}, &show) || show.Info == nil {
		return f, false
	}
	f.Server = "ollama"
	for key, value := range show.Info {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			f.MaxContext = int64(n)
		}
	}
	f.NoTools = len(show.Capabilities) > 0 && !slices.Contains(show.Capabilities, "tools")
	if m := numCtx.FindStringSubmatch(show.Parameters); m != nil {
		f.ContextWindow, _ = strconv.ParseInt(m[1], 10, 64) // a number too large counts as unknown
	}
	var loaded struct {
		Models []struct {
			Name          string `json:"name"`
			ContextLength int64  `json:"context_length"`
		} `json:"models"`
	}
	if c.fetch(ctx, http.MethodGet, "/api/ps", nil, &loaded) {
		for _, m := range loaded.Models {
			if (m.Name == c.model || m.Name == c.model+":latest") && m.ContextLength > 0 {
				f.ContextWindow = m.ContextLength
			}
		}
	}
	return f, true
}

// studioModel is LM Studio's description of a model.
type studioModel struct {
	ID           string    `json:"id"`
	State        string    `json:"state"`
	Max          int64     `json:"max_context_length"`
	Loaded       int64     `json:"loaded_context_length"`
	Capabilities *[]string `json:"capabilities"`
}

func (c server) askLMStudio(ctx context.Context) (f Facts, ok bool) {
	var list struct {
		Data []studioModel `json:"data"`
	}
	if !c.fetch(ctx, http.MethodGet, "/api/v0/models", nil, &list) {
		return f, false
	}
	i := slices.IndexFunc(list.Data, func(m studioModel) bool { return m.ID == c.model && m.Max > 0 })
	if i < 0 {
		return f, false
	}
	m := list.Data[i]
	f = Facts{Server: "lmstudio", ContextWindow: m.Loaded, MaxContext: m.Max, NotLoaded: m.State == "not-loaded"}
	// Versions that know capabilities omit an empty list.
	tells := slices.ContainsFunc(list.Data, func(m studioModel) bool { return m.Capabilities != nil })
	f.Untrained = tells && (m.Capabilities == nil || !slices.Contains(*m.Capabilities, "tool_use"))
	return f, true
}

func (c server) askLlamaCpp(ctx context.Context) (f Facts, ok bool) {
	var props struct {
		Settings struct {
			Context int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if !c.fetch(ctx, http.MethodGet, "/props", nil, &props) || props.Settings.Context <= 0 {
		return f, false
	}
	return Facts{Server: "llamacpp", ContextWindow: props.Settings.Context}, true
}

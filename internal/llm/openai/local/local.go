// Package local asks the model servers that people run themselves what they say about
// a model beyond the protocol. It guarantees that it sends no key, and takes a second at
// most.
package local

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// probeTime is how long a server may take to describe a model that it has at hand.
const probeTime = time.Second

// Facts are what a server of one's own says about a model, beyond what the protocol
// has. Zero means that it does not say.
type Facts struct {
	Server        string // ollama, lmstudio, llamacpp or vllm
	ContextWindow int64  // tokens that it takes as it is set up now
	MaxContext    int64  // tokens that the model could take
	NoTools       bool   // it says that the model cannot call tools
	Untrained     bool   // it says that the model was not trained to
	NotLoaded     bool   // it says that it has to load the model first
}

// Model is a model of a server at an address.
type Model struct{ Address, Name string }

// atOnce is how many models are asked about at the same time.
const atOnce = 8

// ProbeAll is Probe for several models. It takes as long as Probe for all of them: of
// those that are not reached by then, nothing is known.
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

// root is where a server's own paths begin, beside the protocol's.
func root(address string) string { return strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1") }

// server is where is asked, and about which model.
type server struct {
	root, model string
}

// Probe asks the server, in each of the ways that those known have, what it says about
// the model. It takes a second at most. A server that says nothing is no error; one
// that is not there is.
func Probe(ctx context.Context, address, model string) (Facts, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	models, err := openai.New(openai.Options{BaseURL: address, Name: address}).ListModels(ctx)
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
	if i := slices.IndexFunc(models, func(m openai.ModelInfo) bool { return m.ID == c.model }); i >= 0 && models[i].ContextWindow > 0 {
		return Facts{Server: "vllm", ContextWindow: models[i].ContextWindow}, nil
	}
	return Facts{}, nil
}

// fetch decodes the answer to a request below the server's root; false if it is none
// of that kind.
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

var numCtx = regexp.MustCompile(`(?m)^\s*num_ctx\s+(\d+)`)

// askOllama looks at what is loaded, else at what the model's file sets: what the
// server itself is set to, it does not say.
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
		f.ContextWindow, _ = strconv.ParseInt(m[1], 10, 64) // too large a number is as good as none
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

// studioModel is a model as LM Studio lists it.
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
	// A version that knows capabilities leaves them out where there are none.
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

package provider

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// ServedFile is the name of the file in the agent's own folder.
const ServedFile = "served.json"

// servedAge is how long the facts of a hosted server are used before it is asked again.
const servedAge = 7 * 24 * time.Hour

// askTime bounds the wait for the list of a hosted server, which costs a start once in servedAge.
const askTime = 3 * time.Second

// served holds the facts that a hosted server tells about a model in its list. Many tell none.
type served struct {
	BaseURL string    `json:"base_url"`
	Model   string    `json:"model"`
	Window  int64     `json:"context_window,omitzero"`
	Images  *bool     `json:"images,omitzero"`
	Input   float64   `json:"price_input,omitzero"`
	Output  float64   `json:"price_output,omitzero"`
	Cached  float64   `json:"price_cached,omitzero"`
	Written float64   `json:"price_cache_write,omitzero"`
	At      time.Time `json:"at"`
}

func (s served) options() config.ModelOptions {
	return config.ModelOptions{ContextWindow: s.Window, Images: s.Images, Input: s.Input, Output: s.Output, Cached: s.Cached, Written: s.Written}
}

// hosted completes a model of a hosted provider with the facts that its server tells. A server that
// does not answer, or whose key is not at hand, tells none.
func hosted(ctx context.Context, cfg config.Config, m config.Model) config.Model {
	if m.HostedBy() == "" || cfg.Home == "" {
		return m
	}
	file := statefile.List[served]{
		JSON: statefile.JSON[[]served]{Path: filepath.Join(cfg.Home, ServedFile)},
		Compare: func(a, b served) int {
			return cmp.Or(cmp.Compare(a.BaseURL, b.BaseURL), cmp.Compare(a.Model, b.Model))
		},
	}
	all, _ := file.Read() // an unreadable file is replaced
	now := served{BaseURL: m.Endpoint.BaseURL, Model: m.Name, At: time.Now()}
	same := func(s served) bool { return s.BaseURL == now.BaseURL && s.Model == now.Model }
	if i := slices.IndexFunc(all, func(s served) bool { return same(s) && time.Since(s.At) < servedAge }); i >= 0 {
		return m.Told(all[i].options())
	}
	if len(m.Endpoint.APIKeyCommand) > 0 {
		return m // the command may ask for a passphrase
	}
	if MissingKey(cfg, m) != nil || allowedservers.Open(cfg.Home).Permit(m) != nil {
		return m
	}
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	models, err := Client(cfg, m).ListModels(ask)
	if err != nil {
		return m
	}
	if i := slices.IndexFunc(models, func(i remote.ModelInfo) bool { return i.ID == m.Name || i.ID == "models/"+m.Name }); i >= 0 {
		f := models[i]
		now.Window, now.Images = f.ContextWindow, f.Images
		now.Input, now.Output, now.Cached, now.Written = f.Prices.Input, f.Prices.Output, f.Prices.Cached, f.Prices.Written
	}
	save, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	_ = file.Put(save, now, func(s served) bool { return same(s) || time.Since(s.At) > servedAge }) // else it is asked next time
	return m.Told(now.options())
}

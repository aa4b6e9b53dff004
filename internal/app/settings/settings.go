// Package settings shows and changes the configuration. It guarantees that no secret is
// shown, and that concurrent changes are not lost.
package settings

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// WrongError reports a key or a value that the configuration does not accept.
type WrongError struct{ err error }

func (e *WrongError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *WrongError) Unwrap() error { return e.err }

// File returns the path of the configuration file.
func File() (string, error) {
	home, err := config.Home()
	if err != nil {
		return "", err
	}
	return config.File(home), nil
}

// Pair is a key and its value.
type Pair struct{ Key, Value string }

// Set changes one key in the file.
func Set(ctx context.Context, key, value string) error {
	return SetAll(ctx, []Pair{{key, value}})
}

// SetAll changes all keys in the file, or none. Concurrent changes by other processes
// are not lost.
func SetAll(ctx context.Context, pairs []Pair) error {
	if len(pairs) == 0 {
		return nil
	}
	return change(ctx, func(file string, data []byte) ([]byte, error) { return edit(file, data, pairs) })
}

// RemoveServer removes an MCP server from the file.
func RemoveServer(ctx context.Context, name string) error {
	return change(ctx, func(file string, data []byte) ([]byte, error) { return config.RemoveServer(file, data, name) })
}

// ReplaceServer writes an MCP server to the file in place of one with the same name.
func ReplaceServer(ctx context.Context, name string, pairs []Pair) error {
	return change(ctx, func(file string, data []byte) ([]byte, error) {
		data, err := config.RemoveServer(file, data, name)
		if err != nil {
			return nil, err
		}
		return edit(file, data, pairs)
	})
}

// change changes the file by fn, whose errors are the user's.
func change(ctx context.Context, fn func(file string, data []byte) ([]byte, error)) error {
	file, err := File()
	if err != nil {
		return err
	}
	return statefile.Change(ctx, file, func(data []byte) ([]byte, error) {
		data, err := fn(file, data)
		if err != nil {
			return nil, &WrongError{err}
		}
		return data, nil
	})
}

// edit sets all keys in data, the content of file.
func edit(file string, data []byte, pairs []Pair) (_ []byte, err error) {
	for _, p := range pairs {
		if data, err = config.Edit(file, data, p.Key, p.Value); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Describe lists the settings in force, without the values of headers and the passwords
// in addresses, which may be secret.
func Describe(cfg config.Config) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range rows(cfg) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Key, s.Value, s.Source)
	}
	if err := w.Flush(); err != nil {
		return err.Error() // a Builder never fails
	}
	return b.String()
}

// Get returns the value in force of a setting, or the lines of those below key, as Describe shows them.
func Get(cfg config.Config, key string) (string, error) {
	var below []string
	for _, s := range rows(cfg) {
		if s.Key == key {
			return s.Value, nil
		}
		if strings.HasPrefix(s.Key, key+".") {
			below = append(below, s.Key+"  "+s.Value)
		}
	}
	if len(below) > 0 {
		return strings.Join(below, "\n"), nil
	}
	if err := config.CheckKey(key); err != nil {
		return "", &WrongError{err}
	}
	return "", &WrongError{fmt.Errorf("%s is not set", key)}
}

// rows returns the settings of Describe, safe to print.
func rows(cfg config.Config) (all []config.Setting) {
	line := func(key, value, source string) {
		all = append(all, config.Setting{Key: key, Value: sanitize.Line(value), Source: sanitize.Line(source)})
	}
	given := func(key, value string) {
		if value != "" {
			line(key, value, cfg.File)
		}
	}
	for _, s := range cfg.Settings() {
		line(s.Key, remote.Shown(s.Value), s.Source)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		p, prefix := cfg.Providers[name], "providers."+sanitize.Line(name)+"."
		line(prefix+"base_url", remote.Shown(p.BaseURL), cfg.File)
		given(prefix+"api_key_env", p.APIKeyEnv)
		given(prefix+"login", p.Login)
		given(prefix+"api_key_command", strings.Join(p.APIKeyCommand, " "))
		for _, h := range slices.Sorted(maps.Keys(p.Headers)) {
			line(prefix+"headers."+sanitize.Line(h), "(not shown)", cfg.File)
		}
		if p.ContextWindow > 0 {
			line(prefix+"context_window", fmt.Sprint(p.ContextWindow), cfg.File)
		}
		given(prefix+"wire", p.Wire)
		for _, m := range slices.Sorted(maps.Keys(p.Models)) {
			line(prefix+"models."+sanitize.Line(m), sanitize.Line(describeModel(p.Models[m])), cfg.File)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.LanguageServers.Named)) {
		s, prefix := cfg.LanguageServers.Named[name], "language_servers."+sanitize.Line(name)+"."
		given(prefix+"command", strings.Join(s.Command, " "))
		for _, end := range slices.Sorted(maps.Keys(s.Languages)) {
			line(prefix+"languages."+sanitize.Line(end), s.Languages[end], cfg.File)
		}
		given(prefix+"markers", strings.Join(s.Markers, ", "))
		given(prefix+"settings", strings.Join(slices.Sorted(maps.Keys(s.Settings)), ", "))
		if s.Disabled {
			line(prefix+"disabled", "true", cfg.File)
		}
	}
	return all
}

// describeModel names the options that are set.
func describeModel(m config.ModelOptions) string {
	var set, prices []string
	for _, price := range []struct {
		name string
		usd  float64
	}{{"input", m.Input}, {"output", m.Output}, {"cached", m.Cached}, {"cache write", m.Written}} {
		if price.usd != 0 {
			prices = append(prices, fmt.Sprintf("%s %g", price.name, price.usd))
		}
	}
	if m.ContextWindow > 0 {
		set = append(set, fmt.Sprintf("context %d", m.ContextWindow))
	}
	if len(prices) > 0 {
		set = append(set, "USD per million tokens: "+strings.Join(prices, ", "))
	}
	for _, each := range []struct{ name, value string }{{"wire", m.Wire}, {"effort", m.Effort}, {"cache_ttl", m.CacheTTL}} {
		if each.value != "" {
			set = append(set, each.name+" "+each.value)
		}
	}
	if m.CacheMarkers != nil {
		set = append(set, fmt.Sprintf("cache_markers %t", *m.CacheMarkers))
	}
	if m.MaxTokens > 0 {
		set = append(set, fmt.Sprintf("max_tokens %d", m.MaxTokens))
	}
	if m.Temperature != nil {
		set = append(set, fmt.Sprintf("temperature %g", *m.Temperature))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		set = append(set, "extra."+name)
	}
	return strings.Join(set, ", ")
}

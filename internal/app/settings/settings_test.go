package settings

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
)

func TestDescribeShowsNoSecret(t *testing.T) {
	out := Describe(config.Config{Providers: map[string]config.Provider{"corp": {
		BaseURL: "http://me:secret@a\x1b[2J", APIKeyCommand: []string{"pass", "show"}, Headers: map[string]string{"X-Key": "secret"},
		Models: map[string]config.ModelOptions{"m": {Input: 2.5}},
	}}})
	for _, want := range []string{"http://xxxxx@a", "providers.corp.api_key_command  pass show", "headers.X-Key", "(not shown)", "input 2.5"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "secret") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
}

// Two processes change the file at once; both changes survive.
func TestSetLosesNoChange(t *testing.T) {
	t.Setenv("AGENT_HOME", t.TempDir())
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			if err := Set(t.Context(), fmt.Sprintf("providers.p%d.base_url", i), "http://a"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if cfg, err := config.Load(nil); err != nil || len(cfg.Providers) != 16 {
		t.Errorf("%d of 16 changes are left: %v", len(cfg.Providers), err)
	}
}

func TestSetRejectsWrongValues(t *testing.T) {
	t.Setenv("AGENT_HOME", t.TempDir())
	for key, value := range map[string]string{"permision_mode": "plan", "permission_mode": "dork"} {
		err := Set(t.Context(), key, value)
		if wrong := new(WrongError); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", key, err)
		}
	}
	file, err := File()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file was written: %v", err)
	}
}

// Either all of several keys are set, or none.
func TestSetAll(t *testing.T) {
	home := t.TempDir()
	t.Setenv("AGENT_HOME", home)
	file := config.File(home)
	if err := SetAll(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file was made for nothing")
	}
	err := SetAll(t.Context(), []Pair{{"providers.p.base_url", "http://a"}, {"modle", "p/m"}})
	if wrong := new(WrongError); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the first one was set")
	}
	if err := SetAll(t.Context(), []Pair{{"providers.p.base_url", "http://a"}, {"model", "p/m"}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if want := "providers:\n  p:\n    base_url: http://a\nmodel: p/m\n"; err != nil || string(data) != want {
		t.Errorf("%q, %v", data, err)
	}
}

// Only the options that are set are shown: a price of 0 would read as free of charge.
func TestModelsAreDescribedByTheirOptions(t *testing.T) {
	temperature := 0.0
	for want, m := range map[string]config.ModelOptions{
		"":                                 {},
		"context 8000":                     {ContextWindow: 8000},
		"temperature 0":                    {Temperature: &temperature},
		"max_tokens 100, extra.a, extra.b": {MaxTokens: 100, Extra: map[string]any{"b": 1, "a": 2}},
		"context 9, USD per million tokens: input 1.5, cached 0.1, wire responses": {ContextWindow: 9, Input: 1.5, Cached: 0.1, Wire: "responses"},
	} {
		if got := describeModel(m); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}

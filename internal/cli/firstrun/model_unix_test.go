//go:build unix

package firstrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
)

const canary = "sk-canary-7f3d"

// ollama answers like Ollama and records the copies it makes.
type ollama struct {
	mu     sync.Mutex
	copied map[string]any
}

func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	say := func(text string) { _, _ = io.WriteString(w, text) } // the client may have gone
	switch r.URL.Path {
	case "/v1/models":
		say(`{"object":"list","data":[{"id":"gemma:2b"},{"id":"qwen3:8b"},{"id":"nomic-embed-text"}]}`)
	case "/api/show":
		var ask struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		can := `["completion"]`
		if strings.HasPrefix(ask.Model, "qwen3") {
			can = `["completion","tools"]`
		}
		say(`{"parameters":"","model_info":{"general.architecture":"x","x.context_length":40960},"capabilities":` + can + `}`)
	case "/api/create":
		if err := json.NewDecoder(r.Body).Decode(&o.copied); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		say(`{"status":"success"}`)
	default:
		http.NotFound(w, r)
	}
}

// keyed lists models to clients that have the key.
func keyed(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer "+canary:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided"}}`) // the client may have gone
	case r.URL.Path == "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"whisper-1"},{"id":"small"},{"id":"gpt-4o"},{"id":"large"}]}`)
	default:
		http.NotFound(w, r)
	}
}

// place is a home without settings, and the servers of a test.
type place struct {
	cfg    config.Config
	ollama *ollama
	keyed  string // of a server that needs a key
	open   string // of a server that needs none
}

// nowhere is an address where nothing listens.
const nowhere = "http://127.0.0.1:1/v1"

func newPlace(t *testing.T, local bool) place {
	t.Helper()
	for _, h := range config.Hosted {
		t.Setenv(h.KeyEnv, "")
	}
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "AGENT_MODEL", "AGENT_BASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("AGENT_HOME", filepath.Join(t.TempDir(), "home"))
	pl := place{ollama: &ollama{}}
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	pl.keyed, pl.open = serve(http.HandlerFunc(keyed)), serve(pl.ollama)
	t.Setenv("OPENAI_BASE_URL", pl.keyed)
	var err error
	if pl.cfg, err = config.Load(nil); err != nil {
		t.Fatal(err)
	}
	// The file names the key, so that its address is asked about.
	pl.cfg.Providers = map[string]config.Provider{"openai": {APIKeyEnv: "OPENAI_API_KEY"}, "ollama": {BaseURL: nowhere}, "lmstudio": {BaseURL: nowhere}, "llamacpp": {BaseURL: nowhere}, "vllm": {BaseURL: nowhere}}
	if local {
		pl.cfg.Providers["ollama"] = config.Provider{BaseURL: pl.open}
	}
	return pl
}

// written returns the files in the agent's home by name, without locks.
func (pl place) written(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := os.ReadDir(pl.cfg.Home)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(pl.cfg.Home, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
		if !strings.HasSuffix(f.Name(), ".lock") {
			all[f.Name()] = string(data)
		}
	}
	return all
}

// step is a screen to wait for and the input to give there.
type step struct{ wait, does string }

// do types, or presses the keys named between < and >.
func do(term *ptytest.Terminal, does string) {
	for _, part := range regexp.MustCompile(`<[a-z+]+>|[^<]+`).FindAllString(does, -1) {
		if key, ok := strings.CutPrefix(part, "<"); ok {
			term.Press(strings.TrimSuffix(key, ">"))
		} else {
			term.Type(part)
		}
	}
}

func echoes(term *ptytest.Terminal) bool { return term.Termios().Lflag&unix.ECHO != 0 }

type result struct {
	notes []string
	err   error
}

// walk goes through the screens and compares them with a golden file.
func (pl place) walk(t *testing.T, name string, width int, flat bool, run func(Options) ([]string, error), steps []step) result {
	t.Helper()
	term := ptytest.New(t, vt.Options{Width: width, Height: 24})
	fd, err := unix.Dup(int(term.TTY().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(fd), term.TTY().Name())
	done := make(chan result, 1)
	go func() {
		defer out.Close()
		notes, err := run(Options{Config: pl.cfg, Screens: 3, Terminal: dialog.Terminal{
			In: term.TTY(), Out: out, Env: []string{"TERM=xterm-256color"}, Flat: flat,
		}})
		done <- result{notes, err}
	}()
	var seen strings.Builder
	for i, s := range steps {
		term.WaitFor(s.wait)
		if !flat {
			term.WaitFor(`Esc (exits|back)`) // it accepts answers
		}
		fmt.Fprintf(&seen, "--- %d\n%s\n", i+1, strings.TrimRight(term.Screen(), "\n "))
		if flat && strings.Contains(s.wait, "not shown") && echoes(term) {
			t.Error("the key is asked for while the terminal echoes")
		}
		do(term, s.does)
	}
	got := <-done
	compare(t, fmt.Sprintf("%s-%d", name, width), seen.String())
	if strings.Contains(string(term.Bytes()), canary) {
		t.Error("the key was shown")
	}
	if !echoes(term) {
		t.Error("the terminal is left without echo")
	}
	return got
}

// compare compares the screens with a golden file, without ports and trailing blanks.
func compare(t *testing.T, name, got string) {
	t.Helper()
	got = regexp.MustCompile(`127\.0\.0\.1:\d{5}`).ReplaceAllString(got, "127.0.0.1:PORTX")
	got = regexp.MustCompile(` +\n`).ReplaceAllString(got, "\n")
	golden.File(t, name, got)
}

func TestEachWayToAModel(t *testing.T) {
	for _, c := range []struct {
		name  string
		local bool
		env   string // the key in the environment
		steps []step
		flat  []step // the same steps on plain lines
		want  string // config.yaml afterwards
		key   bool   // whether the key is stored
		note  string
	}{
		{
			name: "copy", local: true, want: "model: ollama/qwen3:8b-32k\n", note: "made qwen3:8b-32k in Ollama",
			steps: []step{{"› Local: ollama/qwen3:8b", "<enter>"}, {"› Make qwen3:8b-32k", "<enter>"}},
			flat:  []step{{"nothing to exit:", "1<enter>"}, {"1 to 2, or nothing to go back:", "1<enter>"}},
		},
		{
			name: "as-it-is", local: true, want: "model: ollama/qwen3:8b\n",
			steps: []step{{"› Local: ollama/qwen3:8b", "<enter>"}, {"› Make qwen3:8b-32k", "<down><enter>"}},
			flat:  []step{{"nothing to exit:", "1<enter>"}, {"1 to 2, or nothing to go back:", "2<enter>"}},
		},
		{
			name: "env", env: canary, want: "model: openai/gpt-4o\n",
			steps: []step{{"› Cloud: OpenAI\\s+with the key in", "<enter>"}, {"(?s)Use this model server.*OPENAI_BASE_URL.*› No", "<down><enter>"}},
			flat:  []step{{"nothing to exit:", "1<enter>"}, {"2 to 3, or nothing to go back:", "2<enter>"}},
		},
		{
			name: "paste", want: "model: openai/gpt-4o\n", key: true, note: "the key is saved in ",
			steps: []step{{"› Cloud: paste", "<enter>"}, {"› OpenAI", "<enter>"}, {"Key:", "wrong<enter>"}, {"Incorrect", canary + "<enter>"}},
			flat:  []step{{"nothing to exit:", "1<enter>"}, {"1 to 9, or nothing to go back:", "1<enter>"}, {"not shown, or nothing to go back:", "wrong<enter>"}, {"(?s)Incorrect.*not shown, or nothing to go back:", canary + "<enter>"}},
		},
		{
			name: "address", key: true, want: "providers:\n  local:\n    base_url: KEYED\n    api_key_env: LOCAL_API_KEY\nmodel: local/large\n",
			steps: []step{{"Another server", "Another<enter>"}, {"Address:", "<ctrl+u>KEYED<enter>" + canary + "<enter>"}, {"› small", "<down><down><enter>"}},
			flat: []step{
				{"nothing to exit:", "2<enter>"},
				{"Address, or nothing for", "KEYED<enter>"},
				{"not shown, or nothing:", canary + "<enter>"},
				{"1 to 3, or nothing to go back:", "3<enter>"},
			},
		},
	} {
		run := func(name string, width int, flat bool, steps []step) {
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				pl := newPlace(t, c.local)
				if c.env != "" {
					t.Setenv("OPENAI_API_KEY", c.env)
				}
				var now []step
				for _, s := range steps {
					now = append(now, step{s.wait, strings.ReplaceAll(s.does, "KEYED", pl.keyed)})
				}
				got := pl.walk(t, name, width, flat, func(o Options) ([]string, error) { return Model(t.Context(), o) }, now)
				if got.err != nil {
					t.Fatal(got.err)
				}
				all := pl.written(t)
				if d := cmp.Diff(strings.ReplaceAll(c.want, "KEYED", pl.keyed), all["config.yaml"]); d != "" {
					t.Error(d)
				}
				if kept := strings.Contains(all["credentials.json"], canary); kept != c.key {
					t.Errorf("the key is kept: %v", kept)
				}
				notes := strings.Join(got.notes, "\n")
				if !strings.Contains(notes, c.note) || !strings.Contains(notes, ". Switch with /model.") {
					t.Errorf("%q", notes)
				}
				if made := pl.ollama.copied != nil; made != strings.HasPrefix(c.name, "copy") {
					t.Errorf("a copy: %v", pl.ollama.copied)
				}
			})
		}
		for _, width := range []int{40, 80} {
			run(c.name, width, false, c.steps)
		}
		run(c.name+"-flat", 80, true, c.flat)
	}
}

// Leaving changes nothing, whichever screen is shown.
func TestLeavingChangesNothing(t *testing.T) {
	another := []step{{"Another server", "Another<enter>"}, {"Address:", "<ctrl+u>KEYED<enter>" + canary + "<enter>"}, {"› small", "<ctrl+c>"}}
	for name, steps := range map[string][]step{
		"first":       {{"Which model", "<esc>"}},
		"the key":     {{"› Cloud: paste", "<enter>"}, {"› OpenAI", "<enter>"}, {"Key:", canary + "<ctrl+c>"}},
		"the address": {another[0], {"Address:", "x<ctrl+d>"}},
		"the model":   another,
	} {
		t.Run(name, func(t *testing.T) {
			pl := newPlace(t, false)
			for i := range steps {
				steps[i].does = strings.ReplaceAll(steps[i].does, "KEYED", pl.keyed)
			}
			got := pl.walk(t, "left-"+strings.ReplaceAll(name, " ", "-"), 80, false, func(o Options) ([]string, error) { return Model(t.Context(), o) }, steps)
			if !errors.Is(got.err, ErrLeft) || !strings.Contains(got.err.Error(), "nothing was saved") {
				t.Errorf("%+v", got)
			}
			if all := pl.written(t); len(all) > 0 {
				t.Errorf("%q", all)
			}
		})
	}
}

// TestEscGoesBack goes back from each page to the one before, and on again.
func TestEscGoesBack(t *testing.T) {
	model := func(o Options) ([]string, error) { return Model(t.Context(), o) }
	for name, c := range map[string]struct {
		local, flat bool
		env         string
		steps       []step
		want        string
	}{
		"from a key": {steps: []step{
			{"› Cloud: paste", "<enter>"}, {"› OpenAI", "<enter>"}, {"Key:", "half<esc>"}, {"(?s)Paste.*Which provider.*› OpenAI", "<esc>"}, {"(?s)Which provider.*Which model.*› Cloud: paste", "<enter>"}, {"(?s)Which model.*Which provider.*› OpenAI", "<enter>"}, {"Key: *\n", canary + "<enter>"},
		}, want: "model: openai/gpt-4o\n"},
		"from an address": {steps: []step{
			{"Another server", "Another<enter>"}, {"Address:", "x<esc>"}, {"(?s)Which server.*Which model.*› Cloud: paste", "<enter>"}, {"› OpenAI", "<enter>"}, {"Key:", canary + "<enter>"},
		}, want: "model: openai/gpt-4o\n"},
		"from a model": {steps: []step{
			{"Another server", "Another<enter>"},
			{"Address:", "<ctrl+u>KEYED<enter>" + canary + "<enter>"},
			{"› small", "<esc>"},
			{"(?s)Which model of.*Which server.*Address: http://127", "<enter>" + canary + "<enter>"},
			{"(?s)Which model of.*Which model of.*› small", "<enter>"},
		}, want: "providers:\n  local:\n    base_url: KEYED\n    api_key_env: LOCAL_API_KEY\nmodel: local/small\n"},
		"from a copy": {local: true, steps: []step{
			{"› Local: ollama/qwen3:8b", "<enter>"},
			{"› Make qwen3:8b-32k", "<esc>"},
			{"(?s)More context.*› Local: ollama/qwen3:8b", "<enter>"},
			{"(?s)More context.*More context.*› Make", "<down><enter>"},
		}, want: "model: ollama/qwen3:8b\n"},
		"from a server": {env: canary, steps: []step{
			{"› Cloud: OpenAI\\s+with the key in", "<enter>"},
			{"› No", "<esc>"},
			{"(?s)Use this model server.*› Cloud: OpenAI\\s+with the key in", "<enter>"},
			{"(?s)To undo a yes.*To undo a yes.*› No", "<down><enter>"},
		}, want: "model: openai/gpt-4o\n"},
		"on plain lines": {flat: true, steps: []step{
			{"nothing to exit:", "1<enter>"},
			{"1 to 9, or nothing to go back:", "1<enter>"},
			{"not shown, or nothing to go back:", "<enter>"},
			{`(?s)Key, which.*1 to 9, or nothing to go back:\s*$`, "<enter>"},
			{"(?s)go back.*nothing to exit:", "1<enter>"},
			{`exit: 1\s(?s:.*)1 to 9, or nothing to go back:\s*$`, "1<enter>"},
			{`go back: 1\s(?s:.*)not shown, or nothing to go back:\s*$`, canary + "<enter>"},
		}, want: "model: openai/gpt-4o\n"},
	} {
		t.Run(name, func(t *testing.T) {
			pl := newPlace(t, c.local)
			t.Setenv("OPENAI_API_KEY", c.env)
			for i := range c.steps {
				c.steps[i].does = strings.ReplaceAll(c.steps[i].does, "KEYED", pl.keyed)
			}
			got := pl.walk(t, "back-"+strings.ReplaceAll(name, " ", "-"), 80, c.flat, model, c.steps)
			if d := cmp.Diff(strings.ReplaceAll(c.want, "KEYED", pl.keyed), pl.written(t)["config.yaml"]); d != "" || got.err != nil {
				t.Errorf("%v: %s", got.err, d)
			}
		})
	}
}

// TestV1IsTried enters an address without its /v1.
func TestV1IsTried(t *testing.T) {
	pl := newPlace(t, false)
	got := pl.walk(t, "v1", 80, false, func(o Options) ([]string, error) { return Model(t.Context(), o) }, []step{
		{"Another server", "Another<enter>"},
		{"Which server", "<ctrl+u>" + strings.TrimSuffix(pl.keyed, "v1") + "<enter>" + canary + "<enter>"},
		{"› small", "<enter>"},
	})
	want := "providers:\n  local:\n    base_url: " + pl.keyed + "\n    api_key_env: LOCAL_API_KEY\nmodel: local/small\n"
	if all := pl.written(t); got.err != nil || all["config.yaml"] != want || !strings.Contains(all["credentials.json"], pl.keyed) {
		t.Errorf("%+v, %q", got, all)
	}
}

// A key that cannot be checked is kept if the person agrees.
func TestUncheckedKey(t *testing.T) {
	pl := newPlace(t, false)
	t.Setenv("OPENAI_BASE_URL", nowhere)
	got := pl.walk(t, "unchecked", 80, false, func(o Options) ([]string, error) { return Model(t.Context(), o) }, []step{
		{"› Cloud: paste", "<enter>"},
		{"› OpenAI", "<enter>"},
		{"Key:", "wrong<enter>"},
		{"› Try again", "<enter>"},
		{"Key: *\n", canary + "<enter>"},
		{"(?s)could not be checked.*could not be checked.*› Try again", "<down><enter>"},
	})
	if all := pl.written(t); got.err != nil || !strings.Contains(all["credentials.json"], canary) || all["config.yaml"] != "model: openai/gpt-6.1-sol\n" {
		t.Errorf("%+v, %q", got, all)
	}
}

// A wrong key from the environment is an error that names the variable. Without a
// network the key may be used unchecked. A wrong stored key is asked for again.
func TestWrongKey(t *testing.T) {
	env := []step{{"› Cloud: OpenAI\\s+with the key in", "<enter>"}, {"› No", "<down><enter>"}}
	model := func(o Options) ([]string, error) { return Model(t.Context(), o) }
	t.Run("wrong", func(t *testing.T) {
		pl := newPlace(t, false)
		t.Setenv("OPENAI_API_KEY", "wrong")
		got := pl.walk(t, "env-wrong", 80, false, model, env)
		if all := pl.written(t); got.err == nil || !strings.Contains(got.err.Error(), "The key comes from OPENAI_API_KEY") || len(all) > 0 {
			t.Errorf("%+v, %q", got, all)
		}
	})
	t.Run("no network", func(t *testing.T) {
		pl := newPlace(t, false)
		t.Setenv("OPENAI_API_KEY", canary)
		t.Setenv("OPENAI_BASE_URL", nowhere)
		got := pl.walk(t, "env-unchecked", 80, false, model, append(env, step{"› Try again", "<down><enter>"}))
		if all := pl.written(t); got.err != nil || all["config.yaml"] != "model: openai/gpt-6.1-sol\n" || !strings.Contains(all["servers.json"], nowhere) || len(all) != 2 {
			t.Errorf("%+v, %q", got, all)
		}
	})
	t.Run("kept and revoked", func(t *testing.T) {
		pl := newPlace(t, false)
		if _, err := keystore.Open(pl.cfg.Home).Put(t.Context(), pl.keyed, "revoked"); err != nil {
			t.Fatal(err)
		}
		got := pl.walk(t, "kept-revoked", 80, false, model, []step{{"› Cloud: OpenAI\\s+with the saved key", "<enter>"}, {"Key:", canary + "<enter>"}})
		if all := pl.written(t); got.err != nil || !strings.Contains(all["credentials.json"], canary) {
			t.Errorf("%+v, %q", got, all)
		}
	})
}

// A wrong address of an unknown server is explained, and asked for again.
func TestWrongAddress(t *testing.T) {
	pl := newPlace(t, false)
	retry := func(wait, address, key string) step {
		return step{wait, "<ctrl+u>" + address + "<enter>" + key + "<enter>"}
	}
	got := pl.walk(t, "addresses", 80, false, func(o Options) ([]string, error) { return Model(t.Context(), o) }, []step{
		{"Another server", "Another<enter>"},
		retry("Which server", "nonsense", ""),
		retry("That is not an address", "https://me:secret@127.0.0.1/v1", ""),
		retry("would be shown", "http://models.example/v1", canary),
		retry("anyone on the way", nowhere, ""),
		retry("does not answer", pl.open+"/nothing", ""),
		retry("was not found", pl.open, ""),
		{"› gemma:2b", "<enter>"},
	})
	if all := pl.written(t); got.err != nil || all["config.yaml"] != "providers:\n  local:\n    base_url: "+pl.open+"\nmodel: local/gemma:2b\n" || len(all) != 1 {
		t.Errorf("%+v, %q", got, all)
	}
}

// A chosen model without a key asks for the key alone.
func TestTheKeyOfAModel(t *testing.T) {
	pl := newPlace(t, false)
	m, err := pl.cfg.Lookup("openai/gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	got := pl.walk(t, "key", 80, false, func(o Options) ([]string, error) { return Key(t.Context(), o, m) }, []step{{"Key:", canary + "<enter>"}})
	all := pl.written(t)
	if got.err != nil || len(all) != 1 || !strings.Contains(all["credentials.json"], canary) || !strings.Contains(strings.Join(got.notes, "\n"), "the key is saved in") {
		t.Errorf("%+v, %q", got, all)
	}
}

// A stored key is used again.
func TestStoredKey(t *testing.T) {
	pl := newPlace(t, false)
	first := []step{{"› Cloud: paste", "<enter>"}, {"› OpenAI", "<enter>"}, {"Key:", canary + "<enter>"}}
	again := []step{{"› Cloud: OpenAI\\s+with the saved key", "<enter>"}}
	for i, steps := range [][]step{first, again} {
		got := pl.walk(t, fmt.Sprintf("given-%d", i), 80, false, func(o Options) ([]string, error) { return Model(t.Context(), o) }, steps)
		if got.err != nil {
			t.Fatal(got.err)
		}
	}
}

// A new server is named after its host, with a number if the name is taken.
func TestTheNameOfAServer(t *testing.T) {
	c := &chooser{Options: Options{Config: config.Config{Providers: map[string]config.Provider{
		"mine": {BaseURL: "https://a.example/v1"}, "b-example": {BaseURL: "https://b.example/other"}, "local": {BaseURL: "http://127.0.0.1:1"},
	}}}}
	for address, want := range map[string]string{
		"https://models.example.com:8443/v1": "models-example-com", "https://a.example/v1": "mine", "https://b.example/v1": "b-example-2",
		"http://127.0.0.1:9/v1": "local-2", "https://openai/v1": "openai-2", "https://script/v1": "script-2", "https://[2001:db8::1]/v1": "2001-db8-1",
	} {
		if got := c.name(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

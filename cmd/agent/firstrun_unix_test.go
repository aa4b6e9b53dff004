//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// models is a proxy for behind that lists models to clients with the key; an empty key
// admits all.
func models(t *testing.T, behind *llmtest.Server, list, key string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case key != "" && r.Header.Get("Authorization") != "Bearer "+key:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"wrong key"}}`) // the client may have gone
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, list) // the client may have gone
		case r.URL.Path == "/v1/chat/completions":
			behind.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// fresh returns a desk without any settings.
func fresh(t *testing.T, server *llmtest.Server, env ...string) *desk {
	d := newDesk(t, server, nil)
	d.env = append(d.env, "AGENT_MODEL=", "OPENAI_API_KEY=", "OPENROUTER_API_KEY=", "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=")
	d.env = append(d.env, env...)
	return d
}

func (d *desk) kept(name string) string {
	d.t.Helper()
	return scratch.Read(d.t, filepath.Join(d.home, name))
}

func TestTheFirstRunFindsALocalModel(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.", "Hello.")
	address := models(t, server, `{"data":[{"id":"small"},{"id":"large"}]}`, "")
	for _, size := range [][2]int{{40, 16}, {100, 30}} {
		d := fresh(t, server)
		d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+address+"\n")
		d.begin(size[0], size[1])
		d.WaitFor(`(?s)Which model\?.*Local: ollama/small.*ollama/large.*Cloud: paste an`)
		d.Press("esc")
		if code := d.Wait(); code != 1 {
			t.Errorf("exit status %d", code)
		}
		d.WaitFor(`exited without an answer`)
		d.restored()

		d.begin(size[0], size[1])
		d.WaitFor(`(?s)ollama/large.*Esc exits`)
		d.Type("lar")
		d.WaitFor(`filter: lar`)
		d.Press("enter")
		d.WaitFor(`(?s)Using ollama/large.*❯ \(Tab\) Write a small command`)
		d.Press("tab")
		d.WaitFor(`❯ Write a small command-line`)
		d.Press("enter")
		d.WaitFor(`Hello\.`)
		d.idle()
		d.leave()
		if got := d.kept("config.yaml"); !strings.Contains(got, "model: ollama/large") {
			t.Error(got)
		}
		d.sit() // is not asked again
		d.leave()
	}
}

func TestTheFirstRunTakesAKey(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.")
	d := fresh(t, server)
	d.env = append(d.env, "OPENAI_BASE_URL="+d.serves(models(t, server, `{"data":[{"id":"text-embedding"},{"id":"test-model"}]}`, canary)))
	d.begin(80, 24, "hi")
	d.WaitFor(`(?s)Cloud: paste an API key.*Esc exits`)
	d.Press("enter")
	d.WaitFor(`(?s)Which provider.*› OpenAI.*Anthropic.*Esc back`)
	d.Press("enter")
	d.WaitFor(`Paste the key`)
	d.Paste("sk-wrong\n")
	d.WaitFor(`8 characters`)
	d.Press("enter")
	d.WaitFor(`refused the API key: wrong key`)
	d.keyed = []string{"credentials.json"} // without a keyring
	d.Paste(canary)
	d.WaitFor(`14 characters`)
	d.Press("enter")
	d.WaitFor(`(?s)key is saved in.*credentials\.json.*Using openai/test-model.*❯ hi.*Hello\.`)
	d.idle()
	if strings.Contains(d.Screen(), "(Tab)") {
		t.Error("a first prompt is suggested to who has given one")
	}
	if strings.Contains(string(d.Bytes()), canary) || strings.Contains(d.kept("config.yaml"), canary) {
		t.Error("the key was shown, or is in the configuration")
	}
	info, err := os.Stat(filepath.Join(d.home, "credentials.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	d.leave()
}

func TestTheFirstRunUsesAKeyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.")
	d := fresh(t, server)
	d.env = append(d.env, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+d.serves(models(t, server, `{"data":[{"id":"a"},{"id":"gpt-4o"}]}`, canary)))
	d.begin(80, 24, "config", "model")
	d.WaitFor(`(?s)with the key in OPENAI_API_KEY.*Esc exits`)
	d.Type("OPENAI_API_KEY")
	d.WaitFor(`› Cloud: OpenAI +with the key`)
	d.Press("enter")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.WaitFor(`Using openai/gpt-4o \(recommended, of 2 models\)`)
	if _, err := os.Stat(filepath.Join(d.home, "credentials.json")); err == nil {
		t.Error("a key of the environment was kept")
	}
}

// The questions also appear on terminals that only print lines, and for screen readers.
func TestTheFirstRunOnPlainLines(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.", "Hello.")
	address := models(t, server, `{"data":[{"id":"small"}]}`, "")
	for name, env := range map[string]string{"dumb": "TERM=dumb", "a screen reader": "AGENT_INTERFACE_SCREEN_READER=true"} {
		t.Run(name, func(t *testing.T) {
			d := fresh(t, server, env)
			d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+address+"\n")
			d.begin(80, 30)
			d.WaitFor(`(?s)Which model\?.*1: Local: ollama/small.*or nothing to exit:`)
			d.Type("1\r")
			d.WaitFor(`(?s)Using ollama/small.*Try: Write a small`)
			d.Type("hi\r")
			d.WaitFor(`Hello\.`)
			d.Type("/quit\r")
			if code := d.Wait(); code != 0 {
				t.Errorf("exit status %d", code)
			}
			if strings.Contains(string(d.Bytes()), "\x1b[") {
				t.Errorf("an escape sequence: %q", d.Bytes())
			}
		})
	}
}

// A missing key leads to the question for the key, not to an error.
func TestAMissingKeyIsAskedFor(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.")
	d := fresh(t, server, "AGENT_MODEL=corp/test-model")
	d.keep("config.yaml", "providers:\n  corp:\n    base_url: "+d.serves(models(t, server, `{"data":[{"id":"test-model"}]}`, canary))+"\n    api_key_env: CORP_KEY\n")
	d.begin(80, 24)
	d.WaitFor(`(?s)Paste the key for http://127.*corp/test-model needs it.*CORP_KEY is not set.*Key:`)
	d.Type("/model x")
	d.Press("enter")
	d.WaitFor(`(?s)That does not look like a key: it is a command.*Key:`)
	d.keyed = []string{"credentials.json"} // without a keyring
	d.Paste(canary)
	d.WaitFor(`14 characters`)
	d.Press("enter")
	d.WaitFor(`(?s)the key is saved in.*❯`)
	d.say("hi")
	d.WaitFor(`Hello\.`)
	d.idle()
	d.leave()
}

// A project with files of its own is asked about first, then the model, then its key:
// whatever the size of the terminal, its title is in sight.
func TestTheFirstRunAsksInOrder(t *testing.T) {
	t.Parallel()
	server := answers(t, "Hello.")
	d := fresh(t, server)
	d.env = append(d.env, "OPENAI_BASE_URL="+d.serves(models(t, server, `{"data":[{"id":"one"},{"id":"two"}]}`, canary)))
	scratch.Mkdir(t, d.path(".agent/commands"))
	d.write(".agent/commands/hello.md", "Say hello.")
	d.begin(100, 30)
	d.WaitFor(`(?s)Trust the files of this project\? \(1 of 2\)\s+agent is a coding agent.*No +work without 1 command.*Esc exits`)
	d.choose("2")
	d.WaitFor(`(?s)Which model\? \(2 of 2\).*Cloud: paste an.*Esc exits`)
	d.Press("enter")
	d.WaitFor(`(?s)Which provider.*› OpenAI.*Esc back`)
	d.Press("enter")
	d.WaitFor(`Enter confirms`)
	d.keyed = []string{"credentials.json"} // without a keyring
	d.Paste(canary)
	d.WaitFor(`14 characters`)
	d.Press("enter")
	d.WaitFor(`(?s)Which model of openai\?.*› one.*two.*Esc back`) // none is known: it is not taken in silence
	d.Press("enter")
	d.WaitFor(`(?s)Using openai/one\..*❯`)
	d.leave()
}

// The title of the question stays in sight, however long the list of files is.
func TestTheTitleOfTrustStays(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 15}, {80, 24}} {
		d := fresh(t, answers(t))
		scratch.Mkdir(t, d.path(".agent/commands"))
		for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			d.write(".agent/commands/"+name+".md", "Say hello.")
		}
		d.write("AGENTS.md", "Be brief.")
		d.begin(size[0], size[1])
		d.WaitFor(`(?s)Trust the files of this project\?.*› No +work without.*Esc exits`)
		for _, want := range []string{"agent is a coding agent", " a.md", " z.md", "AGENTS.md, 9 bytes"} {
			if all := strings.Join(d.History(), "\n"); !strings.Contains(all, want) {
				t.Errorf("%q is not above the question:\n%s", want, all)
			}
		}
		d.Press("esc")
		d.Wait()
	}
}

// Plain lines ask about a project's files too; an empty line leaves, a number answers.
func TestTrustOnPlainLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Hello."), nil)
	d.env = append(d.env, "TERM=dumb")
	scratch.Mkdir(t, d.path(".agent/commands"))
	d.write(".agent/commands/hello.md", "Say hello.")
	d.begin(80, 24)
	d.WaitFor(`(?s)Trust the files.*hello\.md.*2: Yes, use them.*or nothing to exit:`)
	d.Type("\r")
	if code := d.Wait(); code != 1 {
		t.Errorf("exit status %d", code)
	}
	if _, err := os.Stat(filepath.Join(d.home, "trust.json")); err == nil {
		t.Error("an answer was kept of who left")
	}
	d.begin(80, 24)
	d.WaitFor(`or nothing to exit:`)
	d.Type("2\r")
	d.WaitFor(`(?s)openai/test.*\n\n>`) // wrapped anywhere: the folder's name has no fixed length
	d.Type("/hello\r")
	d.WaitFor(`Hello\.`)
	d.Type("/quit\r")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if !strings.Contains(d.kept("trust.json"), `"trusted": true`) {
		t.Error(d.kept("trust.json"))
	}
}

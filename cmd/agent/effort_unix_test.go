//go:build unix

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// The effort changes by key and by command, goes out in the form of each wire, and a
// resumed session has it again.
func TestEffortOnEveryWire(t *testing.T) {
	t.Parallel()
	for wire, form := range map[string]string{
		"anthropic": `"output_config":{"effort":"LEVEL"}`,
		"responses": `"reasoning":{"effort":"LEVEL","summary":"auto"}`,
		"chat":      `"reasoning_effort":"LEVEL"`,
	} {
		t.Run(wire, func(t *testing.T) {
			d := newDesk(t, answers(t, "One.", "Two.", "Three."), nil)
			d.keep("config.yaml", "providers:\n  mine:\n    base_url: "+d.server.URL()+"\n    wire: "+wire+"\n    models:\n      large: {}\n")
			d.sit("--model", "mine/large")
			sent := func(n int, level string) {
				t.Helper()
				body := string(d.server.Requests()[n])
				if want := strings.ReplaceAll(form, "LEVEL", level); level == "" && strings.Contains(body, `"effort"`) || level != "" && !strings.Contains(body, want) {
					t.Errorf("request %d, effort %q: %s", n, level, body)
				}
			}
			d.say("first")
			d.WaitFor(`One\.`)
			d.idle()
			sent(0, "")
			d.Press("ctrl+t")
			d.WaitFor(`(?m)mine/large · effort low`)
			d.Press("ctrl+t")
			d.WaitFor(`(?m)mine/large · effort medium`)
			d.say("second")
			d.WaitFor(`Two\.`)
			d.idle()
			sent(1, "medium")
			d.say("/model effort=high")
			d.WaitFor(`Effort: high`)
			d.WaitFor(`(?m)mine/large · effort high`)
			d.say("third")
			d.WaitFor(`Three\.`)
			d.idle()
			sent(2, "high")
			d.leave()
			d.sit("-c", "--model", "mine/large")
			d.WaitFor(`(?m)mine/large · effort high`)
			d.Press("ctrl+t")
			d.WaitFor(`effort: the model's default`)
			d.leave()
		})
	}
}

// A model whose server has refused an effort has none to change; the key explains that.
func TestEffortThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		if strings.Contains(string(body), "reasoning_effort") {
			return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"Unsupported parameter: 'reasoning_effort' is not supported with this model.","type":"invalid_request_error","param":"reasoning_effort"}}`)
		}
		return llmtest.Turn{Text: "Here."}
	}), nil)
	d.sit()
	d.Press("ctrl+t")
	d.WaitFor(`effort low`)
	d.say("are you there?")
	d.WaitFor(`Here\.`)
	d.idle()
	d.gone("effort low")
	d.Press("ctrl+t")
	d.WaitFor(`has no effort to change: its server does not take one`)
	d.leave()
}

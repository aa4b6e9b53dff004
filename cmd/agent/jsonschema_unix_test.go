//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

const verdictSchema = `{"type":"object","properties":{"ok":{"type":"boolean"},"files":{"type":"array","items":{"type":"string"}}},"required":["ok","files"],"additionalProperties":false}`

// asksFor returns the part of a request in which a wire has the form of the answer.
func asksFor(t *testing.T, body []byte) any {
	t.Helper()
	var req struct {
		Text struct {
			Format any `json:"format"`
		} `json:"text"`
		Response any `json:"response_format"`
		Output   struct {
			Format any `json:"format"`
		} `json:"output_config"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	for _, form := range []any{req.Text.Format, req.Response, req.Output.Format} {
		if form != nil {
			return form
		}
	}
	return nil
}

// TestJSONSchema: with --json-schema the answer is valid or the run fails, on each wire, whether its
// server knows such answers or refuses them; the model gets a second try.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	const valid = `{"ok":true,"files":["a.txt"]}`
	for _, c := range []struct {
		name     string
		answers  []string
		refuses  bool
		code     int
		out, err string
		requests int
	}{
		{"valid", []string{valid}, false, 0, valid + "\n", "", 2},
		{"in a block", []string{"```json\n" + valid + "\n```"}, false, 0, valid + "\n", "", 2},
		{"the second time", []string{"It is fine.", valid}, false, 0, valid + "\n", "asked again", 3},
		{"never", []string{`{"ok":"yes","files":[]}`, `{"ok":true}`}, false, 1, "", "the answer is not valid against the JSON Schema: ", 3},
		{"refused", []string{"{}", valid}, true, 0, valid + "\n", "asked again", 4},
	} {
		for wire, judge := range map[string]func([]byte) error{
			"chat": transcriptjudge.Check, "responses": transcriptjudge.CheckResponses, "anthropic": transcriptjudge.CheckMessages,
		} {
			given := 0
			s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				form := asksFor(t, body)
				switch {
				case c.refuses && form != nil:
					param := map[string]string{"chat": "response_format", "responses": "text.format", "anthropic": "output_config.format"}[wire]
					return llmtest.Raw(400, "application/json", fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":"Unsupported parameter: %q is not supported with this model."}}`, param))
				case !c.refuses && (form == nil || !strings.Contains(fmt.Sprint(form), "additionalProperties:false")):
					t.Errorf("%s, %s: %v", c.name, wire, form)
				case !strings.Contains(string(body), "files"):
					t.Errorf("%s, %s: the model does not know the schema", c.name, wire)
				}
				if given++; given == 1 {
					return callOf("read_file", `{"path":"a.txt"}`)
				}
				return llmtest.Turn{Text: c.answers[given-2]}
			})
			d := newDesk(t, s, map[string]string{"a.txt": "a\n", "schema.json": verdictSchema})
			d.eyes(wire, true)
			cmd := d.program("-p", "check it", "--json-schema", "schema.json")
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if _, failed := err.(*exec.ExitError); err != nil && !failed { //nolint:errorlint // Output returns it bare
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code || string(out) != c.out || !strings.Contains(said.String(), c.err) {
				t.Errorf("%s, %s: exit status %d, %q, %q", c.name, wire, code, out, said.String())
			}
			if n := len(s.Requests()); n != c.requests {
				t.Errorf("%s, %s: %d requests", c.name, wire, n)
			}
			for _, body := range s.Requests() {
				if err := judge(body); err != nil {
					t.Errorf("%s, %s: %v in %s", c.name, wire, err, body)
				}
			}
		}
	}
}

// The JSON output has the value, or the reason why there is none.
func TestJSONSchemaInJSON(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, `{"ok": true, "files": []}`, "no", "no"), map[string]string{"schema.json": verdictSchema, "broken.json": `{"type":7}`})
	for i, want := range []string{`"is_error":false,"result":"{\"ok\": true, \"files\": []}","structured_output":{"ok":true,"files":[]},`, `"is_error":true,"result":"the answer is not valid against the JSON Schema: it is not one JSON value`} {
		cmd := d.program("-p", "check it", "--json-schema", "schema.json", "--output-format", "json")
		out, err := cmd.Output()
		if (err != nil) != (i == 1) || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, args := range [][]string{{"-p", "x", "--json-schema", "none.json"}, {"-p", "x", "--json-schema", "broken.json"}, {"--json-schema", "schema.json"}} {
		if code, out := d.command(args...); code != 2 || !strings.Contains(out, "--json-schema") {
			t.Errorf("%q: exit status %d: %s", args, code, out)
		}
	}
	if n := len(d.server.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

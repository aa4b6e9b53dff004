//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// Each model is offered the tools for changing files that suit it, from the next request
// on; one that calls another is understood.
func TestOfferedTools(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t,
		llmtest.Turn{Text: "One."}, llmtest.Turn{Text: "Two."},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "append_file", Args: `{"path":"a.txt","content":"b"}`}}}, llmtest.Turn{Text: "Three."})
	d := newDesk(t, server, map[string]string{"a.txt": "a\n"})
	d.sit("--permission-mode", "accept-edits")
	offers := func(request int, want, lacks string) {
		t.Helper()
		body := string(d.request(request))
		if !strings.Contains(body, `"name":"`+want+`"`) || strings.Contains(body, `"name":"`+lacks+`"`) || strings.Contains(body, `"name":"append_file"`) {
			t.Errorf("request %d offers not %s, or %s:\n%s", request, want, lacks, body)
		}
	}
	d.say("first")
	d.WaitFor(`One\.`)
	d.idle()
	offers(0, "edit_file", "patch")
	d.say("/model openai/gpt-5.1")
	d.idle()
	d.say("second")
	d.WaitFor(`Two\.`)
	d.idle()
	offers(1, "patch", "edit_file")
	d.say("third")
	d.WaitFor(`Three\.`)
	d.idle()
	d.leave()
	if got := d.read("a.txt"); got != "a\nb\n" {
		t.Errorf("a.txt holds %q", got)
	}
}

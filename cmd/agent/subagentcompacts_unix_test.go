//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// tabs is the instruction of a folder.
const tabs = "Use tabs in this folder."

// surveyor is a model whose sub-agent reads six files; then its conversation is too long for
// the server. It goes on with another file.
type surveyor struct {
	t       *testing.T
	thought string         // of the sub-agent, before each call
	whole   *regexp.Regexp // the name of the file with the shortened parts, which it reads; nil for none

	steps  int
	bodies []string // of the sub-agent's requests
	notes  int      // requests for a summary
}

func (s *surveyor) answer(_ int, body []byte) llmtest.Turn {
	if err := transcriptjudge.Check(body); err != nil {
		s.t.Errorf("%v in %s", err, body)
	}
	prompt, results := promptOf(body)
	switch {
	case strings.Contains(prompt, "delegate") && len(results) == 0:
		return callOf("task", `{"description":"survey","prompt":"do the survey"}`)
	case strings.Contains(prompt, "delegate"):
		return llmtest.Turn{Text: "All is done: " + strings.Join(results, " ")}
	case !strings.Contains(string(body), "You are a sub-agent"):
		s.notes++
		return llmtest.Turn{Text: "NOTES OF THE SURVEY"}
	}
	s.steps++
	s.bodies = append(s.bodies, string(body))
	turn := callOf("read_file", fmt.Sprintf(`{"path":"sub/f%d.txt"}`, s.steps))
	turn.Text = s.thought
	switch {
	case s.steps < 7:
		return turn
	case s.steps == 7:
		return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"This model's maximum context length is 12000 tokens. However, your messages resulted in 12100 tokens.","code":"context_length_exceeded"}}`)
	case s.steps == 8 && s.whole != nil:
		turn.Calls = append(turn.Calls, llmtest.Call{Name: "read_file", Args: fmt.Sprintf(`{"path":%q,"offset":150,"limit":100}`, s.whole.FindString(string(body)))})
		return turn
	case s.steps == 8:
		return turn
	}
	return llmtest.Turn{Text: "<the end of the survey>"}
}

// TestASubAgentIsCompacted: a sub-agent whose conversation does not fit the model goes on, with
// its results shortened or with a summary. The instructions that are gone are told again, the
// shortened parts can be read, the model gets the answer, and the session keeps all.
func TestASubAgentIsCompacted(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*surveyor{
		"shortened": {t: t, whole: regexp.MustCompile(`/[^ "]*/task-[A-Z0-9]+\.md`)},
		"summary":   {t: t, thought: strings.Repeat("I think about it. ", 300)},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			files := map[string]string{"sub/AGENTS.md": tabs + "\n"}
			for i := range 9 {
				files[fmt.Sprintf("sub/f%d.txt", i)] = strings.Repeat(fmt.Sprintf("line of file %d\n", i), 400)
			}
			d := newDesk(t, llmtest.NewServerFunc(t, s.answer), files)
			code, out := d.command("-p", "delegate", "--trust")
			if code != 0 || strings.TrimSpace(out) != "All is done: <the end of the survey>" {
				t.Errorf("exit status %d: %s", code, out)
			}
			if len(s.bodies) != 9 {
				t.Fatalf("%d requests of the sub-agent", len(s.bodies))
			}
			if len(s.bodies[7]) > len(s.bodies[6])/2 || !strings.Contains(s.bodies[7], "do the survey") {
				t.Errorf("after %d bytes the sub-agent sends %d: %s", len(s.bodies[6]), len(s.bodies[7]), s.bodies[7])
			}
			if (s.notes > 0) != (s.whole == nil) || strings.Contains(s.bodies[7], "NOTES OF THE SURVEY") != (s.whole == nil) {
				t.Errorf("%d requests for a summary, then %s", s.notes, s.bodies[7])
			}
			if !strings.Contains(s.bodies[1], tabs) || strings.Count(s.bodies[6], tabs) != 1 || !strings.Contains(s.bodies[8], tabs) {
				t.Error("the instructions of the folder are not told once before and again after")
			}
			if s.whole != nil && !strings.Contains(s.bodies[8], "200 | line of file 1") {
				t.Errorf("the shortened part cannot be read: %s", s.bodies[8])
			}
			d.keeps("line of file 1", "line of file 8", "the end of the survey")
		})
	}
}

// keeps checks that the session holds each text.
func (d *desk) keeps(texts ...string) {
	d.t.Helper()
	all, err := filepath.Glob(filepath.Join(d.home, "sessions", "*", "*.jsonl"))
	if err != nil || len(all) != 1 {
		d.t.Fatalf("%q, %v", all, err)
	}
	kept, err := os.ReadFile(all[0])
	if err != nil {
		d.t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(kept), text) {
			d.t.Errorf("the session does not hold %q", text)
		}
	}
}

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// spenders returns a server whose model gives three parts of its work to sub-agents: part n costs
// two requests of n+1 thousand tokens. A part that is endless reads for ever.
func spenders(t *testing.T, endless bool) *llmtest.Server {
	t.Helper()
	part := regexp.MustCompile(`do part ([0-9])`)
	return llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		text := string(body)
		usage := &llmtest.Usage{Input: 500, Output: 10}
		var turn llmtest.Turn
		switch {
		case strings.Contains(text, "You are a sub-agent"):
			n, err := strconv.Atoi(part.FindStringSubmatch(text)[1])
			if err != nil {
				t.Error(err)
			}
			usage = &llmtest.Usage{Input: 1000 * (n + 1), Output: 100}
			if turn = callOf("read_file", `{"path":"a.txt"}`); strings.Contains(text, "the content of a") && !endless {
				turn = llmtest.Turn{Text: fmt.Sprintf("Part %d is over.", n)}
			}
		case !strings.Contains(text, "Part 2 is over.") && !endless || endless && !strings.Contains(text, "The task was"):
			turn = llmtest.Turn{Text: "I delegate."}
			for n := range 3 {
				turn.Calls = append(turn.Calls, llmtest.Call{Name: "task", Args: fmt.Sprintf(`{"description":"part %d","prompt":"do part %[1]d"}`, n)})
			}
		default:
			turn = llmtest.Turn{Text: "All is done."}
		}
		turn.Usage = usage
		return turn
	})
}

// pays sets up a model of a wire with prices: a token in costs $0.00001, one out $0.0001.
func (d *desk) pays(wire, more string) {
	d.keep("config.yaml", fmt.Sprintf("providers:\n  mine:\n    base_url: %s\n    wire: %s\n    models:\n      large: {price_input: 10, price_output: 100}\n%s", d.server.URL(), wire, more))
	d.env = append(d.env, "AGENT_MODEL=mine/large", "OPENAI_BASE_URL=")
}

// TestCostsOfHelpers: the tokens and the cost of each sub-agent are in the JSON of -p, at its end in
// the terminal and in /cost, on each wire, and are parts of the turn's.
func TestCostsOfHelpers(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"chat", "responses", "anthropic"} {
		d := newDesk(t, spenders(t, false), map[string]string{"a.txt": "the content of a\n"})
		d.pays(wire, "")
		code, out := d.command("-p", "delegate", "--output-format", "json")
		var result struct {
			CostUSD   float64 `json:"cost_usd"`
			SubAgents []struct {
				Title string
				Usage struct {
					Input int64 `json:"input_tokens"`
				}
				CostUSD float64 `json:"cost_usd"`
			} `json:"sub_agents"`
		}
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || len(result.SubAgents) != 3 {
			t.Fatalf("%s: %d, %v: %s", wire, code, err, out)
		}
		sum := 2 * (500*0.00001 + 10*0.0001)
		for n, s := range result.SubAgents {
			want := 2 * (float64(n+1)*1000*0.00001 + 100*0.0001)
			sum += want
			if s.Title != fmt.Sprintf("task: part %d", n) || s.Usage.Input != int64(2000*(n+1)) || math.Abs(s.CostUSD-want) > 1e-9 {
				t.Errorf("%s: part %d: %+v, want $%v", wire, n, s, want)
			}
		}
		if math.Abs(result.CostUSD-sum) > 1e-9 {
			t.Errorf("%s: $%v, want %v", wire, result.CostUSD, sum)
		}
	}
	d := newDesk(t, spenders(t, false), map[string]string{"a.txt": "the content of a\n"})
	d.pays("chat", "")
	cmd := d.program()
	cmd.Stdin = strings.NewReader("delegate\n/cost\n")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"task: part 2: done, 1 call · 6,200 tokens, $0.0800", "Of these, 3 sub-agents: 12.0k tokens in, 600 out, $0.1800\n  task: part 0: 2.0k tokens in, 200 out, $0.0400\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("no %q, %v: %s", want, err, out)
		}
	}
	d.sit()
	d.say("delegate")
	d.WaitFor(`part 2.*\n?.*6,200 tokens, \$0\.0800`)
	d.WaitFor(`All is done`)
	d.idle()
	d.say("/cost")
	d.WaitFor(`Of these, 3 sub-agents: 12\.0k tokens in, 600 out, \$0\.1800`)
	d.leave()
}

// TestHelpersEndWithTheBudget: sub-agents that never end stop with the budget of the session.
func TestHelpersEndWithTheBudget(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"chat", "responses", "anthropic"} {
		d := newDesk(t, spenders(t, true), map[string]string{"a.txt": "the content of a\n"})
		d.pays(wire, "max_cost_usd: 0.1\n")
		code, out := d.prompted()
		estimate := regexp.MustCompile(`3 sub-agents begin: each of their requests costs about \$0\.0\d{3} or more, and \$0\.09\d* of \$0\.10? \(max_cost_usd\) are left`)
		if code != 1 || !strings.Contains(out, "(max_cost_usd)") || strings.Count(out, "sub-agents begin") != 1 || !estimate.MatchString(out) {
			t.Errorf("%s: exit status %d: %s", wire, code, out)
		}
		// One request of the parent, and of each sub-agent at most one that began within the budget.
		if n := len(d.server.Requests()); n > 9 {
			t.Errorf("%s: %d requests", wire, n)
		}
	}
}

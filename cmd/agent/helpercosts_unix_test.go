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
	d.keep("config.yaml", fmt.Sprintf("providers:\n  mine:\n    base_url: %s\n    wire: %s\n    models:\n      large: {price_input: 10, price_output: 100, context_window: 200000}\n%s", d.server.URL(), wire, more))
	d.env = append(d.env, "AGENT_MODEL=mine/large", "OPENAI_BASE_URL=")
}

// TestCostsOfHelpers: on each wire, the tokens and the cost of each sub-agent are in the JSON of -p, at
// its end and in /cost without and in a terminal, and at its end for a host, and are parts of the turn's.
func TestCostsOfHelpers(t *testing.T) {
	t.Parallel()
	faces := map[string]func(*desk){"json": (*desk).costsInJSON, "lines": (*desk).costsInLines, "terminal": (*desk).costsInTerminal, "acp": (*desk).costsForHost}
	for _, wire := range []string{"chat", "responses", "anthropic"} {
		for face, check := range faces {
			t.Run(wire+"/"+face, func(t *testing.T) {
				d := newDesk(t, spenders(t, false), map[string]string{"a.txt": "the content of a\n"})
				d.pays(wire, "")
				check(d)
			})
		}
	}
}

// partCost is the cost in USD of part n of the spenders, delegateCost that of all, with the parent's.
func partCost(n int) float64 { return 2 * (float64(n+1)*1000*0.00001 + 100*0.0001) }

func delegateCost() float64 {
	return partCost(0) + partCost(1) + partCost(2) + 2*(500*0.00001+10*0.0001)
}

func (d *desk) costsInJSON() {
	d.t.Helper()
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
		d.t.Fatalf("%d, %v: %s", code, err, out)
	}
	for n, s := range result.SubAgents {
		if s.Title != fmt.Sprintf("task: part %d", n) || s.Usage.Input != int64(2000*(n+1)) || math.Abs(s.CostUSD-partCost(n)) > 1e-9 {
			d.t.Errorf("part %d: %+v, want $%v", n, s, partCost(n))
		}
	}
	if math.Abs(result.CostUSD-delegateCost()) > 1e-9 {
		d.t.Errorf("$%v, want %v", result.CostUSD, delegateCost())
	}
}

func (d *desk) costsInLines() {
	d.t.Helper()
	cmd := d.program()
	cmd.Stdin = strings.NewReader("delegate\n/cost\n")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"task: part 2: done, 1 call · 6,200 tokens, $0.0800", "Of these, 3 sub-agents: 12.0k tokens in, 600 out, $0.1800\n  task: part 0: 2.0k tokens in, 200 out, $0.0400\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			d.t.Errorf("no %q, %v: %s", want, err, out)
		}
	}
}

func (d *desk) costsInTerminal() {
	d.t.Helper()
	d.sit()
	d.say("delegate")
	d.WaitFor(`part 2.*\n?.*6,200 tokens, \$0\.0800`)
	d.WaitFor(`All is done`)
	d.idle()
	d.say("/cost")
	d.WaitFor(`Of these, 3 sub-agents: 12\.0k tokens in, 600 out, \$0\.1800`)
	d.leave()
}

func (d *desk) costsForHost() {
	d.t.Helper()
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1})
	id, _ := h.open()
	h.prompt(id, "delegate", "end_turn")
	h.end()
	seen, err := json.Marshal(h.whole["tool_call_update"])
	for n := range 3 {
		want := fmt.Sprintf("done, 1 call · %d,200 tokens, $%.4f", 2*(n+1), partCost(n))
		if err != nil || !strings.Contains(string(seen), want) {
			d.t.Errorf("no %q, %v: %s", want, err, seen)
		}
	}
	fills := h.whole["usage_update"]
	if len(fills) == 0 {
		d.t.Fatal("no usage")
	}
	cost, _ := fills[len(fills)-1]["cost"].(map[string]any)
	if amount, _ := cost["amount"].(float64); cost["currency"] != "USD" || math.Abs(amount-delegateCost()) > 1e-9 {
		d.t.Errorf("%v, want $%v", fills, delegateCost())
	}
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

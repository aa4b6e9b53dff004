package plain

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// askChoice returns the line that asks for the answer to a question of the model.
func askChoice(c *confirm.Choice) string {
	const own = "answer and your own words / n: no answer] "
	switch n := len(c.Options); n {
	case 0:
		return "Your answer? [" + own
	case 1:
		return "Your answer? [1 / " + own
	default:
		return fmt.Sprintf("Your answer? [1 to %d / %s", n, own)
	}
}

// describeChoice returns a question of the model with its options.
func describeChoice(c *confirm.Choice) string {
	var b strings.Builder
	b.WriteString(sanitize.Line(cmp.Or(c.From, "The model")) + " asks: " + strings.ReplaceAll(sanitize.Exact(c.Text), "\n", "\n  ") + "\n")
	for i, o := range c.Options {
		fmt.Fprintf(&b, "  %d %s\n", i+1, sanitize.Line(sanitize.Exact(o)))
	}
	return b.String()
}

// parseChoice parses the answer to a question of the model: a number, words after "answer",
// or a no. Any other line may be a prompt.
func parseChoice(first, rest string, c *confirm.Choice) (confirm.Verdict, meaning) {
	v := confirm.Verdict{By: confirm.Terminal}
	n, err := strconv.Atoi(first)
	switch word := strings.ToLower(strings.TrimRight(first, ",:;")); {
	case err == nil && rest == "" && n >= 1 && n <= len(c.Options):
		v.Decision, v.Answer = confirm.Approve, c.Options[n-1]
	case word == "answer" && rest != "":
		v.Decision, v.Answer = confirm.Approve, rest
	case word == "n" || word == "no":
		v.Feedback = rest
	case first == "":
		return v, unclear
	default:
		return v, prompts
	}
	return v, answers
}

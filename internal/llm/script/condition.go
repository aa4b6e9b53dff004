package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// condition lists the requirements of a turn on its request; all fields that are set must hold.
type condition struct {
	LastContains   string `yaml:"last_contains"`   // the last message
	LastMatches    string `yaml:"last_matches"`    // the last message; RE2
	PromptContains string `yaml:"prompt_contains"` // the user's last message
	ResultContains string `yaml:"result_contains"` // a tool result since the last answer
	SystemContains string `yaml:"system_contains"`
	AnyContains    string `yaml:"any_contains"` // any message
	NotContains    string `yaml:"not_contains"` // no message and not the system prompt
	ToolOffered    string `yaml:"tool_offered"`

	pattern *regexp.Regexp
}

func (c *condition) prepare() error {
	if c.LastMatches == "" {
		return nil
	}
	re, err := regexp.Compile(c.LastMatches)
	if err != nil {
		return fmt.Errorf("last_matches: %w", err)
	}
	c.pattern = re
	return nil
}

// unmet describes which part of c does not hold for req, and the actual value; empty if
// all of it holds.
func (c *condition) unmet(req llm.Request) string {
	last := ""
	if n := len(req.Messages); n > 0 {
		last = req.Messages[n-1].Text()
	}
	switch {
	case !strings.Contains(last, c.LastContains):
		return fmt.Sprintf("the last message to contain %q, but it is %s", c.LastContains, shown(last))
	case c.pattern != nil && !c.pattern.MatchString(last):
		return fmt.Sprintf("the last message to match %q, but it is %s", c.LastMatches, shown(last))
	case !strings.Contains(prompt(req), c.PromptContains):
		return fmt.Sprintf("the prompt to contain %q, but it is %s", c.PromptContains, shown(prompt(req)))
	case c.ResultContains != "" && !anyHas(results(req), c.ResultContains):
		return fmt.Sprintf("a tool result to contain %q, but the results are %s", c.ResultContains, shown(results(req)...))
	case !strings.Contains(req.System, c.SystemContains):
		return fmt.Sprintf("the system prompt to contain %q, but it is %s", c.SystemContains, shown(req.System))
	case c.AnyContains != "" && !anyHas(texts(req.Messages), c.AnyContains):
		return fmt.Sprintf("some message to contain %q, but none of %d does", c.AnyContains, len(req.Messages))
	case c.NotContains != "" && anyHas(append(texts(req.Messages), req.System), c.NotContains):
		return fmt.Sprintf("no message to contain %q, but one does", c.NotContains)
	case c.ToolOffered != "" && !slices.ContainsFunc(req.Tools, func(s llm.ToolSpec) bool { return s.Name == c.ToolOffered }):
		return fmt.Sprintf("the tool %q to be offered, but it is not among the %d that are", c.ToolOffered, len(req.Tools))
	}
	return ""
}

// prompt returns the text of the user's last message.
func prompt(req llm.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == llm.User {
			return m.Text()
		}
	}
	return ""
}

// results returns the tool results since the model's last answer.
func results(req llm.Request) []string {
	var out []string
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == llm.Assistant {
			break
		}
		if m.Role == llm.ToolReply {
			out = append(out, m.Text())
		}
	}
	slices.Reverse(out)
	return out
}

func texts(messages []llm.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Text())
	}
	return out
}

func anyHas(list []string, s string) bool {
	return slices.ContainsFunc(list, func(t string) bool { return strings.Contains(t, s) })
}

// shown quotes list, shortened in the middle.
func shown(list ...string) string {
	const most = 300
	var out []string
	for _, s := range list {
		if len(s) > most {
			s = strings.ToValidUTF8(s[:most/2], "") + " … " + strings.ToValidUTF8(s[len(s)-most/2:], "")
		}
		out = append(out, fmt.Sprintf("%q", s))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Explanation holds the answers about a command, and the reasons.
type Explanation struct {
	set    setup.Setup
	judged safecmd.Judgement
	rules  []permission.Covering // by part; Effect is zero without one
	modes  []Answer              // by mode
}

// Explain asks the policy of a session in dir about a command in each mode. more are rules
// besides those in force.
func Explain(ctx context.Context, set setup.Setup, dir string, more []setup.Written, line string) (e Explanation, err error) {
	rules, err := set.PermissionRules(dir, more)
	if err != nil {
		return e, err
	}
	root, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return e, err
	}
	e.set = set
	for mode := permission.Default; mode <= permission.Bypass; mode++ {
		with := OptionsOf(ctx, set, mode, rules)
		with.Root = root
		answers := New(with).Call("execute_command", args)
		if len(answers) == 0 {
			return e, setup.UsageError{Err: errors.New("there is no command to explain")}
		}
		e.modes = append(e.modes, answers[0])
	}
	e.judged = e.modes[0].Judged
	for i := range e.judged.Parts {
		e.rules = append(e.rules, rules.Covering(dir, e.judged.CommandPart(i, set.AsksAll())))
	}
	return e, nil
}

// OptionsOf returns the options, without a Root, to judge calls as a session with this setup
// would.
func OptionsOf(ctx context.Context, s setup.Setup, mode permission.Mode, rules permission.Rules) Options {
	return Options{Mode: mode, Rules: rules, Home: s.Home, Env: shell.Environ(os.Environ(), s.SecretEnv(), s.EnvKeep...), AskAll: s.AsksAll(), Trials: tries(ctx, s)}
}

// tries reports whether commands of sessions with this setup first run in a copy here.
func tries(ctx context.Context, s setup.Setup) bool {
	return s.Trial != "off" && trial.Probe(ctx, trial.StateIn(s.Home), nil).Missing == ""
}

// classes describes the classes of commands for people.
var classes = map[string]string{
	safecmd.Safe.String():   "read-only: runs without asking",
	safecmd.Ask.String():    "asks before it runs",
	safecmd.Danger.String(): "asks every time; no rule can skip it",
	tried:                   "runs in a copy of the folder first; its changes ask",
}

// tried is the class of a command that first runs in a copy.
const tried = "trial"

// class returns the class of the whole line.
func (e Explanation) class() string {
	if e.modes[permission.Default].Trial != nil {
		return tried
	}
	return e.judged.Class.String()
}

// Lines shows e to a person.
func (e Explanation) Lines() []string {
	class := e.class()
	lines := []string{class + ": " + classes[class]}
	for i, part := range e.judged.Parts {
		lines = append(lines, fmt.Sprintf("  %-6s  %s  (%s)", part.Class, part.Text, part.Reason))
		switch c := e.rules[i]; {
		case c.Why != "":
			lines = append(lines, "          rules: "+c.Why)
		case c.Effect != 0:
			lines = append(lines, fmt.Sprintf("          rule: %s %s  (%s)", c.Effect, c.Rule, c.Rule.Source))
		}
	}
	if why := e.modes[permission.Default].Untried; why != "" {
		lines = append(lines, "It cannot run in a copy of the folder first: it "+why+".")
	}
	switch {
	case e.judged.Class != safecmd.Safe:
	case e.set.SafeCommands == "ask":
		lines = append(lines, "But it asks: permissions.safe_commands is ask.")
	case e.set.Untrusted:
		lines = append(lines, "But it asks: this folder has settings that you have not trusted (agent trust add).")
	}
	for mode, a := range e.modes {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-13s %-8s %s", permission.Mode(mode).String(), outcome(a), why(a)), " "))
	}
	if rules := e.modes[permission.Default].Rules; len(rules) > 0 {
		lines = append(lines, "To allow it: "+ruleTexts(rules))
	}
	return lines
}

// outcome names an answer in a word.
func outcome(a Answer) string {
	switch {
	case a.Asks():
		return "asks"
	case a.Refused():
		return "refuses"
	case a.Verdict.Trial:
		return "tries"
	}
	return "runs"
}

// why explains an answer in a line.
func why(a Answer) string {
	switch {
	case a.Verdict.By != "":
		return a.Verdict.By
	case a.Verdict.Feedback != "":
		return a.Verdict.Feedback
	case a.Request.Force:
		return "asks every time; no rule can skip it"
	}
	return "no rule allows it"
}

func ruleTexts(rules []permission.Rule) string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.String()
	}
	return strings.Join(texts, " and ")
}

// The JSON form of an explanation.
type (
	explainedJSON struct {
		Class     string                 `json:"class"`             // of its parts the strictest, or trial
		Untried   string                 `json:"untried,omitempty"` // why it is not tried
		Parts     []partJSON             `json:"parts"`
		Verdicts  map[string]verdictJSON `json:"verdicts"` // by mode
		AllowWith []string               `json:"allow_with,omitempty"`
	}
	partJSON struct {
		safecmd.Part
		Rule *ruleJSON `json:"rule,omitempty"`
		Why  string    `json:"why,omitempty"` // without a rule that counts by itself
	}
	ruleJSON struct {
		Effect string `json:"effect"`
		Rule   string `json:"rule"`
		Source string `json:"source"`
	}
	verdictJSON struct {
		Verdict string `json:"verdict"` // runs, tries, asks or refuses
		Why     string `json:"why,omitempty"`
	}
)

// Object returns the JSON form of e.
func (e Explanation) Object() any {
	out := explainedJSON{Class: e.class(), Untried: e.modes[permission.Default].Untried, Parts: []partJSON{}, Verdicts: map[string]verdictJSON{}}
	for i, part := range e.judged.Parts {
		of := partJSON{Part: part, Why: e.rules[i].Why}
		if c := e.rules[i]; c.Effect != 0 && c.Why == "" {
			of.Rule = &ruleJSON{c.Effect.String(), c.Rule.String(), c.Rule.Source}
		}
		out.Parts = append(out.Parts, of)
	}
	for mode, a := range e.modes {
		out.Verdicts[permission.Mode(mode).String()] = verdictJSON{outcome(a), why(a)}
	}
	for _, r := range e.modes[permission.Default].Rules {
		out.AllowWith = append(out.AllowWith, r.String())
	}
	return out
}

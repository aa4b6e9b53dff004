package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/replay"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// newPermissions returns agent permissions, which explains and tests the questions.
func newPermissions(p Process, f *flags) *cobra.Command {
	var asJSON bool
	explain := &cobra.Command{
		Use: "explain 'COMMAND'", Short: "Show the class of a command in this folder, the rules for it, and what each mode does; nothing is run", Args: exactly(1),
		ValidArgsFunction: fixed(),
		Example: "  agent permissions explain 'ls -la | wc -l'\n  agent permissions explain --json 'git push --force'\n" +
			"  agent permissions explain --allow 'run(go test *)' 'go test ./...'",
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
			if err != nil {
				return err
			}
			e, err := explainCommand(set, f, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(p)
			}
			return e.print(p)
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print an object with class, parts and verdicts")
	ruleFlags(explain, f)
	return parent("permissions", "What is asked about, and why", explain, newPermissionsTest(p, f))
}

// ruleFlags adds the flags for rules to a command.
func ruleFlags(cmd *cobra.Command, f *flags) {
	cmd.Flags().StringArrayVar(&f.allow, "allow", nil, "as if this `rule` allowed what it covers")
	cmd.Flags().StringArrayVar(&f.deny, "deny", nil, "as if this `rule` denied what it covers")
}

// explanation holds the answers about a command, and the reasons.
type explanation struct {
	set    setup.Setup
	judged safecmd.Judgement
	rules  []permission.Covering // by part; Effect is zero without one
	modes  []replay.Answer       // by mode
}

// explainCommand asks the policy about a command in each mode.
func explainCommand(set setup.Setup, f *flags, line string) (e explanation, err error) {
	dir, err := setup.Folder(f.dir)
	if err != nil {
		return e, err
	}
	rules, err := set.PermissionRules(dir, f.rules())
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
		with := replayed(set, mode, rules)
		with.Root = root
		answers := replay.New(with).Call("execute_command", args)
		if len(answers) == 0 {
			return e, usagef("there is no command to explain")
		}
		e.modes = append(e.modes, answers[0])
	}
	e.judged = e.modes[0].Judged
	for i := range e.judged.Parts {
		e.rules = append(e.rules, rules.Covering(dir, e.judged.CommandPart(i, set.AsksAll())))
	}
	return e, nil
}

// replayed returns the options, without a Root, to judge calls as a session with this setup
// would.
func replayed(s setup.Setup, mode permission.Mode, rules permission.Rules) replay.Options {
	return replay.Options{Mode: mode, Rules: rules, Home: s.Home, Env: shell.Environ(os.Environ(), s.SecretEnv(), s.EnvKeep...), AskAll: s.AsksAll()}
}

// classes describes the classes of commands for people.
var classes = map[safecmd.Class]string{
	safecmd.Safe:   "safe: it only reads, so it needs no question",
	safecmd.Ask:    "ask: it runs only after a yes",
	safecmd.Danger: "danger: it runs only after a yes, each time",
}

// print shows e to a person.
func (e explanation) print(p Process) error {
	lines := []string{classes[e.judged.Class]}
	for i, part := range e.judged.Parts {
		lines = append(lines, fmt.Sprintf("  %-6s  %s  (%s)", part.Class, part.Text, part.Reason))
		switch c := e.rules[i]; {
		case c.Why != "":
			lines = append(lines, "          rules: "+c.Why)
		case c.Effect != 0:
			lines = append(lines, fmt.Sprintf("          rule: %s %s  (%s)", c.Effect, c.Rule, c.Rule.Source))
		}
	}
	switch {
	case e.judged.Class != safecmd.Safe:
	case e.set.SafeCommands == "ask":
		lines = append(lines, "But it asks too: permissions.safe_commands is ask.")
	case e.set.Untrusted:
		lines = append(lines, "But it asks too: this folder has settings that you have not trusted; see agent trust add.")
	}
	for mode, a := range e.modes {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-13s %-8s %s", permission.Mode(mode).String(), outcome(a), why(a)), " "))
	}
	if rules := e.modes[permission.Default].Rules; len(rules) > 0 {
		lines = append(lines, "To allow it: "+ruleTexts(rules))
	}
	return showLines(p, lines)
}

// outcome names an answer in a word.
func outcome(a replay.Answer) string {
	switch {
	case a.Asks():
		return "asks"
	case a.Refused():
		return "refuses"
	}
	return "runs"
}

// why explains an answer in a line.
func why(a replay.Answer) string {
	switch {
	case a.Verdict.By != "":
		return a.Verdict.By
	case a.Verdict.Feedback != "":
		return a.Verdict.Feedback
	case a.Request.Force:
		return "a person looks at it each time, whatever the rules"
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
		Class     safecmd.Class          `json:"class"`
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
		Verdict string `json:"verdict"` // runs, asks or refuses
		Why     string `json:"why,omitempty"`
	}
)

// printJSON prints e as an object on one line.
func (e explanation) printJSON(p Process) error {
	out := explainedJSON{Class: e.judged.Class, Parts: []partJSON{}, Verdicts: map[string]verdictJSON{}}
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
	return printObject(p, out)
}

// printObject prints a value as JSON on one line.
func printObject(p Process, value any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	return show(p, b.String())
}

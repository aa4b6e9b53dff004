package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/replay"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// newPermissionsTest returns agent permissions test.
func newPermissionsTest(p Process, f *flags) *cobra.Command {
	t := rulesTest{p: p, f: f}
	cmd := &cobra.Command{
		Use: "test", Short: "Check the examples of the rules, and count the questions that past sessions would ask with them; nothing is run", Args: noArgs,
		Example: "  agent permissions test\n  agent permissions test --allow 'run(npm run *)' --all\n  agent permissions test --rules new.yaml --permission-mode accept-edits",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t.over = overrides(cmd.Flags(), f)
			return t.run(cmd.Context())
		},
	}
	own := cmd.Flags()
	own.StringVar(&t.file, "rules", "", "try the rules in this `file`, in the form of config.yaml, in place of yours")
	own.String("permission-mode", "", "`mode`: default, accept-edits, plan or bypass")
	own.BoolVarP(&t.all, "all", "a", false, "sessions of every folder")
	own.IntVar(&t.last, "last", 50, "the newest `n` sessions only; 0 for all")
	own.BoolVar(&t.asJSON, "json", false, "print an object")
	ruleFlags(cmd, f)
	return cmd
}

// rulesTest checks rules by their examples and by past sessions.
type rulesTest struct {
	p           Process
	f           *flags
	over        config.Overrides
	file        string // with rules to try; empty for those in force
	all, asJSON bool
	last        int

	setups map[string]folderSetup // by folder
}

// folderSetup holds the settings for sessions in a folder.
type folderSetup struct {
	setup.Setup
	mode  permission.Mode
	rules permission.Rules // in force
}

// checkedRule is a rule with the result of its examples.
type checkedRule struct {
	Effect   string `json:"effect"`
	Rule     string `json:"rule"`
	Source   string `json:"source"`
	Examples int    `json:"examples"`
	Error    string `json:"error,omitempty"`
}

// run checks the examples first: with rules that contradict them no session starts.
func (t *rulesTest) run(ctx context.Context) error {
	dir, err := setup.Folder(t.f.dir)
	if err != nil {
		return err
	}
	set, err := loadSetup(ctx, t.p, t.f, t.over, false)
	if err != nil {
		return err
	}
	all, err := set.WrittenRules(dir)
	if err != nil {
		return err
	}
	all = append(all, t.f.rules()...)
	if t.file != "" {
		if all, err = t.candidates(); err != nil {
			return err
		}
	}
	checked, wrong := checkRules(all)
	if len(wrong) > 0 {
		return errors.Join(t.report(testReport{Rules: checked}), usageError{Err: errors.Join(wrong...)})
	}
	past, err := t.replay(ctx, set.Home, dir)
	if err != nil {
		return err
	}
	at, err := t.folder(ctx, dir)
	if err != nil {
		return err
	}
	return t.report(testReport{Rules: checked, Mode: at.mode.String(), Past: &past})
}

// candidates returns the rules of --rules, with those of --allow and --deny.
func (t *rulesTest) candidates() ([]setup.Written, error) {
	rules, err := config.ReadRules(t.file)
	if err != nil {
		return nil, usageError{Err: err}
	}
	var all []setup.Written
	for _, r := range rules {
		all = append(all, setup.Written{Rule: r})
	}
	return append(all, t.f.rules()...), nil
}

// checkRules parses rules, and checks their examples.
func checkRules(all []setup.Written) (checked []checkedRule, wrong []error) {
	for _, w := range all {
		c := checkedRule{Effect: w.Effect, Rule: w.Text, Source: w.Source, Examples: len(w.Covers) + len(w.Not)}
		if _, err := setup.ParseRule(w.Rule); err != nil {
			c.Error = err.Error()
			wrong = append(wrong, err)
		}
		checked = append(checked, c)
	}
	return checked, wrong
}

// replay judges the calls of past sessions.
func (t *rulesTest) replay(ctx context.Context, home, dir string) (past replay.Past, err error) {
	if t.all {
		dir = ""
	}
	sessions := archive.New(home)
	infos, err := sessions.List(dir)
	if err != nil {
		return past, err
	}
	if t.last > 0 && len(infos) > t.last {
		infos = infos[:t.last]
	}
	for _, listed := range slices.Backward(infos) { // a fork comes after its origin
		if err := ctx.Err(); err != nil {
			return past, err
		}
		info, conv, err := sessions.Read(listed.ID)
		if err != nil {
			past.Skip(listed.ID, err)
			continue
		}
		if _, err := os.Stat(info.Dir); errors.Is(err, fs.ErrNotExist) {
			past.Skip(info.ID, fmt.Errorf("its folder %s is gone", info.Dir))
			continue
		}
		before, after, err := t.options(ctx, info.Dir)
		if err != nil {
			past.Skip(info.ID, err)
			continue
		}
		if err := past.Add(info, conv, before, after); err != nil {
			return past, err
		}
	}
	return past, nil
}

// options returns the two ways to judge the sessions in dir: with the rules to test, and
// to compare that with. Those are the rules in force if others are tried, else none.
func (t *rulesTest) options(ctx context.Context, dir string) (before, after replay.Options, err error) {
	at, err := t.folder(ctx, dir)
	if err != nil {
		return before, after, err
	}
	after = replayed(at.Setup, at.mode, at.rules)
	before = after
	if t.file == "" {
		before.Rules, before.AskAll = nil, true
		return before, after, nil
	}
	all, err := t.candidates()
	if err == nil {
		after.Rules, err = setup.ParseRules(all)
	}
	return before, after, err
}

// folder returns the settings for sessions in dir, as a session there would load them.
func (t *rulesTest) folder(ctx context.Context, dir string) (folderSetup, error) {
	if at, ok := t.setups[dir]; ok {
		return at, nil
	}
	f := *t.f
	f.dir = dir
	set, err := loadSetup(ctx, t.p, &f, t.over, false)
	if err != nil {
		return folderSetup{}, err
	}
	at := folderSetup{Setup: set}
	if at.mode, err = permission.ParseMode(set.PermissionMode); err != nil {
		return at, usageError{Err: err}
	}
	if at.rules, err = set.PermissionRules(dir, t.f.rules()); err != nil {
		return at, err
	}
	if t.setups == nil {
		t.setups = map[string]folderSetup{}
	}
	t.setups[dir] = at
	return at, nil
}

// testReport is the result of agent permissions test.
type testReport struct {
	Rules []checkedRule
	Mode  string
	Past  *replay.Past // nil if the rules are wrong
}

func (t *rulesTest) report(r testReport) error {
	if t.asJSON {
		return printObject(t.p, r.object())
	}
	lines := r.ruleLines()
	if r.Past != nil {
		lines = append(lines, r.pastLines(t.file)...)
	}
	return showLines(t.p, lines)
}

// object returns the JSON form of r.
func (r testReport) object() any {
	out := struct {
		Rules    []checkedRule    `json:"rules"`
		Mode     string           `json:"mode,omitempty"`
		Sessions int              `json:"sessions"`
		Calls    int              `json:"calls"`
		Asks     int              `json:"questions"`
		Refuses  int              `json:"refused"`
		Before   int              `json:"questions_before"`
		Askers   []replay.Asker   `json:"askers"`
		Skipped  []replay.Skipped `json:"skipped,omitempty"`
	}{Rules: r.Rules, Mode: r.Mode, Askers: []replay.Asker{}}
	if out.Rules == nil {
		out.Rules = []checkedRule{}
	}
	if p := r.Past; p != nil {
		out.Sessions, out.Calls, out.Asks, out.Refuses, out.Before = p.Sessions, p.After.Calls, p.After.Asked, p.After.Refused, p.Before.Asked
		out.Askers, out.Skipped = p.After.Askers(), p.Skipped
	}
	return out
}

// ruleLines lists the rules with the results of their examples.
func (r testReport) ruleLines() []string {
	lines := []string{counted(len(r.Rules), "rule")}
	for _, c := range r.Rules {
		result := "ok"
		switch {
		case c.Error != "":
			result = "wrong"
		case c.Examples == 0:
			result = "-"
		}
		lines = append(lines, fmt.Sprintf("  %-5s  %s %s  (%s, %s)", result, c.Effect, c.Rule, c.Source, counted(c.Examples, "example")))
	}
	return lines
}

// maxAskers is the number of rows of the table for people.
const maxAskers = 15

// pastLines shows the questions of past sessions. file is the one with the rules that
// were tried, if any.
func (r testReport) pastLines(file string) []string {
	p := r.Past
	compared := "without rules, if commands that only read asked too"
	if file != "" {
		compared = "with the rules in force"
	}
	lines := []string{
		fmt.Sprintf("%s with %s, in the mode %s.", counted(p.Sessions, "session"), counted(p.After.Calls, "call"), r.Mode),
		fmt.Sprintf("They would have asked %s instead of %d (%s).", counted(p.After.Asked, "time"), p.Before.Asked, compared),
	}
	if p.After.Refused > 0 {
		lines = append(lines, fmt.Sprintf("A rule or the mode would have refused %s.", counted(p.After.Refused, "time")))
	}
	askers := p.After.Askers()
	if len(askers) > 0 {
		lines = append(lines, "times  to allow it  (such as)")
	}
	for _, a := range askers[:min(len(askers), maxAskers)] {
		rule := cmp.Or(strings.Join(a.Rules, " and "), "no rule can")
		if a.Forced {
			rule = "a person looks each time"
		}
		lines = append(lines, fmt.Sprintf("%5d  %s  (%s)", a.Times, rule, archive.Clip(a.SuchAs, 80)))
	}
	if n := len(askers) - maxAskers; n > 0 {
		lines = append(lines, fmt.Sprintf("       and %d more; --json lists all", n))
	}
	for _, s := range p.Skipped {
		lines = append(lines, fmt.Sprintf("skipped %s: %s", s.ID, s.Why))
	}
	return lines
}

package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// Trial checks rules by their examples and by past sessions.
type Trial struct {
	// Load loads the configuration of sessions in a folder.
	Load  func(ctx context.Context, dir string) (setup.Setup, error)
	Rules []setup.Written // besides those in force, or in File
	File  string          // with rules to try; empty for those in force
	All   bool            // the sessions of every folder
	Last  int             // the newest sessions only; 0 for all

	setups map[string]folderSetup // by folder
}

// folderSetup holds the settings for sessions in a folder.
type folderSetup struct {
	setup.Setup
	mode  permission.Mode
	rules permission.Rules // in force
}

// Run checks the examples first: with rules that contradict them no session starts, and the
// report of the rules comes with an error. dir is absolute.
func (t *Trial) Run(ctx context.Context, dir string) (r Report, err error) {
	set, err := t.Load(ctx, dir)
	if err != nil {
		return r, err
	}
	all, err := set.WrittenRules(dir)
	if err != nil {
		return r, err
	}
	all = append(all, t.Rules...)
	if t.File != "" {
		if all, err = t.candidates(); err != nil {
			return r, err
		}
	}
	checked, wrong := checkRules(all)
	r.Rules = checked
	if len(wrong) > 0 {
		return r, setup.UsageError{Err: errors.Join(wrong...)}
	}
	past, err := t.replay(ctx, set.Home, dir)
	if err != nil {
		return Report{}, err
	}
	at, err := t.folder(ctx, dir)
	if err != nil {
		return Report{}, err
	}
	r.Mode, r.Past = at.mode.String(), &past
	return r, nil
}

// candidates returns the rules of File, with Rules.
func (t *Trial) candidates() ([]setup.Written, error) {
	rules, err := config.ReadRules(t.File)
	if err != nil {
		return nil, setup.UsageError{Err: err}
	}
	var all []setup.Written
	for _, r := range rules {
		all = append(all, setup.Written{Rule: r})
	}
	return append(all, t.Rules...), nil
}

// CheckedRule is a rule with the result of its examples.
type CheckedRule struct {
	Effect   string `json:"effect"`
	Rule     string `json:"rule"`
	Source   string `json:"source"`
	Examples int    `json:"examples"`
	Error    string `json:"error,omitempty"`
}

// checkRules parses rules, and checks their examples.
func checkRules(all []setup.Written) (checked []CheckedRule, wrong []error) {
	for _, w := range all {
		c := CheckedRule{Effect: w.Effect, Rule: w.Text, Source: w.Source, Examples: len(w.Covers) + len(w.Not)}
		if _, err := setup.ParseRule(w.Rule); err != nil {
			c.Error = err.Error()
			wrong = append(wrong, err)
		}
		checked = append(checked, c)
	}
	return checked, wrong
}

// replay judges the calls of past sessions.
func (t *Trial) replay(ctx context.Context, home, dir string) (past Past, err error) {
	if t.All {
		dir = ""
	}
	sessions := archive.New(home)
	infos, err := sessions.List(dir)
	if err != nil {
		return past, err
	}
	if t.Last > 0 && len(infos) > t.Last {
		infos = infos[:t.Last]
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
func (t *Trial) options(ctx context.Context, dir string) (before, after Options, err error) {
	at, err := t.folder(ctx, dir)
	if err != nil {
		return before, after, err
	}
	after = OptionsOf(ctx, at.Setup, at.mode, at.rules)
	before = after
	if t.File == "" {
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
func (t *Trial) folder(ctx context.Context, dir string) (folderSetup, error) {
	if at, ok := t.setups[dir]; ok {
		return at, nil
	}
	set, err := t.Load(ctx, dir)
	if err != nil {
		return folderSetup{}, err
	}
	at := folderSetup{Setup: set}
	if at.mode, err = permission.ParseMode(set.PermissionMode); err != nil {
		return at, setup.UsageError{Err: err}
	}
	if at.rules, err = set.PermissionRules(dir, t.Rules); err != nil {
		return at, err
	}
	if t.setups == nil {
		t.setups = map[string]folderSetup{}
	}
	t.setups[dir] = at
	return at, nil
}

// Report is the result of a trial.
type Report struct {
	Rules []CheckedRule
	Mode  string
	Past  *Past // nil if the rules are wrong
}

// Object returns the JSON form of r.
func (r Report) Object() any {
	out := struct {
		Rules    []CheckedRule `json:"rules"`
		Mode     string        `json:"mode,omitempty"`
		Sessions int           `json:"sessions"`
		Calls    int           `json:"calls"`
		Asks     int           `json:"questions"`
		Refuses  int           `json:"refused"`
		Before   int           `json:"questions_before"`
		Askers   []Asker       `json:"askers"`
		Skipped  []Skipped     `json:"skipped,omitempty"`
	}{Rules: r.Rules, Mode: r.Mode, Askers: []Asker{}}
	if out.Rules == nil {
		out.Rules = []CheckedRule{}
	}
	if p := r.Past; p != nil {
		out.Sessions, out.Calls, out.Asks, out.Refuses, out.Before = p.Sessions, p.After.Calls, p.After.Asked, p.After.Refused, p.Before.Asked
		out.Askers, out.Skipped = p.After.Askers(), p.Skipped
	}
	return out
}

// ruleLines lists the rules with the results of their examples.
func (r Report) ruleLines() []string {
	lines := []string{plural.Of(len(r.Rules), "rule")}
	for _, c := range r.Rules {
		result := "ok"
		switch {
		case c.Error != "":
			result = "wrong"
		case c.Examples == 0:
			result = "-"
		}
		lines = append(lines, fmt.Sprintf("  %-5s  %s %s  (%s, %s)", result, c.Effect, c.Rule, c.Source, plural.Of(c.Examples, "example")))
	}
	return lines
}

// maxAskers is the number of rows of the table for people.
const maxAskers = 15

// Lines shows the rules, and the questions of past sessions. file is the one with the rules
// that were tried, if any.
func (r Report) Lines(file string) []string {
	p := r.Past
	if p == nil {
		return r.ruleLines()
	}
	rules, compared := "today's rules", "without"
	if file != "" {
		rules, compared = "these rules", "with today's"
	}
	lines := append(r.ruleLines(),
		fmt.Sprintf("%s in %s, %s mode: %s with %s, %d %s.", plural.Of(p.After.Calls, "call"), plural.Of(p.Sessions, "session"), r.Mode, plural.Of(p.After.Asked, "question"), rules, p.Before.Asked, compared),
	)
	if p.After.Refused > 0 {
		lines = append(lines, fmt.Sprintf("Denied by a rule or the mode: %d.", p.After.Refused))
	}
	askers := p.After.Askers()
	if len(askers) > 0 {
		lines = append(lines, "times  to allow it  (such as)")
	}
	for _, a := range askers[:min(len(askers), maxAskers)] {
		rule := cmp.Or(strings.Join(a.Rules, " and "), "no rule can")
		if a.Forced {
			rule = "asks every time"
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

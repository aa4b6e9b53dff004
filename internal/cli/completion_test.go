package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// completed returns the completions for the last of args.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	root, err := newRoot(Process{}, func(*cobra.Command, *flags, []string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, args...))
	root.SetOut(&out)
	root.SetErr(&errs)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1] // without the directive for the shell
}

func TestCompletion(t *testing.T) {
	a := sitting(t)
	if err := a.Run(t.Context(), "change it"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENT_HOME", a.Config.Home)
	id := a.Current().ID() + "\tchange it"
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--permission-mode", ""}, []string{"default", "accept-edits", "plan", "bypass"}},
		{[]string{"--output-format", ""}, []string{"text", "json", "stream-json"}},
		{[]string{"--cwd", a.Dir, "sessions", "show", ""}, []string{id}},
		{[]string{"--cwd", a.Dir, "sessions", "rm", ""}, []string{id}},
		{[]string{"--cwd", a.Dir, "--resume="}, []string{id}},
		{[]string{"--cwd", a.Dir, "-r", ""}, []string{id}},
		{[]string{"--cwd", a.Dir, "--resume", ""}, []string{id}},
		{[]string{"--cwd", a.Dir, "-r", "x", ""}, []string{}},
		{[]string{"--cwd", a.Dir + "/missing", "sessions", "show", ""}, []string{}},
		{[]string{"config", "set", "permission_mode", ""}, []string{"default", "accept-edits", "plan", "bypass"}},
		{[]string{"config", "set", "max_turns", ""}, []string{}},
	} {
		if d := cmp.Diff(c.want, completed(t, c.args...)); d != "" {
			t.Errorf("%q: %s", c.args, d)
		}
	}
	if keys := completed(t, "config", "set", "language_servers."); !slices.Contains(keys, "language_servers.gopls.disabled") {
		t.Errorf("keys %q", keys)
	}
	if keys := completed(t, "config", "set", ""); len(keys) < 10 || keys[0] != "model" {
		t.Errorf("keys %q", keys)
	}
}

func TestANearCommandIsNoPrompt(t *testing.T) {
	for _, c := range []struct {
		args    []string
		refused bool
	}{
		{[]string{"doctr"}, true},
		{[]string{"udno"}, true},
		{[]string{"explain"}, false},
		{[]string{"doctr it"}, false},
		{[]string{"--", "doctr"}, false},
		{[]string{"-r", "demos"}, false},
	} {
		_, _, _, err := parsed(t, c.args...)
		if got := err != nil && strings.Contains(err.Error(), "did you mean"); got != c.refused {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

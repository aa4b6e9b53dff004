package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/cli/pluginargs"
	"github.com/bb2d0cf4/agent/internal/config"
)

// parsed parses args as the root command does and returns the result.
func parsed(t *testing.T, args ...string) (flags, config.Overrides, string, error) {
	t.Helper()
	var got flags
	var over config.Overrides
	var prompt string
	root, err := newRoot(Process{}, func(cmd *cobra.Command, f *flags, args []string) (err error) {
		over = overrides(cmd.Flags(), f)
		prompt, err = f.check(args)
		got = *f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	root.SetArgs(args)
	root.SetOut(&strings.Builder{})
	err = root.ExecuteContext(t.Context())
	return got, over, prompt, err
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		args   []string
		want   flags
		over   config.Overrides
		prompt string
	}{
		{nil, flags{format: "text"}, nil, ""},
		{[]string{"fix it"}, flags{format: "text"}, nil, "fix it"},
		{[]string{"-p", "demo"}, flags{format: "text", prompt: "demo", prompted: true}, nil, "demo"},
		{[]string{"-p", ""}, flags{format: "text", prompted: true}, nil, ""},
		{[]string{"-c"}, flags{format: "text", latest: true}, nil, ""},
		{[]string{"-r"}, flags{format: "text", resume: pick}, nil, ""},
		{[]string{"-r", "abc"}, flags{format: "text", resume: "abc"}, nil, ""},
		{[]string{"-r=abc", "go on"}, flags{format: "text", resume: "abc"}, nil, "go on"},
		{[]string{"-r", "abc", "go on"}, flags{format: "text", resume: "abc"}, nil, "go on"},
		{[]string{"-p", "x", "--resume", "abc"}, flags{format: "text", prompt: "x", prompted: true, resume: "abc"}, nil, "x"},
		{[]string{"-p", "x", "--output-format", "json"}, flags{format: "json", prompt: "x", prompted: true}, nil, "x"},
		{[]string{"--cwd", "/a", "--add-dir", "/b", "--add-dir", "/c"}, flags{format: "text", dir: "/a", addDirs: []string{"/b", "/c"}}, nil, ""},
		{
			[]string{"--model", "a/b", "--base-url=http://x", "--permission-mode", "plan", "--max-turns", "3", "x"},
			flags{format: "text"},
			config.Overrides{"model": "a/b", "base_url": "http://x", "permission_mode": "plan", "max_turns": "3"},
			"x",
		},
		{[]string{"--no-ide"}, flags{format: "text", noIDE: true}, config.Overrides{"ide.enabled": "false"}, ""},
		{[]string{"--", "demo"}, flags{format: "text"}, nil, "demo"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			if c.over == nil {
				c.over = config.Overrides{}
			}
			got, over, prompt, err := parsed(t, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(flags{}, pluginargs.Args{})); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.over, over); d != "" || prompt != c.prompt {
				t.Errorf("prompt %q, %s", prompt, d)
			}
		})
	}
}

func TestWrongArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fix", "the", "test"}, `agent "fix the test"`},
		{[]string{"-c", "-r"}, "contradict each other"},
		{[]string{"--ide", "--no-ide"}, "contradict each other"},
		{[]string{"-p", "x", "y"}, `-p takes one prompt, in quotes: agent -p "x y"`},
		{[]string{"-p", "x", "-r"}, "needs an id"},
		{[]string{"--output-format", "json"}, "needs -p"},
		{[]string{"-p", "x", "--output-format", "xml"}, "use text, json or stream-json"},
		{[]string{"-p"}, "flag needs an argument"},
		{[]string{"--modle", "x"}, "unknown flag"},
		{[]string{"sessions", "lst"}, `no command "lst"`},
		{[]string{"sessions", "list", "x"}, "takes no arguments"},
		{[]string{"config", "set", "model"}, "got 1 arguments, want 2"},
		{[]string{"demo", "x"}, "takes no arguments"},
		{[]string{"mcp", "add"}, "got 0 arguments, want at least 1; usage: agent mcp add name"},
		{[]string{"replay"}, "got 0 arguments, want at least 1"},
		{[]string{"replay", "a", "b", "c"}, `unexpected argument "c"`},
		{[]string{"ide", "install", "a", "b"}, `unexpected argument "b"`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			_, _, _, err := parsed(t, c.args...)
			var usage usageError
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if !errors.As(err, &usage) {
				t.Errorf("%v is no mistake of usage", err)
			}
		})
	}
}

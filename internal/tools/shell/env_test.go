package shell_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// environ returns Environ of base without the variables that it always adds.
func environ(base, secrets []string) []string {
	added := shell.Environ(nil, nil)
	var rest []string
	for _, kv := range shell.Environ(base, secrets) {
		if !slices.Contains(added, kv) {
			rest = append(rest, kv)
		}
	}
	return rest
}

func TestEnvironKeepsNeededVariables(t *testing.T) {
	base := []string{
		"PATH=./bin:/usr/bin", "HOME=/home/u", "LANG=de_DE.UTF-8", "JAVA_HOME=/opt/java", "EMPTY=", "ODD",
		"GIT_AUTHOR_NAME=U", "GIT_COMMITTER_EMAIL=u@example.com", "STRIPE_API_KEY=sk_test_1234567890", "NPM_TOKEN=npm_1234567",
		"LDFLAGS=-s", "ENVIRONMENT=dev", "AGENT_HOME=/home/u/.agent",
	}
	if diff := cmp.Diff(base, environ(base, nil)); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironDropsSteeringVariables(t *testing.T) {
	for _, kv := range []string{
		"BASH_ENV=/tmp/x", "ENV=/tmp/x", "PROMPT_COMMAND=x", "PS4=$(x)", "ZDOTDIR=/tmp", "RIPGREP_CONFIG_PATH=/tmp/x",
		"LD_PRELOAD=/tmp/x.so", "LD_LIBRARY_PATH=/tmp", "DYLD_INSERT_LIBRARIES=/tmp/x", "BASH_FUNC_git%%=() { x; }",
		"GIT_DIR=/tmp", "GIT_SSH_COMMAND=x", "GIT_CONFIG_COUNT=1", "GIT_EXTERNAL_DIFF=x", "SHELLOPTS=xtrace", "CDPATH=/",
		"AGENT_COMMAND=old", "FORCE_COLOR=1",
		"PAGER=less", "EDITOR=vi", "TERM=xterm", "GIT_PAGER=less",
	} {
		if got := environ([]string{kv}, nil); got != nil {
			t.Errorf("%s is kept: %q", kv, got)
		}
	}
}

func TestEnvironDropsKeys(t *testing.T) {
	const canary = "sk-canary-0123456789"
	tests := map[string]struct {
		base, secrets, want []string
	}{
		"known name":            {[]string{"OPENAI_API_KEY=" + canary, "A=b"}, nil, []string{"A=b"}},
		"configured name":       {[]string{"MY_LLM=" + canary, "A=b"}, []string{"MY_LLM"}, []string{"A=b"}},
		"program's own setting": {[]string{"AGENT_API_KEY=" + canary}, nil, nil},
		"copy":                  {[]string{"COPY=" + canary, "MY_LLM=" + canary}, []string{"MY_LLM"}, nil},
		"copy inside":           {[]string{"OPENAI_API_KEY=" + canary, "HEADER=Bearer " + canary + ";"}, nil, nil},
		"short values match by chance": {
			[]string{"MY_LLM=1", "N=100"}, []string{"MY_LLM"}, []string{"N=100"},
		},
		"not set": {[]string{"A=b"}, []string{"MY_LLM"}, []string{"A=b"}},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, environ(tt.base, tt.secrets)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEnvironLeavesBaseAlone(t *testing.T) {
	base := []string{"ENV=x", "A=b", "PAGER=less"}
	before := slices.Clone(base)
	shell.Environ(base[:2], nil)
	if diff := cmp.Diff(before, base); diff != "" {
		t.Error(diff)
	}
}

// TestNoKeyInAnyChild lets a real tree of processes print everything that it inherited.
func TestNoKeyInAnyChild(t *testing.T) {
	const canary = "sk-canary-do-not-leak-93817"
	t.Setenv("OPENAI_API_KEY", canary)
	t.Setenv("SECOND_KEY", canary+"-2")
	t.Setenv("HARMLESS", "seen")
	secret, err := os.Create(t.TempDir() + "/secret") // one of our open files
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := secret.Close(); err != nil {
			t.Error(err)
		}
	}()
	const look = `env; sh -c 'env; bash -c "export -p; tr \"\\0\" \"\\n\" </proc/self/environ; tr \"\\0\" \" \" </proc/self/cmdline"';` +
		` setsid env; echo; echo fds; ls -l /proc/self/fd`
	for name, env := range map[string][]string{
		"given": shell.Environ(os.Environ(), []string{"SECOND_KEY"}), "by default": nil,
	} {
		out := run(t, shell.Options{Line: look, Env: env}).Output
		if strings.Contains(out, canary) {
			t.Errorf("%s: the key is in a child", name)
		}
		if strings.Count(out, "HARMLESS=seen") < 3 || !strings.Contains(out, "fds") {
			t.Errorf("%s: the children showed nothing:\n%s", name, out)
		}
		if strings.Contains(out, secret.Name()) {
			t.Errorf("%s: an open file of ours was inherited", name)
		}
	}
}

func TestNothingWaitsForAPerson(t *testing.T) {
	out := run(t, shell.Options{Line: `echo a | $PAGER; $EDITOR x || echo no editor; echo $TERM; read x || echo no input`}).Output
	if out != "a\nno editor\ndumb\nno input\n" {
		t.Errorf("%q", out)
	}
}

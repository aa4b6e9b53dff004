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

// A command gets the variables that developers need, and no others.
func TestEnvironKeepsNeededVariables(t *testing.T) {
	base := []string{
		"PATH=./bin:/usr/bin", "HOME=/home/u", "LANG=de_DE.UTF-8", "LC_ALL=C", "JAVA_HOME=/opt/java", "CI=", "XDG_RUNTIME_DIR=/run/user/1",
		"GIT_AUTHOR_NAME=U", "GIT_COMMITTER_EMAIL=u@example.com", "LDFLAGS=-s", "AGENT_HOME=/home/u/.agent", "SSH_AUTH_SOCK=/run/s", "XAUTHORITY=/x",
		"GOFLAGS=-mod=mod", "GOPRIVATE=example.com", "NVM_DIR=/n", "npm_config_registry=https://example.com", "VIRTUAL_ENV=/v", "PYTHONPATH=.", "CARGO_HOME=/c",
		"RUSTFLAGS=-C", "https_proxy=http://proxy", "DOCKER_HOST=unix:///x", "KUBECONFIG=/k", "AWS_PROFILE=p", "GITHUB_ACTIONS=true", "CGO_ENABLED=0", "V=1",
		"CI_PROJECT_URL=https://gitlab.example/a", "CI_SERVER_URL=https://gitlab.example:443/@a", "HTTP_PROXY=http://u:p@proxy:80",
	}
	if diff := cmp.Diff(base, environ(base, nil)); diff != "" {
		t.Error(diff)
	}
	for _, kv := range []string{
		"STRIPE_API_KEY=sk_test_1234567890", "NPM_TOKEN=npm_1234567", "NODE_AUTH_TOKEN=x", "GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=x",
		"npm_config__auth=x", "CARGO_REGISTRY_TOKEN=x", "POETRY_HTTP_BASIC_X_PASSWORD=x", "UV_PUBLISH_TOKEN=x", "HOMEBREW_GITHUB_API_TOKEN=x", "PGPASSWORD=x",
		"BUNDLE_GEMS__EXAMPLE__COM=user:password", "DATABASE_URL=postgres://u:p@h/d", "DIRENV_DIFF=x", "TF_VAR_password=x", "MY_THING=x", "ODD", "GOOGLE_APPLICATION_CREDENTIALS=/x",
		"CI_JOB_JWT=x", "CI_JOB_JWT_V2=x", "CI_JOB_TOKEN=x", "CI_REPOSITORY_URL=https://gitlab-ci-token:glcbt-1@gitlab.example/a.git", "PIP_INDEX_URL=https://u:p@pypi.example/simple",
	} {
		if got := environ([]string{kv}, nil); got != nil {
			t.Errorf("%s is kept", kv)
		}
	}
}

// Variables that the user names are kept, except the keys of models.
func TestEnvironKeepsTheUsersOwn(t *testing.T) {
	for _, c := range []struct {
		own, kv string
		want    bool
	}{
		{"DATABASE_URL", "DATABASE_URL=x", true},
		{"DATABASE_URL", "DATABASE_URL_2=x", false},
		{"AWS_*", "AWS_SECRET_ACCESS_KEY=x", true},
		{"*", "MY_TOKEN=x", true},
		{"*", "LD_PRELOAD=x", false},
		{"LD_*", "LD_LIBRARY_PATH=x", false},
		{"LD_LIBRARY_PATH", "LD_LIBRARY_PATH=x", true},
		{"OPENAI_API_KEY", "OPENAI_API_KEY=x", false},
		{"*", "CORP_LLM=x", false},
		{"AGENT_COMMAND", "AGENT_COMMAND=x", false},
		{"PAGER", "PAGER=less", false},
	} {
		got := slices.Contains(shell.Environ([]string{c.kv}, []string{"CORP_LLM"}, c.own), c.kv)
		if got != c.want {
			t.Errorf("env_keep %s: %s is kept: %v", c.own, c.kv, got)
		}
	}
	base := []string{"PATH=/bin", "B=1", "A=1", "C=1", "TERM=xterm", "LD_PRELOAD=x", "_=/bin/env", "=C:=C:\\x"}
	if d := cmp.Diff([]string{"A", "B", "LD_PRELOAD"}, shell.Withheld(base, []string{"C"})); d != "" {
		t.Error(d)
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
		"known name":            {[]string{"OPENAI_API_KEY=" + canary, "CC=b"}, nil, []string{"CC=b"}},
		"configured name":       {[]string{"MY_LLM=" + canary, "CC=b"}, []string{"MY_LLM"}, []string{"CC=b"}},
		"program's own setting": {[]string{"AGENT_API_KEY=" + canary}, nil, nil},
		"copy":                  {[]string{"CC=" + canary, "MY_LLM=" + canary}, []string{"MY_LLM"}, nil},
		"copy inside":           {[]string{"OPENAI_API_KEY=" + canary, "CFLAGS=Bearer " + canary + ";"}, nil, nil},
		"short values match by chance": {
			[]string{"MY_LLM=1", "V=100"}, []string{"MY_LLM"}, []string{"V=100"},
		},
		"not set": {[]string{"CC=b"}, []string{"MY_LLM"}, []string{"CC=b"}},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, environ(tt.base, tt.secrets)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEnvironLeavesBaseAlone(t *testing.T) {
	base := []string{"ENV=x", "CC=b", "PAGER=less"}
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
	t.Setenv("VERBOSE", "seen")
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
		if strings.Count(out, "VERBOSE=seen") < 3 || !strings.Contains(out, "fds") {
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

// The documentation lists each variable that commands inherit.
func TestKeptIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../../../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range shell.Kept() {
		if row := "| " + g.For + " | `" + g.Names + "` |\n"; !strings.Contains(string(data), row) {
			t.Errorf("docs/environment.md lacks\n%s", row)
		}
	}
	inside, atEnd := shell.SecretParts()
	for _, part := range append(inside, atEnd...) {
		if !strings.Contains(string(data), "`"+part+"`") {
			t.Errorf("docs/environment.md does not say that %s looks like a secret", part)
		}
	}
}

package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProtected(t *testing.T) {
	for _, name := range []string{
		".git/config", ".GIT/config", "sub/.git/HEAD", ".git", ".gitmodules", ".gitattributes", ".vscode/settings.json", ".VSCode/tasks.json", ".idea/x",
		".devcontainer/devcontainer.json", ".github/workflows/ci.yml", ".husky/pre-commit", ".envrc", ".env", ".env.local", ".npmrc", ".yarnrc.yml",
		".mcp.json", ".ripgreprc", "AGENTS.md", "sub/CLAUDE.md", ".gitlab-ci.yml", "Jenkinsfile", ".circleci/config.yml", ".github/actions/x/action.yml", ".pre-commit-config.yaml", ".agent/config.yaml", "/home/u/.ssh/config", "/home/u/.config/x", ".bashrc", "a.pth", "sitecustomize.py",
		".claude/settings.json", ".cursor/mcp.json", ".codex/config.toml", ".gitea/workflows/x.yml", ".hg/hgrc", ".githooks/pre-push", ".gitconfig", ".exrc", ".nvim.lua", ".pnpmfile.cjs", ".gdbinit", ".Rprofile", ".travis.yml", ".bash_aliases",
		".devcontainer.json", "my.code-workspace", ".cargo/config.toml", "sub/.cargo/config", ".emacs.d/init.el", ".tmux.conf", ".aws/config", ".kube/config", "GEMINI.md", ".cursorrules",
		".github/copilot-instructions.md", ".github/instructions/x.md", ".clinerules", ".clinerules/x.md", "opencode.json", ".yarn/releases/yarn.cjs", ".screenrc", ".netrc", ".curlrc",
		".git./config", ".git /config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config", ".g\u200cit/config", ".vscode./tasks.json", ".envrc ", ".bashrc::$DATA",
	} {
		if Protected(name, "", "") == "" {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range []string{"main.go", ".gitignore", ".github/CODEOWNERS", "workflows/ci.yml", "git/config", "environment.go", "vscode/x", "agents.go", ".github", "..", "../x", "a:b/c", "git~2/x", "claude/x", "... /x", "cargo/config.toml", "x.cargo/config.toml", "gemini.mdx", "workspace.code"} {
		if why := Protected(name, "", ""); why != "" {
			t.Errorf("%s is protected: %s", name, why)
		}
	}
}

func TestNeverRead(t *testing.T) {
	for path, want := range map[string]bool{
		"/proc/1/environ": true, "/proc/4711/task/4711/mem": true, "/proc/1/": true,
		"/proc/cpuinfo": false, "/proc/sys/kernel/pid_max": false, "/proc/1": false, "/etc/hosts": false, "/x/proc/1/environ": false,
		"/u/.agent/credentials.json": true, "/p/credentials.json": false, "/u/.agent/config.yaml": false,
	} {
		if got := NeverRead(path, "/u/.agent") != ""; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// lay creates files, and folders for names that end in a slash.
func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGitFoldersByAnyName: git takes a folder for its own by what is in it.
func TestGitFoldersByAnyName(t *testing.T) {
	bare := []string{"HEAD", "config", "objects/", "refs/"}
	for name, tt := range map[string]struct {
		have  []string
		write string
		want  string
	}{
		"the last part, HEAD":        {[]string{"config", "objects/", "refs/"}, "HEAD", "makes"},
		"HEAD in another case":       {[]string{"objects/", "refs/"}, "head", "makes"},
		"the last part, objects":     {[]string{"HEAD", "config", "refs/"}, "objects/info/x", "makes"},
		"the last part, refs":        {[]string{"HEAD", "objects/"}, "refs/heads/main", "makes"},
		"the last part, commondir":   {[]string{"HEAD"}, "commondir", "makes"},
		"a bare repository's config": {bare, "config", "is in"},
		"a bare repository's hook":   {bare, "hooks/post-commit", "is in"},
		"deep in a repository":       {bare, "a/b/c", "is in"},
		"a folder below":             {[]string{"sub/HEAD", "sub/objects/", "sub/refs/"}, "sub/config", "is in"},
		"a worktree's folder":        {[]string{"HEAD", "commondir"}, "config.worktree", "is in"},
		"config alone":               {nil, "config", ""},
		"HEAD alone":                 {nil, "HEAD", ""},
		"HEAD and objects":           {[]string{"objects/"}, "HEAD", ""},
		"beside a repository":        {[]string{"sub/HEAD", "sub/objects/", "sub/refs/"}, "other/config", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, tt.have...)
			got := Protected(tt.write, filepath.Join(dir, tt.write), "")
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

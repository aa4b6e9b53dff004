package permission_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// TestCredentials: the settings of a repository hold keys if an address, a header or a value
// in them does, whatever its spelling; ordinary ones do not.
func TestCredentials(t *testing.T) {
	token := strings.Repeat("x1", 20)
	for text, want := range map[string]bool{
		"":                                                           false,
		"[core]\n\tbare = false\n":                                   false,
		"url = https://github.com/a/b\n":                             false,
		"url = https://ana@bitbucket.org/a/b\n":                      false,
		"url = git@github.com:a/b\n":                                 false,
		"url = ssh://git@host:22/a\n":                                false,
		"helper = store\n":                                           false,
		"# the password is not here\n":                               false,
		"email = a@b.c\n":                                            false,
		"merge = refs/heads/token\n":                                 false,
		"url = https://ana:pw@host/a\n":                              true,
		"url = https://" + token + "@github.com/a\n":                 true,
		"url = HTTPS://" + token + "@github.com/a\n":                 true,
		"url = https://:" + token + "@github.com/a\n":                true,
		"\textraheader = AUTHORIZATION: basic eA==\n":                true,
		"ExtraHeader=x\n":                                            true,
		"token = x\n":                                                true,
		"smtpPass = x\n":                                             true,
		"helper = \"!f() { echo password=x; }; f\"\n":                true,
		"[url \"https://ana:pw@host/\"]\n\tinsteadOf = https://h/\n": true,
		strings.Repeat("x", 1<<20+1):                                 true,
	} {
		for _, name := range []string{".git/config", ".git/modules/a/config", ".git/config.worktree", ".gitmodules", ".gitconfig", ".git/Config"} {
			path := filepath.Join(scratch.Dir(t, map[string]string{name: text}), name)
			if got := permission.Credentials(path) != ""; got != want {
				t.Errorf("%s with %.60q: %v", name, text, got)
			}
		}
	}
	dir := scratch.Dir(t, map[string]string{"notes.txt": "https://ana:pw@host/a", "config/a": ""})
	for _, name := range []string{"notes.txt", "config", "missing/config"} {
		if permission.Credentials(filepath.Join(dir, name)) != "" {
			t.Errorf("%s holds keys", name)
		}
	}
}

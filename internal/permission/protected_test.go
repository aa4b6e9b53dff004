package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestProtected reads testdata/names.json, which the tests of the extension for VS Code
// read too.
func TestProtected(t *testing.T) {
	data, err := os.ReadFile("testdata/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var names struct{ Protected, Plain []string }
	if err := json.Unmarshal(data, &names); err != nil {
		t.Fatal(err)
	}
	for _, name := range names.Protected {
		if Protected(name, "", "") == "" {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range names.Plain {
		if why := Protected(name, "", ""); why != "" {
			t.Errorf("%s is protected: %s", name, why)
		}
	}
}

// TestTheListIsFolded: the names are compared with folded ones.
func TestTheListIsFolded(t *testing.T) {
	for _, g := range groups() {
		for _, name := range slices.Concat(g.Folders, g.Files, g.Prefixes, g.Suffixes, g.Paths) {
			if name == "" || name != fold(name) || g.Why == "" {
				t.Errorf("%q of %q", name, g.Why)
			}
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
		scratch.Fill(t, dir, map[string]string{name: "x"})
	}
}

// TestGitFoldersByAnyName: git recognises its folders by their content.
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

// TestMakesGit: files that only together make a git folder, or with files that are there.
func TestMakesGit(t *testing.T) {
	half := filepath.Join(t.TempDir(), "half")
	scratch.Mkdir(t, filepath.Join(half, "refs"))
	if err := os.WriteFile(filepath.Join(half, "HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for name, c := range map[string]struct {
		dir   string
		files string
		want  bool
	}{
		"all":             {empty, "HEAD config objects/info/x refs/heads/x", true},
		"in a folder":     {empty, "a/b/HEAD a/b/objects/x a/b/refs", true},
		"in any case":     {empty, "A/head a/Objects/x a/REFS/x", true},
		"a worktree's":    {empty, "a/HEAD a/commondir", true},
		"the rest":        {half, "objects/x", true},
		"without refs":    {empty, "HEAD objects/x", false},
		"without HEAD":    {empty, "objects/x refs/x commondir", false},
		"apart":           {empty, "a/HEAD b/objects/x b/refs/x", false},
		"ordinary":        {empty, "main.go a/main_test.go", false},
		"beside the rest": {half, "main.go", false},
	} {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for _, f := range strings.Fields(c.files) {
				paths = append(paths, filepath.Join(c.dir, filepath.FromSlash(f)))
			}
			if why := MakesGit(paths); (why != "") != c.want {
				t.Errorf("%q", why)
			}
		})
	}
}

// Deny rules and the list of secrets hold for each form of accents, as a Mac takes them for one name.
func TestAccentsAreOneName(t *testing.T) {
	for _, name := range []string{"\u00c4rger/\u00fcber.env", "A\u0308rger/u\u0308ber.env", "a\u0308RGER/\u00dcBER.ENV"} {
		if got := fold(name); got != "\u00e4rger/\u00fcber.env" {
			t.Errorf("%+q is folded to %+q", name, got)
		}
	}
	for _, rule := range []string{"deny read(**/\u00fcber.txt)", "deny read(**/U\u0308BER.TXT)"} {
		effect, text, _ := strings.Cut(rule, " ")
		e, err := ParseEffect(effect)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseRule(e, text, "test")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a/\u00fcber.txt", "a/u\u0308ber.txt", "a/U\u0308ber.TXT"} {
			if !r.path.match(file{name: name, abs: "/w/" + name}, true) {
				t.Errorf("%+q does not cover %+q", rule, name)
			}
		}
	}
}

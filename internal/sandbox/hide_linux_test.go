//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hiding returns a base folder with private files, and the policy that hides them.
func hiding(t *testing.T) (base string, p Policy) {
	t.Helper()
	if o := Probe(t.Context()); o.Missing != "" {
		t.Skip(o.Missing)
	}
	base = t.TempDir()
	for _, name := range []string{"home/.agent/ide/1.lock", "home/.agent/key", "home/.agent/skills/run.sh", "home/.profile", "home/other/f", "work/f", "beside"} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(base, name) }
	return base, Policy{
		Write: []string{in("work")}, Network: true,
		Hide: []string{in("home/.agent"), in("home/.missing/ide")}, Show: []string{in("home/.agent/skills"), in("home/.agent/missing")},
	}
}

// hides are lines that read a hidden file, by its path H, and succeed without a sandbox.
var hides = map[string]string{
	"cat":               "cat H",
	"redirection":       "read -r x <H && echo $x",
	"relative":          "cat ../home/.agent/ide/1.lock",
	"link":              "ln -s H soft && cat soft",
	"link to a folder":  "ln -s $(dirname H) folder && cat folder/1.lock",
	"hard link":         "ln H hard && cat hard",
	"move":              "mv H moved && cat moved",
	"move of a folder":  "mv $(dirname H) moved && cat moved/1.lock",
	"move above":        "mv $(dirname $(dirname H)) moved && cat moved/ide/1.lock",
	"copy":              "cp -r $(dirname H) copied && cat copied/1.lock",
	"root of a process": "cat /proc/self/root/H",
	"working folder":    "cd $(dirname H) && cat /proc/self/cwd/1.lock",
	"mode":              "chmod 777 H && cat H",
	"search":            "grep -r 'text of' $(dirname H)",
	"archive":           "tar -cf - $(dirname H) 2>/dev/null | grep -a 'text of'",
	"program":           "perl -e 'open(F, q(<), q(H)) or die $!; print <F>'",
	"direct":            "dd if=H bs=512 status=none",
	"descriptor":        "exec 3<H && cat <&3",
	"source":            ". H 2>&1 | grep text",
	"process":           "(cd / && setsid -w cat H)",
}

// Nothing in the sandbox reads a hidden file; all else that it could read, it still reads.
func TestHidden(t *testing.T) {
	for name, line := range hides {
		t.Run(name, func(t *testing.T) {
			for _, hide := range []bool{false, true} {
				base, p := hiding(t)
				if !hide {
					p = Policy{Write: []string{base}, Network: true}
				}
				line := strings.ReplaceAll(line, "H", filepath.Join(base, "home/.agent/ide/1.lock"))
				out, _ := confined(t, p, filepath.Join(base, "work"), line)
				if read := strings.Contains(out, "text of home/.agent/ide/1.lock") || strings.Contains(out, "text: "); read == hide {
					t.Errorf("hidden: %v: %s", hide, out)
				}
			}
		})
	}
	base, p := hiding(t)
	for _, line := range []string{
		"cat ../home/.profile ../home/other/f ../beside f", "cat ../home/.agent/skills/run.sh", "echo x >new && cat new",
		"ls ../home/.agent/ide", "cat /etc/passwd /proc/self/status", "mkdir d && cp /bin/true d && d/true", "head -c 1 /dev/urandom",
		"ln -s /etc/passwd l && cat l", "(exec 3<<<x; cat <&3)", "cat <(echo x)", "git init -q . && git status", "python3 -c 'import json'",
	} {
		if out, err := confined(t, p, filepath.Join(base, "work"), line); err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	if out, err := confined(t, p, filepath.Join(base, "work"), "cat ../home/.agent/key"); err == nil {
		t.Errorf("a key was read: %s", out)
	}
}

// A file system that is mounted at two places hides the folder at both.
func TestHiddenAtAnotherMount(t *testing.T) {
	base, p := hiding(t)
	other := t.TempDir()
	for _, from := range []string{"home", "home/.agent", "home/.agent/ide"} {
		if err := unix.Mount(filepath.Join(base, from), other, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("no mount: %v", err)
		}
		rel, err := filepath.Rel(from, "home/.agent/ide/1.lock")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(other, rel)
		if _, err := os.ReadFile(file); err != nil {
			t.Error(err)
		}
		if out, err := confined(t, p, filepath.Join(base, "work"), "cat "+file); err == nil {
			t.Errorf("%s: %s", from, out)
		}
		if err := unix.Unmount(other, 0); err != nil {
			t.Fatal(err)
		}
	}
}

//go:build unix

package permission_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// TestPublishedBypasses runs lines that a rule lets run, and changes files that could run
// code.
func TestPublishedBypasses(t *testing.T) {
	runs := func(allowed func(t *testing.T, line string) bool, line string) func(t *testing.T) bool {
		return func(t *testing.T) bool {
			if !allowed(t, line) {
				return false
			}
			made := filepath.Join(t.TempDir(), "made")
			cmd := exec.Command("bash", "-c", strings.ReplaceAll(line, "MADE", made))
			cmd.Dir = t.TempDir()
			_ = cmd.Run() // a line may fail and still have its effect
			_, err := os.Stat(made)
			return err == nil
		}
	}
	for _, c := range []struct {
		attack, line string
		rules        []string // as allow run(x)
		weak         func(line string) bool
	}{
		{"anthropics/claude-code#4956: a rule for a program covers a chain of others", "echo x; touch MADE", []string{"allow run(echo **)"}, func(line string) bool { return strings.HasPrefix(line, "echo ") }},
		{"anthropics/claude-code#28784: a rule for cd covers what follows", "cd / && touch MADE", []string{"allow run(cd **)"}, func(line string) bool { return strings.HasPrefix(line, "cd ") }},
		{"anthropics/claude-code#58424: a rule for a program covers a substitution", "echo $(touch MADE)", []string{"allow run(echo **)"}, func(line string) bool { return strings.HasPrefix(line, "echo ") }},
		{"anthropics/claude-code#43085: a shell around a denied command", "bash -c 'touch MADE'", []string{"allow run", "deny run(touch **)"}, func(line string) bool { return !strings.HasPrefix(line, "touch ") }},
		{"a denied command with its folder", "/bin/touch MADE", []string{"allow run", "deny run(touch **)"}, func(line string) bool { return !strings.HasPrefix(line, "touch ") }},
		{"a denied command behind 60 others", strings.Repeat("true; ", 60) + "touch MADE", []string{"allow run", "deny run(touch **)"}, func(line string) bool {
			return !slices.ContainsFunc(strings.SplitN(line, "; ", 50)[:49], func(part string) bool { return strings.HasPrefix(part, "touch ") })
		}},
		{"a denied command behind choom", "choom -n 0 touch MADE", []string{"allow run", "deny run(touch **)"}, notFirst},
		{"a denied command in the editor ed", "printf '!touch MADE\\nq\\n' | ed -s", []string{"allow run", "deny run(touch **)"}, notFirst},
		{"a denied command as a part of the compiler", "cc -wrapper touch,MADE,-- -E -x c /dev/null", []string{"allow run", "deny run(touch **)"}, notFirst},
		{"a denied command behind taskset", "taskset 1 touch MADE", []string{"allow run", "deny run(touch **)"}, notFirst},
	} {
		if name := strings.Fields(c.line)[0]; missing(name) || strings.Contains(c.line, "| ed") && missing("ed") {
			t.Logf("skipped: %s is not installed", c.line)
			continue
		}
		bypass.Try(t, c.attack, "each simple command of a line is compared with the rules alone; deny and ask count before allow, and a shell asks", runs(func(_ *testing.T, line string) bool { return c.weak(line) }, c.line),
			runs(func(t *testing.T, line string) bool { return decides(t, line, c.rules) }, c.line))
	}
	for _, host := range []string{"example.com.evil.test", "example.community", "evilexample.com"} {
		bypass.Try(t, "CVE-2026-24052: "+host+" is taken for a trusted host", "hosts are compared whole, or by their end behind a dot", func(*testing.T) bool {
			return strings.HasPrefix(host, "example.com") || strings.HasSuffix(host, "example.com")
		}, func(t *testing.T) bool {
			for _, rule := range []string{"fetch(example.com)", "fetch(*.example.com)"} {
				r, err := permission.ParseRule(permission.Allow, rule, "")
				if err != nil {
					t.Fatal(err)
				}
				if _, decided := permission.New(permission.Default, r).Decide(fetching(host)); decided {
					return true
				}
			}
			return false
		})
	}
	exact := func(name string) bool { return name == ".vscode/settings.json" || name == ".git/config" }
	exists := func(name string) bool { _, err := os.Stat(name); return err == nil && exact(name) }
	for _, c := range []struct {
		attack, name string
		weak         func(name string) bool
	}{
		{"CVE-2025-59944: a protected file in other letters", ".VSCode/Settings.JSON", exact},
		{"CVE-2026-25725: a protected file that does not exist yet", ".vscode/settings.json", exists},
		{"CVE-2025-53773: settings of the editor that approve everything", ".vscode/settings.json", func(string) bool { return false }},
		{"a hook of git is written", ".git/hooks/post-checkout", exact},
	} {
		bypass.Try(t, c.attack, "edits of protected files always ask, by folded name, and whether they exist or not", func(*testing.T) bool { return !c.weak(c.name) },
			func(*testing.T) bool { return permission.Protected(c.name, "", "") == "" })
	}
	bypass.Try(t, "allxsmith/bestax#219: the key is read through /proc", "files that hold the memory and environment of processes are never read", func(t *testing.T) bool {
		return environment(t, func(string) bool { return true })
	}, func(t *testing.T) bool {
		return environment(t, func(path string) bool { return permission.NeverRead(path, "") == "" })
	})
}

// notFirst denies touch if it is the first word.
func notFirst(line string) bool { return !strings.HasPrefix(line, "touch ") }

// missing reports whether a program is not installed; commands of the shell are.
func missing(name string) bool {
	return exec.Command("bash", "-c", "type "+name).Run() != nil
}

// environment reports whether a guard lets the environment of a process be read.
func environment(t *testing.T, guard func(path string) bool) bool {
	t.Helper()
	path, err := filepath.EvalSymlinks("/proc/self/environ") // as the workspace resolves it
	if err != nil {
		t.Skip("the system has no /proc")
	}
	if !guard(path) {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), "PATH=")
}

// decides reports whether a policy with rules approves a line without a question.
func decides(t *testing.T, line string, texts []string) bool {
	t.Helper()
	effects := map[string]permission.Effect{"allow": permission.Allow, "ask": permission.Ask, "deny": permission.Deny}
	var rules []permission.Rule
	for _, text := range texts {
		effect, text, _ := strings.Cut(text, " ")
		r, err := permission.ParseRule(effects[effect], text, "test")
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	v, decided := permission.New(permission.Default, rules...).Decide(confirm.Request{
		Tool: "execute_command", Subject: &confirm.Command{Line: line, Dir: t.TempDir(), Parts: safecmd.Classify(line).CommandParts(false)},
	})
	return decided && v.Decision == confirm.Approve
}

//go:build unix

package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// TestPublishedBypasses really runs commands in environments of an attacker's choice.
func TestPublishedBypasses(t *testing.T) {
	all := func(base []string) []string { return base }
	clean := func(base []string) []string { return shell.Environ(base, nil) }
	for _, c := range []struct {
		attack, variable, line string
	}{
		{"CVE-2026-32056: a variable names a file that the shell runs first", "BASH_ENV=EVIL", "bash -c true"},
		{"a variable names a program that git runs", "GIT_EXTERNAL_DIFF=EVIL", "git init -q . && echo x >f && git add f && echo y >f && git diff"},
		{"a variable names a program that git's editor runs", "GIT_EDITOR=EVIL", "git init -q . && git -c user.name=x -c user.email=x@x commit --allow-empty"},
		{"a variable redefines a command", "BASH_FUNC_ls%%=() { EVIL; }", "bash -c ls"},
	} {
		try := func(environ func([]string) []string) func(t *testing.T) bool {
			return func(t *testing.T) bool {
				dir := t.TempDir()
				evil, made := filepath.Join(dir, "evil"), filepath.Join(dir, "made")
				scratch.Program(t, evil, "#!/bin/sh\n: >"+made+"\nexit 1\n")
				env := environ(append(os.Environ(), strings.ReplaceAll(c.variable, "EVIL", evil)))
				run(t, shell.Options{Line: c.line, Dir: t.TempDir(), Env: env})
				_, err := os.Stat(made)
				return err == nil
			}
		}
		bypass.Try(t, c.attack, "commands get an environment without variables that steer programs", try(all), try(clean))
	}
	leaks := func(environ func([]string) []string) func(t *testing.T) bool {
		return func(t *testing.T) bool {
			env := environ(append(os.Environ(), "OPENAI_API_KEY=sk-canary-0123456789"))
			made := filepath.Join(t.TempDir(), "made")
			run(t, shell.Options{Line: "env >" + made, Env: env})
			return strings.Contains(scratch.Read(t, made), "sk-canary-0123456789")
		}
	}
	bypass.Try(t, "anthropics/claude-code#10211: commands see the key", "keys are in no child's environment", leaks(all), leaks(clean))
}

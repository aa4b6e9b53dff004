package tools

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// A shell that reads a line by rules of its own may find other commands in it than rules do: a person is
// asked about each line, and no rule, no mode but bypass and no grant approves it. Rules that deny
// commands refuse it in bypass mode.
func TestLinesThatRulesDoNotRead(t *testing.T) {
	cmd := &shell.Interpreter{Name: "cmd.exe"}
	allow := func(text string) permission.Rule {
		r, err := permission.ParseRule(permission.Allow, text, "a test")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	deny := allow("run(del *)")
	deny.Effect = permission.Deny
	for _, in := range []*shell.Interpreter{cmd, nil} {
		b := newBench(t, nil)
		b.deps.shell = in
		for _, line := range []string{
			`type "a\" & del ro.txt & rem "`, "go test ./...", "echo hi > out.txt", "cat f", `echo '&del f&'`,
			"echo a ^& del f", "echo %PATH:~0,1%", "type a,b", "echo a;del f", "(echo a)", `echo "a`, "if exist f del f", "echo a | del f", "cat f %~dp0",
		} {
			c := commander{Deps: b.deps}
			req := c.request(execution{executeCommandArgs: executeCommandArgs{Command: line}, opts: shell.Options{Dir: b.dir}, judged: c.place(b.dir).Judge(line)})
			noted := len(req.Notes) > 0 && strings.Contains(req.Notes[len(req.Notes)-1].Text, "cmd.exe")
			if in == nil && shell.In(b.dir).Posix {
				if noted {
					t.Errorf("%s: noted with a shell that rules read", line)
				}
				continue
			}
			if !req.Force || !noted || confirm.As[*confirm.Command](req).ReadOnly {
				t.Errorf("%s: forced %v, noted %v", line, req.Force, noted)
			}
			for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits} {
				rules := []permission.Rule{allow("run"), allow("run(type **)"), allow("run(echo **)"), allow("run(go test *)"), allow("run(cat *)")}
				if v, decided := permission.New(mode, rules...).Decide(req); decided {
					t.Errorf("%s: %v decides %+v", line, mode, v)
				}
			}
			if v, _ := permission.New(permission.Bypass, deny).Decide(req); v.Decision == confirm.Approve {
				t.Errorf("%s: runs in bypass mode against a rule that denies commands", line)
			}
		}
	}
}

// No characters with a meaning for cmd.exe or PowerShell make a line that runs unasked, whatever rule allows
// its first words.
func TestNoLineOfCmdRunsUnasked(t *testing.T) {
	rnd := rand.New(rand.NewPCG(stress.Seed(t), 0)) //nolint:gosec // lines, not secrets
	one := func(all ...string) string { return all[rnd.IntN(len(all))] }
	b := newBench(t, nil)
	b.deps.shell = &shell.Interpreter{Name: "cmd.exe"}
	c := commander{Deps: b.deps}
	tried := stress.Size(300, 3000)
	for range tried {
		head := one("type", "echo", "cat", "go test", "dir", "findstr", "git status", "Get-Content", "Write-Output")
		line := head
		for range 1 + rnd.IntN(4) {
			line += one("", " ") + one("&", "&&", "|", "||", ";", ",", "^&", "^", "%X%", "%X:~0,1%", "%~dp0", "!X!", ">", ">>", "<", "2>&1", "(", ")", "@(", "{", "}",
				"`", "$(", "${x}", "$x", "\"", `\"`, "'", "--", "--%", "=", "::", "#", "<#", "#>", "[", "]", "*", "?", "~", "\t", "\u00a0", "\u201c", "\u2013") +
				one("", " ") + one("a", "ro.txt", "del ro.txt", "Remove-Item ro.txt", "rem", "/s", "-Command")
		}
		req := c.request(execution{executeCommandArgs: executeCommandArgs{Command: line}, opts: shell.Options{Dir: b.dir}, judged: c.place(b.dir).Judge(line)})
		forms := 0
		for _, text := range []string{"run", "run(*)", "run(**)", "run(" + head + ")", "run(" + head + " *)", "run(" + head + " **)", "run(" + line + ")", "run(" + line + " **)"} {
			r, err := permission.ParseRule(permission.Allow, text, "a test")
			if err != nil {
				continue
			}
			forms++
			for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits} {
				if v, decided := permission.New(mode, r).Decide(req); decided {
					t.Errorf("%s: %s in mode %v decides %+v", line, text, mode, v)
				}
			}
		}
		if !req.Force || forms < 4 {
			t.Errorf("%s: forced %v, %d forms of rules", line, req.Force, forms)
		}
	}
	t.Logf("load: %d lines", tried)
}

// Only the first of several lines would run.
func TestLinesOfCmdAreRefusedTogether(t *testing.T) {
	b := newBench(t, nil)
	b.deps.shell = &shell.Interpreter{Name: "cmd.exe"}
	b.set = NewSet(b.deps)
	b.want(b.call("execute_command", m{"command": "echo a\necho b"}), true, "was not run", "only the first of several lines")
	if len(b.ask.asked) > 0 {
		t.Error("it was asked about")
	}
}

func TestFormatCommand(t *testing.T) {
	for _, tt := range []struct {
		name        string
		out         shell.Result
		model, user string
	}{
		{"silent", shell.Result{}, "exit code: 0\n(no output)", "exit 0"},
		{"slow", shell.Result{ExitCode: 3, Output: "\x1b[31mno\x1b[0m\n", Took: 1500 * time.Millisecond}, "exit code: 3\nno\n", "exit 3, 1.5 s"},
		{
			"over time",
			shell.Result{ExitCode: 143, TimedOut: true, Output: "x"},
			"exit code: 143 (ended after the timeout of 1m0s; use background for long-running commands)\nx", "ended after 1m0s",
		},
		{
			"long, with notes",
			shell.Result{Spill: "/s", Omitted: 7, Notes: []string{"a note"}, Output: "x"},
			"exit code: 0\n7 bytes are left out below; read_file can read all of it: /s\na note\nx", "exit 0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model, user := FormatCommand(tt.out, time.Minute)
			if d := cmp.Diff([]string{tt.model, tt.user}, []string{model, user}); d != "" {
				t.Error(d)
			}
		})
	}
}

package permission_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func edit(tool string) confirm.Request {
	return confirm.Request{Tool: tool, Subject: confirm.Edit(workspace.Change{After: "x"})}
}

func command(line, dir string) confirm.Request {
	return confirm.Request{Tool: "execute_command", Subject: &confirm.Command{Line: line, Dir: dir}}
}

func readOnly(line string, force bool) confirm.Request {
	return confirm.Request{Tool: "execute_command", Force: force, Subject: &confirm.Command{Line: line, Dir: "/w", ReadOnly: true}}
}

func read(path string) confirm.Request {
	return confirm.Request{Tool: "read_file", Subject: &confirm.Read{Path: path}}
}

func forced(r confirm.Request) confirm.Request {
	r.Force = true
	return r
}

func removal() confirm.Request {
	return confirm.Request{Tool: "undo", Subject: confirm.Edit(workspace.Change{Delete: true})}
}

// TestOnlyTheGuardedFormRunsUnasked: a rule approves a command that only reads in its
// guarded form, and a person who granted it gets the line itself.
func TestOnlyTheGuardedFormRunsUnasked(t *testing.T) {
	for mode, guarded := range map[permission.Mode]bool{permission.Default: true, permission.AcceptEdits: true, permission.Plan: true, permission.Bypass: false} {
		p := permission.New(mode)
		v, _ := p.Decide(readOnly("ls", false))
		if v.Decision != confirm.Approve || v.Guarded != guarded || !v.Rule || guarded && v.By != permission.OnlyReads {
			t.Errorf("%s: %+v", mode, v)
		}
	}
	if v, _ := permission.New(permission.Bypass).Decide(command("ls", "/w")); v.Guarded {
		t.Errorf("%+v", v)
	}
}

// answer puts a decision into one word.
func answer(v confirm.Verdict, decided bool) string {
	switch {
	case !decided:
		return "ask"
	case v.Decision == confirm.Approve:
		return "yes"
	}
	return "no"
}

func TestModesDecide(t *testing.T) {
	tests := map[string]struct {
		req  confirm.Request
		want [4]string // default, accept-edits, plan, bypass
	}{
		"edit":           {edit("edit_file"), [4]string{"ask", "yes", "no", "yes"}},
		"forced edit":    {forced(edit("edit_file")), [4]string{"ask", "ask", "no", "yes"}},
		"removal":        {removal(), [4]string{"ask", "ask", "no", "yes"}},
		"command":        {command("ls", "/w"), [4]string{"ask", "ask", "no", "yes"}},
		"forced command": {forced(command("ls", "/w")), [4]string{"ask", "ask", "no", "yes"}},
		"reading":        {readOnly("ls", false), [4]string{"yes", "yes", "yes", "yes"}},
		"forced reading": {readOnly("ls", true), [4]string{"ask", "ask", "no", "yes"}},
		"read":           {read("/usr/include/x.h"), [4]string{"ask", "ask", "ask", "yes"}},
		"nothing at all": {confirm.Request{Tool: "x"}, [4]string{"ask", "ask", "no", "yes"}},
	}
	for name, tt := range tests {
		for mode, want := range tt.want {
			m := permission.Mode(mode)
			v, decided := permission.New(m).Decide(tt.req)
			if got := answer(v, decided); got != want {
				t.Errorf("%s in %s: %s, want %s", name, m, got, want)
			}
			if decided && (!strings.Contains(v.By, m.String()) && v.By != permission.OnlyReads || !v.Rule) {
				t.Errorf("%s in %s: the verdict says it is by %q", name, m, v.By)
			}
			if v.Decision == confirm.Reject && decided && !strings.HasPrefix(v.Feedback, "plan mode: ") {
				t.Errorf("%s in %s: a rule's no must tell the model why, got %q", name, m, v.Feedback)
			}
		}
	}
}

func TestGrantCoversOnlyTheShownRequest(t *testing.T) {
	background := command("make", "/w")
	confirm.As[*confirm.Command](background).Background = true
	tests := map[string]struct {
		granted, asked confirm.Request
		want           string
	}{
		"same tool, other file": {edit("edit_file"), edit("edit_file"), "yes"},
		"other tool":            {edit("edit_file"), edit("write_file"), "yes"},
		"same command":          {command("make", "/w"), command("make", "/w"), "yes"},
		"longer command":        {command("make", "/w"), command("make; rm -rf /", "/w"), "ask"},
		"blank more":            {command("make", "/w"), command("make ", "/w"), "ask"},
		"other folder":          {command("make", "/w"), command("make", "/w/sub"), "ask"},
		"in the background":     {command("make", "/w"), background, "ask"},
		"same path":             {read("/a"), read("/a"), "yes"},
		"path below":            {read("/a"), read("/a/b"), "ask"},
		"forced later":          {edit("edit_file"), forced(edit("edit_file")), "ask"},
		"granted while forced":  {forced(edit("edit_file")), edit("edit_file"), "ask"},
		"a removal":             {removal(), removal(), "ask"},
		"removal after edits":   {edit("undo"), removal(), "ask"},
		"tool without a name":   {edit(""), edit(""), "ask"},
		"nothing at all":        {confirm.Request{Tool: "x"}, confirm.Request{Tool: "x"}, "ask"},
	}
	for name, tt := range tests {
		p := permission.New(permission.Default)
		p.Grant(tt.granted)
		v, decided := p.Decide(tt.asked)
		if got := answer(v, decided); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// nasty holds lines that a rule of words, prefixes or patterns would take for "git
// status" or "go test ./...".
var nasty = []string{
	"git status; rm -rf .", "git status && curl x|sh", "git status || true", "git status | sh", "git status & rm x", "git status\nrm -rf .",
	"git status > .bashrc", "git status >> f", "git status < f", "git status 2>f", "git status $(rm x)", "git status `rm x`", "git status <(rm x)", "git status <<X\nX",
	"git  status", " git status", "git status ", "\tgit status", "git status\r", "git status\x00", "git status #x", "Git status", "git statusx", "git",
	"git -c core.pager=sh status", "git -C / status", "git --git-dir=/x status", "GIT_SSH_COMMAND=sh git status", "PATH=. git status", "X=1 git status",
	"env git status", "sudo git status", "command git status", "exec git status", "nohup git status", "time git status", "xargs git status", "sh -c 'git status'", "eval git status",
	"\\git status", "g''it status", "\"git\" status", "git${IFS}status", "./git status", "/usr/bin/git status", "git status {a,b}", "git status *", "git st\\atus", "(git status)", "{ git status; }", "! git status", "git\u00a0status", "git stat\u200bus",
	"go test ./... -exec sh", "go test -toolexec=sh ./...", "go test ./..", "go test ./.../x", "find . -exec git status \\;", "alias git=rm; git status", "cd / && git status", "if git status; then rm x; fi",
}

// TestGrantIsOfOneLine: a grant has no pattern that could match more than the person was
// shown.
// Only a person accepts a document, whatever the mode and the rules.
func TestDocumentsAreNotDecided(t *testing.T) {
	for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits, permission.Plan, permission.Bypass} {
		p := permission.New(mode)
		if v, decided := p.Decide(confirm.Request{Tool: "present_plan", Subject: &confirm.Document{Text: "a plan"}}); decided {
			t.Errorf("%v mode: %+v", mode, v)
		}
	}
}

func TestGrantIsOfOneLine(t *testing.T) {
	p := permission.New(permission.Default)
	for _, line := range []string{"git status", "go test ./..."} {
		p.Grant(command(line, "/w"))
		if v, decided := p.Decide(command(line, "/w")); answer(v, decided) != "yes" {
			t.Errorf("%q is not granted", line)
		}
		for _, dir := range []string{"/w/", "/w/.", "/", "", "/W"} {
			if v, decided := p.Decide(command(line, dir)); answer(v, decided) != "ask" {
				t.Errorf("%q in %q: %s", line, dir, answer(v, decided))
			}
		}
	}
	for _, line := range nasty {
		if v, decided := p.Decide(command(line, "/w")); answer(v, decided) != "ask" {
			t.Errorf("%q: %s", line, answer(v, decided))
		}
	}
}

func TestPlanOverridesGrants(t *testing.T) {
	p := permission.New(permission.Default)
	p.Grant(command("make", "/w"))
	p.Grant(edit("edit_file"))
	if err := p.SetMode(permission.Plan); err != nil {
		t.Fatal(err)
	}
	for _, req := range []confirm.Request{command("make", "/w"), edit("edit_file")} {
		if v, decided := p.Decide(req); answer(v, decided) != "no" {
			t.Errorf("%+v is %s in plan mode, want no", req, answer(v, decided))
		}
	}
	if err := p.SetMode(permission.Default); err != nil {
		t.Fatal(err)
	}
	if v, decided := p.Decide(command("make", "/w")); answer(v, decided) != "yes" {
		t.Error("leaving plan mode lost the grant")
	}
}

func TestModeNames(t *testing.T) {
	for m := permission.Default; m <= permission.Bypass; m++ {
		got, err := permission.ParseMode(m.String())
		if err != nil || got != m {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	for _, name := range []string{"", "Default", "yolo", "bypass ", "mode 7"} {
		got, err := permission.ParseMode(name)
		if err == nil || got != permission.Default || !strings.Contains(err.Error(), "accept-edits") {
			t.Errorf("ParseMode(%q) = %v, %v; want default and an error with the names", name, got, err)
		}
	}
	if got := permission.Mode(7).String(); got != "mode 7" {
		t.Errorf("an unknown mode prints as %q", got)
	}
}

func TestCycle(t *testing.T) {
	p := permission.New(permission.Default)
	for _, want := range []permission.Mode{permission.AcceptEdits, permission.Plan, permission.Default} {
		if got := p.Cycle(); got != want || p.Mode() != want {
			t.Errorf("Cycle = %v, Mode = %v, want %v", got, p.Mode(), want)
		}
	}
	p = permission.New(permission.Bypass)
	for _, want := range []permission.Mode{permission.Default, permission.AcceptEdits, permission.Plan, permission.Bypass} {
		if got := p.Cycle(); got != want {
			t.Errorf("started in bypass: Cycle = %v, want %v", got, want)
		}
	}
}

// TestAPersonAnswers: no rule, grant or mode approves a request that a hook wants a person to
// look at.
func TestAPersonAnswers(t *testing.T) {
	rules := []permission.Rule{}
	for _, text := range []string{"run", "edit", "read(/**)"} {
		r, err := permission.ParseRule(permission.Allow, text, "test")
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	for mode := permission.Default; mode <= permission.Bypass; mode++ {
		for name, req := range map[string]confirm.Request{"edit": edit("edit_file"), "run": command("make", "/w"), "list": readOnly("ls", false), "read": read("/x"), "plan": {Subject: &confirm.Edits{}}} {
			p := permission.New(mode, rules...)
			p.Grant(req)
			req.Force, req.Person = true, true
			if v, decided := p.Decide(req); v.Decision == confirm.Approve || mode == permission.Bypass && decided {
				t.Errorf("%s, %s: %+v", mode, name, v)
			}
		}
	}
}

func TestSetModeRefuses(t *testing.T) {
	p := permission.New(permission.Plan)
	for _, m := range []permission.Mode{permission.Bypass, -1, 4} {
		if err := p.SetMode(m); err == nil || p.Mode() != permission.Plan {
			t.Errorf("SetMode(%v) = %v, mode is now %v", m, err, p.Mode())
		}
	}
	p = permission.New(permission.Bypass)
	p.Cycle()
	if err := p.SetMode(permission.Bypass); err != nil {
		t.Errorf("a session that started in bypass cannot return to it: %v", err)
	}
}

// TestForcedIsNeverApproved is the promise for protected paths: whatever the earlier
// grants and the mode, except bypass, a person looks.
func TestForcedIsNeverApproved(t *testing.T) {
	requests := []confirm.Request{edit("edit_file"), edit("patch"), command("make", "/w"), read("/a"), removal()}
	rapid.Check(t, func(t *rapid.T) {
		p := permission.New(permission.Default)
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			req := requests[rapid.IntRange(0, len(requests)-1).Draw(t, "request")]
			if rapid.Bool().Draw(t, "forced") {
				req = forced(req)
			}
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				p.Grant(req)
			case 1:
				p.Cycle()
			case 2:
				v, decided := p.Decide(req)
				if decided && v.Decision == confirm.Approve && (req.Force || p.Mode() == permission.Plan && confirm.As[*confirm.Read](req) == nil) {
					t.Fatalf("approved %+v in %v", req, p.Mode())
				}
			}
		}
	})
}

func TestGrantsCanBeRevoked(t *testing.T) {
	p := permission.New(permission.Default)
	requests := []confirm.Request{edit("edit_file"), command("go test ./...", "/w"), read("/usr/include/x.h")}
	for range 2 {
		for _, r := range requests {
			p.Grant(r)
		}
	}
	var said []string
	for _, g := range p.Grants() {
		said = append(said, g.String())
	}
	if d := cmp.Diff([]string{"edits", `the command "go test ./..." in /w`, "reading /usr/include/x.h"}, said); d != "" {
		t.Error(d)
	}
	second := p.Grants()[1]
	if !p.Revoke(second) || p.Revoke(second) {
		t.Error("a grant is there once")
	}
	for i, want := range []string{"yes", "ask", "yes"} {
		if v, decided := p.Decide(requests[i]); answer(v, decided) != want {
			t.Errorf("%+v: %s, want %s", requests[i], answer(v, decided), want)
		}
	}
	p.Forget()
	for _, r := range requests {
		if v, decided := p.Decide(r); answer(v, decided) != "ask" {
			t.Errorf("%+v is still granted", r)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	p := permission.New(permission.Default)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				p.Grant(edit("edit_file"))
				p.Decide(edit("edit_file"))
				if m := p.Cycle(); m == permission.Bypass {
					t.Error("slipped into bypass")
				}
			}
		})
	}
	wg.Wait()
}

// Leaving the sandbox is a person's decision, whatever the mode and the grants.
func TestNoModeLeavesTheSandbox(t *testing.T) {
	for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits, permission.Plan, permission.Bypass} {
		p := permission.New(mode)
		inside, outside := command("true", "/"), command("true", "/")
		confirm.As[*confirm.Command](outside).Unconfined = true
		p.Grant(inside)
		p.Grant(outside)
		v, decided := p.Decide(outside)
		if decided != (mode == permission.Plan) || v.Decision == confirm.Approve {
			t.Errorf("%s: %+v, %v", mode, v, decided)
		}
		if n := len(p.Grants()); n != 1 {
			t.Errorf("%s: %d grants", mode, n)
		}
	}
}

package permission

import (
	"crypto/sha256"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// making is the question about a command that is one part.
func making(dir string, words ...string) confirm.Request {
	req := running(strings.Join(words, " "), dir)
	confirm.As[*confirm.Command](req).Parts = []confirm.CommandPart{{Words: words}}
	return req
}

// allowing returns a policy with a rule that the answer to req made.
func allowing(t *testing.T, req confirm.Request, text string, life Life) *Policy {
	t.Helper()
	p := New(Default)
	r, err := ParseRule(Allow, text, "your answer")
	r.Life = life
	if err == nil {
		err = p.Hold(req, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rewriting is the question about a new content of a file.
func rewriting(path, before, after string) confirm.Request {
	f := workspace.File{Path: path, Name: filepath.Base(path), Exists: before != "", Text: before, Hash: sha256.Sum256([]byte(before))}
	return confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{File: f, After: after})}
}

// TestApprovedContentsEndNoRule: a change that a person approved ends no rule, and one from
// outside ends it, even if it comes after an approved one.
func TestApprovedContentsEndNoRule(t *testing.T) {
	yes := confirm.Verdict{Decision: confirm.Approve}
	edited := "mine\n"
	for name, tt := range map[string]struct {
		approve func(p *Policy, makefile, script string)
		now     string // the Makefile
		want    string
	}{
		"approved": {func(p *Policy, m, _ string) { p.Approved(rewriting(m, "one\n", "two\n"), yes) }, "two\n", ""},
		"twice": {func(p *Policy, m, _ string) {
			p.Approved(rewriting(m, "one\n", "two\n"), yes)
			p.Approved(rewriting(m, "two\n", "three\n"), yes)
		}, "three\n", ""},
		"edited": {func(p *Policy, m, _ string) {
			p.Approved(rewriting(m, "one\n", "two\n"), confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(edited)})
		}, edited, ""},
		"in a plan": {func(p *Policy, m, s string) {
			plan := &confirm.Edits{Changes: []workspace.Change{*rewriting(s, "", "x").File(), *rewriting(m, "one\n", "two\n").File()}}
			p.Approved(confirm.Request{Subject: plan}, confirm.Verdict{Decision: confirm.Approve, Except: []int{0}})
		}, "two\n", ""},
		"new file": {func(p *Policy, m, s string) {
			p.Approved(rewriting(m, "one\n", "./x.sh\n"), yes)
			p.Approved(rewriting(s, "", "#\n"), yes)
		}, "./x.sh\n", ""},
		"another text": {func(p *Policy, m, _ string) { p.Approved(rewriting(m, "one\n", "two\n"), yes) }, "evil\n", "Makefile has changed"},
		"another base": {func(p *Policy, m, _ string) { p.Approved(rewriting(m, "outside\n", "two\n"), yes) }, "two\n", "Makefile has changed"},
		"refused":      {func(p *Policy, m, _ string) { p.Approved(rewriting(m, "one\n", "two\n"), confirm.Verdict{}) }, "two\n", "Makefile has changed"},
		"left out": {func(p *Policy, m, _ string) {
			plan := &confirm.Edits{Changes: []workspace.Change{*rewriting(m, "one\n", "two\n").File()}}
			p.Approved(confirm.Request{Subject: plan}, confirm.Verdict{Decision: confirm.Approve, Except: []int{0}})
		}, "two\n", "Makefile has changed"},
		"by a rule": {func(p *Policy, m, _ string) {
			p.Approved(rewriting(m, "one\n", "two\n"), confirm.Verdict{Decision: confirm.Approve, Rule: true})
		}, "two\n", "Makefile has changed"},
		"new file unseen": {func(p *Policy, m, _ string) { p.Approved(rewriting(m, "one\n", "./x.sh\n"), yes) }, "./x.sh\n", "x.sh is new"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			makefile, script := filepath.Join(dir, "Makefile"), filepath.Join(dir, "x.sh")
			scratch.Write(t, makefile, "one\n")
			p := allowing(t, making(dir, "make", "a"), "run(make *)", Life{})
			tt.approve(p, makefile, script)
			scratch.Write(t, makefile, tt.now)
			if strings.Contains(tt.now, "x.sh") {
				scratch.Program(t, script, "#\n")
			}
			for _, target := range []string{"b", "a"} {
				if v, decided := p.Decide(making(dir, "make", target)); decided != (tt.want == "") || !strings.Contains(v.Feedback, tt.want) {
					t.Errorf("make %s: %v, %q; want %q", target, decided, v.Feedback, tt.want)
				}
			}
			if n := len(p.Grants()); (n == 1) != (tt.want == "") {
				t.Errorf("%d rules", n)
			}
		})
	}
}

// TestARuleRemembersLaterCommands: a rule also ends when a script has changed that only a
// later command ran, and when a manifest appears beside those of the first.
func TestARuleRemembersLaterCommands(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"a later script": {"later.sh", "later.sh has changed"},
		"a new manifest": {"go.work", "go.work is new"},
		"what generates": {"main.go", "main.go has changed"},
	} {
		dir := t.TempDir()
		scratch.Write(t, filepath.Join(dir, "later.sh"), "one")
		p := allowing(t, making(dir, "go", "generate", "a"), "run(go generate *)", Life{})
		if _, decided := p.Decide(making(dir, "go", "generate", "later.sh")); !decided {
			t.Fatal("not allowed")
		}
		scratch.Write(t, filepath.Join(dir, tt.file), "two")
		v, decided := p.Decide(making(dir, "go", "generate", "later.sh", "b"))
		if decided != (tt.want == "") || !strings.Contains(v.Feedback, tt.want) {
			t.Errorf("%s: %v, %q", name, decided, v.Feedback)
		}
	}
}

// TestRulesEnd: after a number of uses or at a time, which the next question explains.
func TestRulesEnd(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local)
	asks := func(p *Policy, note string) {
		t.Helper()
		if v, decided := p.Decide(making(dir, "make", "a")); decided || v.Feedback != note || len(p.Grants()) != 0 {
			t.Errorf("%v, %q", decided, v.Feedback)
		}
	}
	uses := allowing(t, making(dir, "make", "a"), "run(make *)", Life{Uses: 2})
	for _, left := range []string{"2 more times", "1 more time"} {
		if got := uses.Grants()[0].Life.String(); got != left {
			t.Errorf("%s, want %s", got, left)
		}
		if v, decided := uses.Decide(making(dir, "make", left[:1])); !decided || v.By != "rule allow run(make *) (your answer)" {
			t.Errorf("%v %+v", decided, v)
		}
	}
	asks(uses, "You allowed run(make *) for the session; you are asked again because it is used up.")

	hour := allowing(t, making(dir, "make", "a"), "run(make *)", Life{Until: now.Add(time.Hour)})
	hour.now = func() time.Time { return now.Add(59 * time.Minute) }
	if _, decided := hour.Decide(making(dir, "make", "a")); !decided || hour.Grants()[0].Life.String() != "until 16:04" {
		t.Error(hour.Grants())
	}
	hour.now = func() time.Time { return now.Add(time.Hour) }
	asks(hour, "You allowed run(make *) for the session; you are asked again because its time is over.")
}

// TestOwnOutput: the file that a command writes its output to ends no grant for the command.
func TestOwnOutput(t *testing.T) {
	for _, line := range []string{"make | tee build.log", "make > build.log", "make all >> build.log 2>&1", "go test ./... 2>&1 | tee -a build.log", "npm test > build.log", "./run.sh | tee build.log"} {
		dir := t.TempDir()
		for _, name := range []string{"Makefile", "package.json", "run.sh"} {
			scratch.Write(t, filepath.Join(dir, name), "all:\n")
		}
		req := running(line, dir)
		p := New(Default)
		p.Grant(req)
		for _, text := range []string{"", "one\n", "two\n"} {
			if text != "" {
				scratch.Write(t, filepath.Join(dir, "build.log"), text)
			}
			if v, decided := p.Decide(req); !decided {
				t.Errorf("%s is asked about again after %q: %s", line, text, v.Feedback)
			}
		}
	}
}

package permission

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// rulesOf parses rules such as "allow run(make)".
func rulesOf(t *testing.T, texts ...string) []Rule {
	t.Helper()
	var all []Rule
	for _, text := range texts {
		name, rule, _ := strings.Cut(text, " ")
		e, err := ParseEffect(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ruleOf(t, e, rule))
	}
	return all
}

// parts takes a line of commands, joined by "; ", apart. A ? marks a word that is known
// only when it runs, env and shells run others, ls only reads, redirect is a redirection.
func parts(t *testing.T, line string) []confirm.CommandPart {
	t.Helper()
	var all []confirm.CommandPart
	for text := range strings.SplitSeq(line, "; ") {
		words, err := splitWords(text)
		if err != nil {
			t.Fatal(err)
		}
		p := confirm.CommandPart{Words: words, Safe: words[0] == "ls", Hidden: words[0] == "env" || strings.HasSuffix(words[0], "sh")}
		if strings.Contains(text, "?") {
			p.Words, p.Hidden = nil, true
		}
		if words[0] == "redirect" {
			p.Words = nil
		}
		all = append(all, p)
	}
	return all
}

func lineOf(t *testing.T, line string) confirm.Request {
	return confirm.Request{Tool: "execute_command", Subject: &confirm.Command{Line: line, Dir: t.TempDir(), Parts: parts(t, line)}}
}

// The strictest rule of any part counts for the line; a line is allowed only as a whole.
func TestRulesForCommands(t *testing.T) {
	type list = []string
	for _, tt := range []struct {
		rules list
		line  string
		want  Effect // 0: no rule says anything
	}{
		{list{"allow run(go test *)"}, "go test ./...", Allow},
		{list{"allow run(go test *)"}, "go test ./...; ls", Allow},
		{list{"allow run(go test *)"}, "ls", 0},
		{list{"allow run(go test *)"}, "go test ./...; rm x", 0},
		{list{"allow run(go test *)"}, "go test ./...; redirect out", 0},
		{list{"allow run(go test *)"}, "go test ?dir", 0},
		{list{"allow run(go test *)"}, "env go test", 0},
		{list{"allow run(go test *)"}, "/tmp/go test", 0},
		{list{"allow run(go test *)", "allow run(rm *)"}, "go test; rm x", Allow},
		{list{"allow run(go test *)", "ask run(go test ./slow)"}, "go test ./slow", Ask},
		{list{"ask run(rm **)", "allow run"}, "rm -r x; ls", Ask},
		{list{"allow run"}, "rm ?x; redirect y", Allow},
		{list{"allow run", "deny run(rm **)"}, "rm x", Deny},
		{list{"allow run", "deny run(rm **)"}, "/bin/rm x", Deny},
		{list{"allow run", "deny run(rm **)"}, "ls; ls; rm x", Deny},
		{list{"allow run", "deny run(rm **)"}, "rm.exe x", Deny},
		{list{"allow run", "deny run(rm **)"}, "C:/Git/usr/bin/RM.EXE x", Deny},
		{list{"allow run", "deny run(rm **)"}, "Rm x", Deny},
		{list{"allow run", "deny run(RM.exe **)"}, "rm x", Deny},
		{list{"allow run", "deny run(git push **)"}, "GIT.exe -C . push", Deny},
		{list{"allow run(rm *)"}, "rm.exe x", 0},
		{list{"allow run(rm *)"}, "RM x", 0},
		{list{"allow run", "deny run(rm **)"}, "touch x; redirect y", Allow},
		{list{"allow run", "deny run(rm **)"}, "?rm x", Ask},
		{list{"allow run", "deny run(rm **)"}, "env rm x", Ask},
		{list{"allow run", "deny run(rm **)"}, "/bin/sh -c x", Ask},
		{list{"allow run", "deny run(rm **)"}, "?a; rm x", Deny},
		{list{"allow run", "deny run(rm *)"}, "rm /x a=b", Deny},
		{list{"allow run", "ask run(git push **)"}, "env git push", Ask},
		{list{"allow run", "ask run(git push **)"}, "?x", Ask},
		{list{"allow run", "ask run(git push **)"}, "git -C . -c a.b=c --no-pager push", Ask},
		{list{"allow run", "ask run(git push **)"}, "git -C push log", Allow},
		{list{"allow run", "ask run"}, "env x", Ask},
		{list{"allow run(git push *)"}, "git -C /x push", 0},
		{list{"deny run"}, "ls", Deny},
		{list{"allow run(go test *)", "deny read(secrets/**)"}, "go test ./...; ls", 0},
		{list{"allow run(go test *)", "deny read"}, "go test ./...; ls", Allow},
		{list{"deny edit"}, "ls", 0},
	} {
		a := Rules(rulesOf(t, tt.rules...)).answer(lineOf(t, tt.line))
		if a.effect != tt.want {
			t.Errorf("%q on %q: %d (%s), want %d", tt.rules, tt.line, a.effect, a.why, tt.want)
		}
	}
}

// The modes and the rules together: a deny holds in every mode, an ask in all but bypass,
// and an allow gives way to the plan mode and to a forced review.
func TestRulesAndModes(t *testing.T) {
	edit := confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: "a.go", Path: "/w/a.go", Exists: true}})}
	forced := edit
	forced.Force = true
	removal := confirm.Request{Subject: confirm.Edit(workspace.Change{File: edit.File().File, Delete: true})}
	key := confirm.Request{Subject: &confirm.Read{Path: "/w/config/.env", Name: "config/.env", Inside: true}, Force: true}
	const asked, yes, no = "asked", "yes", "no"
	for _, tt := range []struct {
		rule string
		req  confirm.Request
		want map[Mode]string
	}{
		{"allow edit(*.go)", edit, map[Mode]string{Default: yes, AcceptEdits: yes, Plan: no, Bypass: yes}},
		{"allow edit(*.go)", forced, map[Mode]string{Default: asked, AcceptEdits: asked, Plan: no, Bypass: yes}},
		{"ask edit(*.go)", edit, map[Mode]string{Default: asked, AcceptEdits: asked, Plan: no, Bypass: yes}},
		{"deny edit(*.go)", edit, map[Mode]string{Default: no, AcceptEdits: no, Plan: no, Bypass: no}},
		{"deny edit(*.go)", forced, map[Mode]string{Default: no, AcceptEdits: no, Plan: no, Bypass: no}},
		{"allow edit(*.go)", removal, map[Mode]string{Default: asked, AcceptEdits: asked, Plan: no, Bypass: yes}},
		{"deny edit(*.go)", removal, map[Mode]string{Default: no, AcceptEdits: no, Plan: no, Bypass: no}},
		{"deny read(config/*)", key, map[Mode]string{Default: no, AcceptEdits: no, Plan: no, Bypass: no}},
		{"allow run(make *)", lineOf(t, "make all"), map[Mode]string{Default: yes, AcceptEdits: yes, Plan: no, Bypass: yes}},
		{"deny run(make *)", lineOf(t, "sh x"), map[Mode]string{Default: asked, AcceptEdits: asked, Plan: no, Bypass: no}},
		{"ask run(make *)", lineOf(t, "sh x"), map[Mode]string{Default: asked, AcceptEdits: asked, Plan: no, Bypass: yes}},
		{"allow read(" + scratch.Abs("/etc/*") + ")", confirm.Request{Subject: &confirm.Read{Path: scratch.Abs("/etc/hosts")}}, map[Mode]string{Default: yes, AcceptEdits: yes, Plan: yes, Bypass: yes}},
		{"deny read(/etc/**)", confirm.Request{Subject: &confirm.Read{Path: "/etc/a/b"}}, map[Mode]string{Default: no, AcceptEdits: no, Plan: no, Bypass: no}},
		{"deny read(/etc/**)", confirm.Request{Subject: &confirm.Read{Path: scratch.Abs("/etc/a/b")}}, map[Mode]string{Default: no, AcceptEdits: no, Plan: no, Bypass: no}},
	} {
		for mode, want := range tt.want {
			v, decided := New(mode, rulesOf(t, tt.rule)...).Decide(tt.req)
			got := asked
			if decided {
				got = map[confirm.Decision]string{confirm.Approve: yes, confirm.Reject: no}[v.Decision]
			}
			if got != want {
				t.Errorf("%s in %s mode: %s (%s), want %s", tt.rule, mode, got, v.By, want)
			}
			if got == no && mode != Plan && (!v.Rule || !strings.Contains(v.By, "rule")) {
				t.Errorf("%s in %s mode: refused by %q", tt.rule, mode, v.By)
			}
		}
	}
}

// A rule for one folder allows nothing in another; a stricter rule takes no regard of it.
func TestRuleOfOneFolder(t *testing.T) {
	req := lineOf(t, "make all")
	for effect, want := range map[Effect]map[string]Effect{
		Allow: {confirm.As[*confirm.Command](req).Dir: Allow, "/other": 0},
		Deny:  {confirm.As[*confirm.Command](req).Dir: Deny, "/other": Deny},
	} {
		for dir, want := range want {
			r := ruleOf(t, effect, "run(make *)")
			r.Dir = dir
			if got := (Rules{r}).answer(req).effect; got != want {
				t.Errorf("%v in %s: %d, want %d", effect, dir, got, want)
			}
		}
	}
}

// No rule is proposed that a stricter one makes useless.
func TestProposals(t *testing.T) {
	for rule, want := range map[string]int{"allow edit": 1, "ask run(make *)": 0, "ask run(npm *)": 1} {
		if got := New(Default, rulesOf(t, rule)...).Proposals(lineOf(t, "make all")); len(got) != want {
			t.Errorf("%s: proposed %v", rule, got)
		}
	}
}

// A rule about certain files withholds them from reads that need no answer otherwise, and
// commands that only read then ask: they may read them.
func TestRulesWithholdFiles(t *testing.T) {
	for rule, withheld := range map[string]bool{
		"deny read(secrets/**)": true, "ask read(**/secrets/*)": true, "deny read(/w/secrets/**)": true,
		"deny read(other/**)": false, "allow read(secrets/**)": false, "deny read": false, "deny edit(secrets/**)": false,
	} {
		p := New(Default, rulesOf(t, rule)...)
		if got := p.Withholds("secrets/a.txt", scratch.Abs("/w/secrets/a.txt")); got != withheld {
			t.Errorf("%s withholds: %v", rule, got)
		}
		free := confirm.Request{Subject: &confirm.Command{Line: "cat x", Dir: t.TempDir(), ReadOnly: true, Parts: parts(t, "ls x")}}
		if v, ran := p.Decide(free); !ran && v.Feedback == "" {
			t.Errorf("%s: the question does not say why", rule)
		} else if ran != (rule != "ask read(**/secrets/*)" && !strings.HasPrefix(rule, "deny read(")) {
			t.Errorf("%s: decided %v", rule, ran)
		}
	}
}

// In plan mode a command that only reads is judged as in the default mode: a rule about
// reading makes it ask, not decline. No rule and no grant runs it as it is written.
func TestPlanAsksAboutReadingToo(t *testing.T) {
	req := confirm.Request{Subject: &confirm.Command{Line: "ls x", Dir: t.TempDir(), ReadOnly: true, Parts: parts(t, "ls x")}}
	for rules, want := range map[string]string{
		"allow run(make)": "safe", "deny read(secrets/**)": "ask", "ask run(ls **)": "ask", "deny run(ls **)": "no",
		"ask read(secrets/**)\nallow run(ls *)": "ask",
	} {
		p := New(Plan, rulesOf(t, strings.Split(rules, "\n")...)...)
		p.Grant(req)
		v, decided := p.Decide(req)
		got := "ask"
		switch {
		case decided && v.Guarded:
			got = "safe"
		case decided && v.Decision == confirm.Reject:
			got = "no"
		case decided:
			got = "yes"
		case v.Feedback == "":
			t.Errorf("%s: the question does not say why", rules)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", rules, got, want)
		}
	}
}

// A rule does not cover a command that runs a file which nobody saw being changed.
func TestRuleAfterAnUnseenChange(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"Makefile": "all:\n\ttrue\n"})
	p := New(AcceptEdits, rulesOf(t, "allow run(make *)", "allow run(xargs *)")...)
	line := confirm.Request{Subject: &confirm.Command{Line: "make all", Dir: dir, Parts: parts(t, "make all")}}
	if v, ok := p.Decide(line); !ok || v.Decision != confirm.Approve {
		t.Fatal(v)
	}
	path := filepath.Join(dir, "Makefile")
	change := confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: "Makefile", Path: path, Exists: true}})}
	if _, ok := p.Decide(change); !ok {
		t.Fatal("the edit was asked about")
	}
	v, ok := p.Decide(line)
	if ok || !strings.Contains(v.Feedback, "Makefile was changed without being shown") {
		t.Errorf("decided %v: %+v", ok, v)
	}
	confirm.As[*confirm.Command](line).Line = "xargs sh" // which does not reveal what it runs
	confirm.As[*confirm.Command](line).Parts = parts(t, confirm.As[*confirm.Command](line).Line)
	if v, ok := p.Decide(line); ok || !strings.Contains(v.Feedback, "files were changed without being shown") {
		t.Errorf("decided %v: %+v", ok, v)
	}
	if v, ok := New(AcceptEdits, p.Rules()...).Decide(line); !ok || v.Decision != confirm.Approve {
		t.Errorf("without a change: %+v", v)
	}
}

func TestCheckExamples(t *testing.T) {
	take := func(line string) []confirm.CommandPart { return parts(t, line) }
	for _, tt := range []struct {
		rule        string
		covers, not []string
		want        string
	}{
		{"allow run(go test *)", []string{"go test ./..."}, []string{"go test; rm x", "go vet"}, ""},
		{"allow run(go test *)", []string{"go test -race"}, nil, `does not cover "go test -race"`},
		{"allow run(go test **)", nil, []string{"go test -exec x"}, `covers "go test -exec x"`},
		{"deny run(rm **)", []string{"ls; rm x"}, nil, ""},
		{"deny edit(docs/**)", []string{"docs/a/b.md"}, []string{"src/a.go"}, ""},
	} {
		err := rulesOf(t, tt.rule)[0].CheckExamples(tt.covers, tt.not, take)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.rule, err, tt.want)
		}
	}
}

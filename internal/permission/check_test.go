package permission_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func judge(line string) ([]confirm.CommandPart, bool) {
	j := safecmd.Classify(line)
	return j.CommandParts(false), j.Class == safecmd.Danger
}

// asking returns the question about a command line in /w.
func asking(line string) confirm.Request {
	parts, danger := judge(line)
	req := command(line, "/w")
	confirm.As[*confirm.Command](req).Parts, req.Force = parts, danger
	return req
}

// editing is the question about an edit of a file in /w.
func editing(name string) confirm.Request {
	return confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: name, Path: scratch.Abs("/w/" + name)}, After: "x"})}
}

// TestCheckRule: a rule that a person edits must be valid, cover the command and be no
// wider than one look at it justifies. All that ProposeRules returns passes.
func TestCheckRule(t *testing.T) {
	for _, tt := range []struct{ line, rule, want string }{
		{"go test ./a", "run(go test *)", ""},
		{"go test ./a", "run(go test ./a)", ""},
		{"go test ./a -race", "run(go test ./a -race)", ""},
		{"npm run lint", "run(npm run *)", ""},
		{"pytest a", "run(pytest *)", ""},
		{"go test ./a", "run(go test", "want text between the parentheses"},
		{"go test ./a", "run()", "want text between the parentheses"},
		{"go test ./a", "go test", "write run(COMMAND)"},
		{"go test ./a", "", "write run(COMMAND)"},
		{"go test ./a", "run(go test 'a)", "the quote ' is not closed"},
		{"go test ./a", "run(go * a)", "* may only be the last word"},
		{"go test ./a", "run(go test; ls)", "a rule covers one simple command"},
		{"go test ./a", "edit(**)", "this question is about a command"},
		{"go test ./a", "run(go test ./b)", "it does not cover this command"},
		{"go test ./a && make", "run(go test *)", "it does not cover this command"},
		{"go test ./a", "run", "it covers every command"},
		{"go test ./a", "run(go *)", "it covers whatever go can do"},
		{"go test ./a", "run(go test **)", "** also covers every option"},
		{"npm exec", "run(npm exec *)", "npm exec, which runs what its words do not show"},
		{"python a.py", "run(python *)", "it covers whatever python can do"},
		{"git push origin", "run(git push --force)", "it also covers git push --force, which asks every time"},
		{"git push --force", "run(git push --force)", "it asks every time"},
	} {
		_, err := permission.New(permission.Default).CheckRule(asking(tt.line), tt.rule, judge)
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) && !strings.Contains(err.Error(), "also covers "+tt.want) {
			t.Errorf("%s for %s: %v, want %q", tt.rule, tt.line, err, tt.want)
		}
	}
	header := read(scratch.Abs("/usr/include/a.h"))
	for _, tt := range []struct {
		req        confirm.Request
		rule, want string
	}{
		{editing("docs/a.md"), "edit(docs/a.md)", ""},
		{editing("docs/a.md"), "edit(docs/**)", ""},
		{editing("docs/a.md"), "edit(*.md)", ""},
		{editing("docs/a.md"), "edit", "it covers every file"},
		{editing("docs/a.md"), "edit(**)", "it covers every file"},
		{editing("docs/a.md"), "edit(*)", "it covers every file"},
		{editing("docs/a.md"), "edit([!x]*/**)", "it covers every file"},
		{editing("docs/a.md"), "edit([a-z]*/*.*)", "it covers every file"},
		{editing("docs/a.md"), "edit({docs,?*}/**)", "it covers every file"},
		{editing("docs/a.md"), "edit({docs,{src,*}}/*)", "it covers every file"},
		{editing("docs/a.md"), "edit({docs,src}/**)", ""},
		{editing("docs/a.md"), "edit(*.{md,txt})", ""},
		{editing("docs/a.md"), "edit([dD]ocs/*)", ""},
		{editing("_"), "edit(_)", ""},
		{editing("docs/a.md"), "edit(/w/docs/**)", "write the path relative to the folder"},
		{editing("docs/a.md"), "edit(src/**)", "it does not cover this file"},
		{editing("docs/a.md"), "read(docs/**)", "this question is about an edit: write edit(PATH)"},
		{editing("docs/a.md"), "run(ls)", "this question is about an edit: write edit(PATH)"},
		{forced(editing("docs/a.md")), "edit(docs/a.md)", "it asks every time"},
		{removal(), "edit(docs/a.md)", "it asks every time"},
		{editing("docs/a.md"), "edit(" + scratch.Abs("/w/docs/**") + ")", "write the path relative to the folder"},
		{header, "read(" + scratch.Abs("/usr/include/a.h") + ")", ""},
		{header, "read(" + filepath.ToSlash(scratch.Abs("/usr/include/**")) + ")", ""},
		{header, "read(/**)", "it covers every file"},
		{header, "read(" + scratch.Abs("/**") + ")", "it covers every file"},
		{header, "read(" + scratch.Abs("/[a-z]*/**") + ")", "it covers every file"},
		{header, "read", "it covers every file"},
		{header, "read(" + scratch.Abs("/etc/**") + ")", "it does not cover this file"},
		{fetching("a.example"), "fetch(a.example)", ""},
		{fetching("a.example"), "fetch(*.example)", ""},
		{fetching("a.example"), "WebFetch(domain:a.example)", ""},
		{fetching("a.example"), "fetch", "it covers every host: name one"},
		{fetching("a.example"), "fetch(*)", "want a host such as example.com"},
		{fetching("a.example"), "fetch(b.example)", "it does not cover this host"},
		{fetching("a.example"), "edit(a)", "this question is about a page: write fetch(HOST)"},
		{confirm.Request{Subject: &confirm.Save{}}, "edit(a)", "no rule covers this"},
	} {
		if _, err := permission.New(permission.Default).CheckRule(tt.req, tt.rule, judge); (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.rule, err, tt.want)
		}
	}
	for _, line := range []string{"go test ./a", "npm run lint -- --fix", "make", "python a.py", "rm a", "git add .", "tsc"} {
		for _, r := range permission.Rules(nil).Missing(asking(line)) {
			if _, err := permission.New(permission.Default).CheckRule(asking(line), r.String(), judge); err != nil {
				t.Errorf("%s was proposed: %v", r, err)
			}
		}
	}
	proposed := permission.Rules(nil).Missing(header)
	if len(proposed) != 1 {
		t.Fatalf("for a file outside: %v", proposed)
	}
	if _, err := permission.New(permission.Default).CheckRule(header, proposed[0].String(), judge); err != nil {
		t.Errorf("%s was proposed: %v", proposed[0], err)
	}
	ask, err := permission.ParseRule(permission.Ask, "run(make **)", "config.yaml:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := permission.New(permission.Default, ask).CheckRule(asking("make"), "run(make)", judge); err == nil || err.Error() != "it has no effect because of the rule ask run(make **) (config.yaml:1)" {
		t.Error(err)
	}
}

// TestNoRuleForDangerousLines: none is offered for the dangerous lines of the corpus, and
// none can be typed, also not by widening the rules for the others.
func TestNoRuleForDangerousLines(t *testing.T) {
	dangerous, others := 0, 0
	p := permission.New(permission.Default)
	var danger []confirm.Request
	for line := range strings.Lines(scratch.Read(t, "../tools/shell/safecmd/testdata/lines.tsv")) {
		class, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\\`, `\`).Replace(text)
		req := asking(text)
		if class == "danger" {
			dangerous++
			danger = append(danger, req)
			if len(permission.Rules(nil).Missing(req)) > 0 {
				t.Errorf("%q: a rule is offered", text)
			}
			if _, err := p.CheckRule(req, "run("+text+")", judge); err == nil {
				t.Errorf("%q: a rule can be made", text)
			}
			continue
		}
		for _, r := range permission.Rules(nil).Missing(req) {
			words := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(r.String(), "run("), ")"))
			for n := range words {
				wide := "run(" + strings.Join(append(words[:n+1:n+1], "*"), " ") + ")"
				if made, err := p.CheckRule(req, wide, judge); err == nil {
					others++
					p.AddRule(made)
				}
			}
		}
	}
	for _, req := range danger {
		if v, decided := p.Decide(req); decided {
			t.Errorf("%q: %+v", confirm.As[*confirm.Command](req).Line, v)
		}
	}
	if dangerous < 30 || others < 10 {
		t.Errorf("%d dangerous lines, %d rules", dangerous, others)
	}
}

// TestNoRuleInADangerousLine: a dangerous line stays one next to commands that are allowed,
// and no rule is offered for it or for one of its commands.
func TestNoRuleInADangerousLine(t *testing.T) {
	p := permission.New(permission.Default)
	for _, text := range []string{"run(make)", "run(npm ci)", "run(cat *)", "run(curl *)", "run(tee log)"} {
		r, err := permission.ParseRule(permission.Allow, text, "test")
		if err != nil {
			t.Fatal(err)
		}
		p.AddRule(r)
	}
	lines, offers := 0, 0
	for line := range strings.Lines(scratch.Read(t, "../tools/shell/safecmd/testdata/lines.tsv")) {
		class, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\\`, `\`).Replace(text)
		for _, with := range []string{text, "make && " + text, "cd /w && " + text, "npm ci; " + text, "make | " + text, "cd /w && make && " + text, "make\n" + text} {
			req := asking(with)
			rule, part, ok := p.OnlyOpen(req)
			switch {
			case class == "danger" && (ok || !req.Force):
				t.Errorf("%q: dangerous: %v, offered %s for %q", with, req.Force, rule, part)
			case class == "danger":
				lines++
				if _, err := p.CheckRule(req, "run("+text+")", judge); err == nil {
					t.Errorf("%q: a rule can be made", with)
				}
			case ok:
				offers++
				if _, danger := judge(part); danger || len(rule.String()) == 0 {
					t.Errorf("%q: %s is offered for %q", with, rule, part)
				}
			}
		}
	}
	if lines < 200 || offers < 100 {
		t.Errorf("%d dangerous lines, %d offers", lines, offers)
	}
}

// TestCheckCallRule: an answer about a server's tool makes a rule for that tool alone, though
// the server chooses the names of the others.
func TestCheckCallRule(t *testing.T) {
	call := func(tool string) confirm.Request {
		return confirm.Request{Tool: tool, Subject: &confirm.Call{Server: "s", Args: "{}"}}
	}
	for rule, want := range map[string]string{
		"mcp__s__get":    "",
		"mcp__s__get__x": "it does not cover this tool",
		"mcp__s":         "it covers every tool of a server",
		"mcp__s__*":      "it covers every tool of a server",
		"mcp__*":         "it covers every tool of a server",
		"run":            "this question is about a tool",
	} {
		p := permission.New(permission.Default)
		r, err := p.CheckRule(call("mcp__s__get"), rule, judge)
		if want == "" {
			if err == nil {
				err = p.Hold(call("mcp__s__get"), r)
			}
			if err != nil {
				t.Errorf("%s: %v", rule, err)
			}
			for tool, allowed := range map[string]bool{"mcp__s__get": true, "mcp__s__get__and_delete": false, "mcp__s__get_x": false} {
				if _, decided := p.Decide(call(tool)); decided != allowed {
					t.Errorf("%s: %s is decided: %v", rule, tool, decided)
				}
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rule, err, want)
		}
	}
	p := permission.New(permission.Default)
	p.Grant(call("mcp__s__get"))
	if _, decided := p.Decide(call("mcp__s__get__and_delete")); decided {
		t.Error("a yes for the session covers another tool")
	}
}

// TestProposalsPass: a rule that is proposed is not refused when the person takes it.
func TestProposalsPass(t *testing.T) {
	for line, want := range map[string]string{
		`make '(x)'`:                          "run(make (x))",
		`make 'a[1]' "b{c}" '#d' '!e' '?f' ~`: "",
		`make "a*b" 'it is' "it's"`:           `run(make a*b 'it is' 'it'"'"'s')`,
		"git commit -m \"one\n\ntwo (x)\"":    "run(git commit -m *)",
		"git commit -am 'one\n\n- a\n- b'":    "run(git commit -am *)",
		"git commit -m \"a = b\n\nc\"":        "run(git commit -m 'a = b\n\nc')",
		"make prüfen":                         "run(make prüfen)",
		"npm run 'größer; kleiner'":           "run(npm run 'größer; kleiner')",
		`make '#d' '!e' '?f' 'a[1]' 'b{c}'`:   "run(make #d !e ?f a[1] b{c})",
	} {
		p := permission.New(permission.Default)
		rules := p.Proposals(asking(line))
		var texts []string
		for _, r := range rules {
			texts = append(texts, r.String())
			if _, err := p.CheckRule(asking(line), r.String(), judge); err != nil {
				t.Errorf("%s: %s is refused: %v", line, r, err)
			}
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("%s: proposed %q, want %q", line, got, want)
		}
	}
}

package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func TestRules(t *testing.T) {
	homeWith(t, "permissions:\n  allow:\n    - run(go test *)\n    - rule: run(npm run *)\n      covers: [npm run lint]\n      not: [npm install]\n  deny: [read(.env)]\n")
	c, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Rule{
		{Effect: "allow", Text: "run(go test *)", Source: c.File + ":3"},
		{Effect: "allow", Text: "run(npm run *)", Covers: []string{"npm run lint"}, Not: []string{"npm install"}, Source: c.File + ":4"},
		{Effect: "deny", Text: "read(.env)", Source: c.File + ":7"},
	}
	if d := cmp.Diff(want, c.Rules); d != "" {
		t.Error(d)
	}
}

func TestMalformedRules(t *testing.T) {
	for text, want := range map[string]string{
		"permissions: {allow: run}":                   "want a list of rules",
		"permissions: {allow: [[run]]}":               "want a rule such as",
		"permissions: {allow: [{covers: [ls]}]}":      "the rule is missing",
		"permissions: {allow: [{rule: x, cover: y}]}": `unknown key "cover"`,
		"permissions: {allow: [{rule: x, not: y}]}":   "not: want a text for rule",
		"permissions: {forbid: [run]}":                `unknown key "permissions.forbid"`,
	} {
		homeWith(t, text)
		if _, err := Load(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A trusted project can make the rules stricter, but not wider.
func TestRulesOfAProject(t *testing.T) {
	homeWith(t, "permissions: {allow: [edit]}")
	c, left, err := LoadProject(nil, projectOf("permissions:\n  allow: [run]\n  ask: [edit(go.mod)]\n  deny: [run(curl **)]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Rules {
		got = append(got, r.Effect+" "+r.Text)
	}
	if d := cmp.Diff([]string{"allow edit", "ask edit(go.mod)", "deny run(curl **)"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"line 2: a project cannot set permissions.allow"}, left); d != "" {
		t.Error(d)
	}
}

func TestOwnRulesOfAProject(t *testing.T) {
	home, dir := t.TempDir(), filepath.FromSlash("/work/shop")
	file := OwnProjectFile(home, dir)
	add := Rule{Effect: "allow", Text: "run(go test *)"}
	data, err := AddOwnRule(home, dir, nil, add)
	if err == nil {
		data, err = AddOwnRule(home, dir, append(data, "# mine\n"...), Rule{Effect: "deny", Text: "run(curl **)"})
	}
	if err == nil {
		data, err = AddOwnRule(home, dir, data, add) // once more changes nothing
	}
	if err != nil || !strings.Contains(string(data), "# mine") {
		t.Fatalf("%v\n%s", err, data)
	}
	scratch.Write(t, file, string(data))
	rules, err := OwnProjectRules(home, dir)
	if err != nil || len(rules) != 2 || rules[0].Text != add.Text || rules[1].Effect != "deny" {
		t.Fatalf("%v %v", rules, err)
	}
	data, err = RemoveOwnRule(home, dir, data, add)
	if err != nil || strings.Contains(string(data), "go test") {
		t.Errorf("%v\n%s", err, data)
	}
	scratch.Write(t, file, strings.Replace(string(data), "shop", "shops", 1))
	if _, err := OwnProjectRules(home, dir); err == nil {
		t.Error("the file of another folder was read")
	}
	if rules, err := OwnProjectRules(home, "/elsewhere"); err != nil || rules != nil {
		t.Error(rules, err)
	}
}

// TestOwnProjectFile: a long name of a folder is shortened.
func TestOwnProjectFile(t *testing.T) {
	home := t.TempDir()
	long := "/work/" + strings.Repeat("n", 255)
	if rules, err := OwnProjectRules(home, long); err != nil || rules != nil {
		t.Error(rules, err)
	}
	const dir = "/work/shop"
	scratch.Write(t, OwnProjectFile(home, dir), "folder: "+dir+"\npermissions:\n  deny: [run]\n")
	if rules, err := OwnProjectRules(home, dir); err != nil || len(rules) != 1 {
		t.Errorf("%v, %v", rules, err)
	}
}

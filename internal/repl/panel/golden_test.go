package panel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// program is an edit in two places, with a note and a queue behind it.
func program() confirm.Request {
	before := "package main\n\nimport \"fmt\"\n\n// greet says hello to a person.\nfunc greet(name string) {\n\tfmt.Println(\"hello\", name)\n}\n\n" +
		"func bye() {\n\tfmt.Println(\"bye\")\n}\n\nfunc main() {\n\tgreet(\"漢字 and a rather long text that has to be wrapped where there is little room\")\n}\n"
	after := strings.NewReplacer(`"hello"`, `"welcome"`, "\tgreet(\"漢字", "\tgreet(\"文字", "rather", "quite").Replace(before)
	return confirm.Request{
		Tool: "edit_file", Notes: caution.Notes("matched only after a shift of the indentation"),
		Batch:   confirm.Batch{ID: "1", Total: 3, Calls: []string{"Edit cmd/main.go", "Edit cmd/main_test.go", "Run go test ./..."}},
		Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: "cmd/main.go", Exists: true, Text: before}, After: after}),
	}
}

// states lists the states of a panel, and the keys that lead there.
func states() map[string]struct {
	req  confirm.Request
	keys string
} {
	type state = struct {
		req  confirm.Request
		keys string
	}
	save := confirm.Request{Tool: "edit_file", Force: true, Subject: &confirm.Save{Name: "a.txt", Editor: "VS Code"}}
	long := command(strings.Repeat("echo a line of a script\n", 40))
	remove := edit()
	remove.File().Delete, remove.File().After = true, ""
	undo := edit()
	undo.Tool, undo.Force = "undo", true
	confirm.As[*confirm.Edits](undo).Title = "undo the last change: restores the file"
	return map[string]state{
		"edit":         {program(), ""},
		"edit-queue":   {program(), "l"},
		"edit-unfold":  {program(), "x"},
		"edit-scroll":  {program(), "x pgdown"},
		"edit-keys":    {program(), "?"},
		"edit-layout":  {program(), "s"},
		"plan-layout":  {undoing(4), "end enter s"},
		"comment":      {program(), "c"},
		"hunk":         {program(), "]"},
		"hunk-out":     {program(), "] ] space"},
		"hunk-comment": {program(), "] m n o t enter"},
		"hunk-words":   {program(), "] m"},
		"hunks-gone":   {program(), "] space ] space"},
		"delete":       {remove, ""},
		"undo":         {undo, ""},
		"command":      {command("go test ./... && go vet ./..."), ""},
		"command-long": {long, ""},
		"rule":         {offering("go test ./a", "run(go test *)"), "A tab"},
		"rule-refused": {offering("go test ./bad", "run(go test bad *)"), "A"},
		"read":         {confirm.Request{Tool: "read_file", Subject: &confirm.Read{Path: "/etc/hosts"}, Notes: caution.Notes("outside")}, ""},
		"save":         {save, ""},
		"plan":         {undoing(4), ""},
		"document":     {planning(planText), ""},
		"plan-out":     {undoing(4), "down space"},
		"plan-file":    {undoing(4), "end enter"},
		"plan-long":    {undoing(60), "pgdown"},
	}
}

func TestGolden(t *testing.T) {
	for name, s := range states() {
		for _, width := range []int{40, 80, 120, 200} {
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				l := theme.New(theme.Auto, false)
				l.Width, l.Height = width, 24
				p := panel.New(s.req, l, diffview.Auto, start)
				p.View(18)
				p.Wait(start.Add(time.Hour))
				for k := range strings.FieldsSeq(s.keys) {
					press(p, k)
					p.View(18)
				}
				golden.Lines(t, fmt.Sprintf("%s-%d", name, width), p.View(18))
			})
		}
	}
}

// The panel before it accepts keys.
func TestGoldenWaiting(t *testing.T) {
	l := theme.New(theme.Auto, false)
	l.Width, l.Height = 80, 24
	p := panel.New(program(), l, diffview.Auto, start)
	golden.Lines(t, "waiting-80", p.View(18))
	golden.Lines(t, "low-80", p.View(6))
}

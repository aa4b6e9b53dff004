package plain

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

const table = "See:\n\n| file | lines |\n|---|--:|\n| main.go | 12 |\n| a\\|b | |\n\n```\n| no | table |\n```\nIt is | so.\n| alone |\nend"

const flattened = "See:\n\nfile: main.go; lines: 12\nfile: a|b; lines: \n\n```\n| no | table |\n```\nIt is | so.\n| alone |\nend"

// However the text is split, tables become lines of header and value, and other text is
// unchanged.
func TestTablesAreFlat(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var f flat
		var out strings.Builder
		for rest := table; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 20).Draw(rt, "piece"))
			out.WriteString(f.push(rest[:n]))
			rest = rest[n:]
		}
		out.WriteString(f.close())
		if d := cmp.Diff(flattened, out.String()); d != "" {
			rt.Fatal(d)
		}
	})
	for in, want := range map[string]string{
		"| a | b |\n|---|---|\n| 1 | 2 |": "a: 1; b: 2",
		"| a | b |":                       "| a | b |",
		"| a |\n| b |\nx":                 "| a |\n| b |\nx",
		"":                                "",
	} {
		var f flat
		if got := f.push(in) + f.close(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	var out bytes.Buffer
	u := New(Options{Out: &out, Labels: true})
	ended := session.CallEnded{Title: "Run go test", Result: tools.Result{ForUser: "exit 0"}}
	for _, ev := range []session.Event{
		session.ReasoningDelta{Text: "Where?"},
		session.TextDelta{Text: "I look\nat "},
		session.TextDelta{Text: "it."},
		session.AnswerEnded{},
		ended,
		session.Notice{Text: "a limit"},
		session.TextDelta{Text: "Done."},
		session.TurnEnded{Stop: session.StopFailed, Err: errors.New("it broke")},
	} {
		u.Emit(ev)
	}
	want := "thought: Where? (0s, about 2 tokens)\nagent: I look\nat it.\ntool: Run go test: exit 0\nnote: a limit\nagent: Done.\nerror: it broke\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// A number of an answer means the same in every question.
func TestNumbersMeanTheSame(t *testing.T) {
	plan := confirm.Edits{Title: "Undo", Changes: []workspace.Change{{}, {}}, Parts: true}
	review := confirm.Edits{Title: "Write", Changes: []workspace.Change{{}, {}}, Review: true}
	for name, req := range map[string]confirm.Request{
		"command":  {Subject: &confirm.Command{Line: "ls"}},
		"rule":     {Subject: &confirm.Command{Line: "ls"}, Offer: &confirm.Offer{Rule: "run(ls)"}},
		"once":     {Subject: &confirm.Command{Line: "ls"}, Force: true},
		"change":   {Subject: confirm.Edit(workspace.Change{})},
		"limit":    {Subject: &confirm.Limit{Step: "10"}},
		"document": {Subject: &confirm.Document{Text: "x"}},
		"parts":    {Subject: &plan},
		"review":   {Subject: &review},
	} {
		asked := ask(req, true)
		for number, want := range map[string]string{"1": "yes|one more|carry it out and ask", "2": "always|add|carry it out and accept", "3": "no|stop|and "} {
			for _, m := range regexp.MustCompile(`\b`+number+` (\w[\w ]*)`).FindAllStringSubmatch(asked, -1) {
				if !regexp.MustCompile(`^(` + want + `)`).MatchString(m[1]) {
					t.Errorf("%s: %s is %q in %q", name, number, m[1], asked)
				}
			}
			for _, labels := range []bool{false, true} {
				v, what := parse((Options{Labels: labels}).worded(number), req)
				approved, lasting := v.Decision == confirm.Approve, v.Session || v.Mode == "accept-edits"
				if number == "3" && (what != answers || approved) || number == "1" && (!approved || lasting) || number == "2" && what == answers && !lasting {
					t.Errorf("%s: %s answers %+v, %v", name, number, v, what)
				}
			}
		}
	}
}

// Listeners answer with a number, and hear the editor's remarks meanwhile.
func TestQuestionsAreNumbered(t *testing.T) {
	req := confirm.Request{ID: "7", Tool: "execute_command", Subject: &confirm.Command{Line: "ls", Dir: "/w"}}
	if got, want := ask(req, true), "answer: 1 yes, 2 always: this command this session, 3 no, or 3 and why not: "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	req.Force = true
	if got := ask(req, true); strings.Contains(got, "2") {
		t.Errorf("always is offered where it is refused: %q", got)
	}
	for in, want := range map[string]string{"1": "yes", "2": "always", "3": "no", "4": "rule", "5": "5", "3 not that": "no not that", "2 not that": "2 not that", "1 apple": "1 apple", "because": "because"} {
		if got := (Options{Labels: true}).worded(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got, want := (Options{}).worded("2"), "always"; got != want {
		t.Errorf("without labels 2 means %q, want %q", got, want)
	}
	if got := (Options{}).worded("3 of them fail"); got != "3 of them fail" {
		t.Errorf("a prompt became %q", got)
	}
	var out bytes.Buffer
	u := New(Options{Out: &out, Labels: true})
	u.asked = "7"
	u.Remark("7", "edited in VS Code\x1b[2J")
	u.Remark("8", "another question's")
	u.Remark("7", "")
	if got, want := out.String(), "\nnote: edited in VS Code\\u{1b}[2J\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

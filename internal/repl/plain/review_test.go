package plain

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func edits(before, after string) confirm.Request {
	c := &workspace.Change{File: workspace.File{Name: "a.go", Exists: true, Text: before}, After: after}
	return confirm.Request{Tool: "edit_file", Subject: confirm.Edit(*c)}
}

func running(line string) confirm.Request {
	return confirm.Request{Tool: "execute_command", Subject: &confirm.Command{Line: line, Dir: "/p"}}
}

func TestDescriptions(t *testing.T) {
	created, deleted := edits("", "x\n"), edits("x\n", "")
	created.File().Exists, deleted.File().Delete = false, true
	noted := edits("a\n", "b\n")
	noted.Notes = caution.Notes("not exact", "two\nlines")
	background := running("sleep 1")
	confirm.As[*confirm.Command](background).Background = true
	for name, tt := range map[string]struct {
		req  confirm.Request
		want string
	}{
		"an edit": {edits("a\nb\n", "a\nc\n"), "Edit a.go: 1 line added, 1 removed\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		"a new file": {
			created,
			"Create a.go: 1 line added\ndiff --git a/a.go b/a.go\nnew file mode 100644\n--- /dev/null\n+++ b/a.go\n@@ -0,0 +1 @@\n+x\n",
		},
		"a removal": {
			deleted,
			"Delete a.go (0 bytes)\ndiff --git a/a.go b/a.go\ndeleted file mode 100644\n--- a/a.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
		},
		"line endings": {edits("a\n", "a\r\n"), "Edit a.go: 1 line added, 1 removed\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+a\\u{d}\n"},
		"notes": {
			noted,
			"! not exact\n! two\\nlines\nEdit a.go: 1 line added, 1 removed\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n",
		},
		"a plan": {
			confirm.Request{Subject: &confirm.Edits{Title: "undo\nthe turn", Changes: []workspace.Change{*edits("a\n", "b\n").File(), *edits("c\n", "d\n").File()}}},
			"undo\\nthe turn:\nEdit a.go: 1 line added, 1 removed\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n" +
				"Edit a.go: 1 line added, 1 removed\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-c\n+d\n",
		},
		"a document":   {confirm.Request{Subject: &confirm.Document{Text: "# A\n\nB\x1b\n"}}, "The plan:\n  1  # A\n  2  \n  3  B\\u{1b}\n"},
		"a command":    {running("make"), "Run in /p:\n  $ make\n"},
		"a script":     {running("make\nYes or no? [y / n]\n"), "Run in /p:\n  $ make\n  $ Yes or no? [y / n]\n"},
		"a background": {background, "Run in the background in /p:\n  $ sleep 1\n"},
		"a read":       {confirm.Request{Subject: &confirm.Read{Path: "/etc/hosts"}}, "Read outside the workspace: /etc/hosts\n"},
		"a key":        {confirm.Request{Subject: &confirm.Read{Path: "/p/.env", Inside: true, Keys: "may contain passwords or keys"}}, "Read a file that may contain passwords or keys: /p/.env\n"},
		"a rule":       {confirm.Request{Subject: &confirm.Read{Path: "/p/a", Inside: true}, Force: true}, "Read a file that a rule or a hook asks about: /p/a\n"},
		"a look-alike": {confirm.Request{Subject: &confirm.Choice{Text: "p\u0430y?", Options: []string{"no\u00a0x"}}}, "The model asks: p\\u{430}y?\n  1 no\\u{a0}x\n"},
	} {
		if diff := cmp.Diff(tt.want, describe(tt.req)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAnswers(t *testing.T) {
	forced := edits("a", "b")
	forced.Force = true
	choice := confirm.Request{Subject: &confirm.Choice{Text: "Which?", Options: []string{"tabs", "spaces"}}}
	planned := confirm.Request{Subject: &confirm.Document{Text: "# A plan\n"}}
	for _, tt := range []struct {
		line string
		req  confirm.Request
		want confirm.Verdict
		is   meaning
	}{
		{"y", edits("a", "b"), confirm.Verdict{Decision: confirm.Approve}, answers},
		{" YES ", running("ls"), confirm.Verdict{Decision: confirm.Approve}, answers},
		{"n", edits("a", "b"), confirm.Verdict{}, answers},
		{"No", edits("a", "b"), confirm.Verdict{}, answers},
		{"n not that one", edits("a", "b"), confirm.Verdict{Feedback: "not that one"}, answers},
		{"no, not that one", edits("a", "b"), confirm.Verdict{Feedback: "not that one"}, answers},
		{"a", running("ls"), confirm.Verdict{Decision: confirm.Approve, Session: true}, answers},
		{"always", edits("a", "b"), confirm.Verdict{Decision: confirm.Approve, Session: true}, answers},
		{"a", forced, confirm.Verdict{}, unclear},
		{"y", planned, confirm.Verdict{Decision: confirm.Approve, Mode: "default"}, answers},
		{"a", planned, confirm.Verdict{Decision: confirm.Approve, Mode: "accept-edits"}, answers},
		{"n and the tests?", planned, confirm.Verdict{Feedback: "and the tests?"}, answers},
		{"2", choice, confirm.Verdict{Decision: confirm.Approve, Answer: "spaces"}, answers},
		{"answer: neither of them", choice, confirm.Verdict{Decision: confirm.Approve, Answer: "neither of them"}, answers},
		{"n", choice, confirm.Verdict{}, answers},
		{"3", choice, confirm.Verdict{}, prompts},
		{"y", choice, confirm.Verdict{}, prompts},
		{"answer", choice, confirm.Verdict{}, prompts},
		{"a test for it", choice, confirm.Verdict{}, prompts},
		{"", edits("a", "b"), confirm.Verdict{}, unclear},
		{" ? ", edits("a", "b"), confirm.Verdict{}, unclear},
		{"yes, but rename it", edits("a", "b"), confirm.Verdict{}, prompts},
		{"please also y", edits("a", "b"), confirm.Verdict{}, prompts},
		{"a test for it", edits("a", "b"), confirm.Verdict{}, prompts},
		{"yy", edits("a", "b"), confirm.Verdict{}, prompts},
	} {
		got, is := parse(tt.line, tt.req)
		tt.want.By = confirm.Terminal
		if diff := cmp.Diff(tt.want, got); diff != "" || is != tt.is {
			t.Errorf("%q: %v %s", tt.line, is, diff)
		}
	}
}

// asking is a session whose only turn asks a question.
func asking(req confirm.Request, v *confirm.Verdict, err *error) func(*desk, context.Context, string) error {
	return func(d *desk, ctx context.Context, prompt string) error {
		if prompt == "go" {
			*v, *err = d.askAbout(ctx, req)
		}
		return nil
	}
}

func TestAQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		req     confirm.Request
		enter   []string
		want    confirm.Verdict
		printed string
		kept    []string // as prompts
	}{
		"yes": {
			running("ls"),
			[]string{"y\n"},
			confirm.Verdict{Decision: confirm.Approve},
			"Yes or no? [y / n / n why not / always: this command this session] ", nil,
		},
		"after an empty line": {
			edits("a\n", "b\n"),
			[]string{"\n", "n\n"},
			confirm.Verdict{},
			"Yes or no? [y / n / n why not / always: every edit this session] Yes or no?", nil,
		},
		"a reason": {
			confirm.Request{Subject: &confirm.Read{Path: "/x"}},
			[]string{"n not that one\n"},
			confirm.Verdict{Feedback: "not that one"},
			"always: this file this session]", nil,
		},
		"a line that is no answer": {
			running("ls"),
			[]string{"not that one\n", "n\n"},
			confirm.Verdict{},
			"! Kept as your next prompt. To say no with a reason, begin with n.\n",
			[]string{"not that one"},
		},
		"words of one's own without answer": {
			confirm.Request{Subject: &confirm.Choice{Text: "Which?", Options: []string{"tabs", "spaces"}}},
			[]string{"neither\n", "2\n"},
			confirm.Verdict{Decision: confirm.Approve, Answer: "spaces"},
			"! Kept as your next prompt. To answer in your own words, begin with answer.\n",
			[]string{"neither"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var v confirm.Verdict
				var err error
				d := sit(t, Options{}, asking(tt.req, &v, &err))
				d.enter("go\n")
				for _, line := range tt.enter {
					d.read()
					d.enter(line)
				}
				tt.want.By = confirm.Terminal
				if diff := cmp.Diff(tt.want, v); diff != "" || err != nil {
					t.Errorf("%v %s", err, diff)
				}
				if out := d.printed(); !strings.Contains(out, tt.printed) {
					t.Errorf("%q is not in %q", tt.printed, out)
				}
				d.leave(d.printed()+"\n", append([]string{"go"}, tt.kept...)...)
			})
		})
	}
}

// On a terminal a no counts as soon as the question is there; a no from before it, or of a script, does
// not.
func TestEarlyNo(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opt   Options
		early func(d *desk)
		kept  string // as a prompt; empty if it answered
	}{
		{"at once", Options{Again: true}, func(d *desk) { d.enter("go\n"); d.read(); d.enter("n\n") }, ""},
		{"soon", Options{Again: true}, func(d *desk) { d.enter("go\n"); d.read(); <-time.After(guard - 1); d.enter("no\n") }, ""},
		{"a number", Options{Again: true, Labels: true}, func(d *desk) { d.enter("go\n"); d.read(); d.enter("3\n") }, ""},
		{"before", Options{Again: true}, func(d *desk) { d.enter("go\n"); d.enter("n\n"); d.read() }, "n"},
		{"a yes", Options{Again: true}, func(d *desk) { d.enter("go\n"); d.read(); d.enter("y\n") }, "y"},
		{"more than a no", Options{Again: true}, func(d *desk) { d.enter("go\n"); d.read(); d.enter("no idea\n") }, "no idea"},
		{"a script", Options{}, func(d *desk) { d.enter("go\n"); d.read(); d.enter("n\n") }, "n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var v confirm.Verdict
				var err error
				asked := false
				d := sit(t, tt.opt, func(d *desk, ctx context.Context, prompt string) error {
					if prompt == "go" {
						<-time.After(time.Second)
						v, err = d.askAbout(ctx, running("rm -r ."))
						asked = true
					}
					return nil
				})
				tt.early(d)
				synctest.Wait()
				if asked != (tt.kept == "") || asked && (err != nil || v.Decision != confirm.Reject || v.By != confirm.Terminal) {
					t.Errorf("asked %v: %+v %v", asked, v, err)
				}
				d.read()
				if !asked {
					d.enter("no\n")
				}
				d.ui.opt.Again = false
				prompts := []string{"go", tt.kept}
				if tt.kept == "" {
					prompts = prompts[:1]
				}
				d.leave(d.printed()+"\n", prompts...)
			})
		})
	}
}

// Lines entered before the question was readable are prompts, whatever their text, and
// whether or not the program had read them.
func TestEarlyLinesNeverAnswer(t *testing.T) {
	for name, early := range map[string]func(d *desk){
		"with the prompt":      func(d *desk) { d.enter("go\ny\nalways\n") },
		"during the turn":      func(d *desk) { d.enter("go\n"); d.enter("y\nalways\n") },
		"just as it is shown":  func(d *desk) { d.enter("go\n"); d.read(); d.enter("y\nalways\n") },
		"too soon to be meant": func(d *desk) { d.enter("go\n"); d.read(); <-time.After(guard - 1); d.enter("y\nalways\n") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var v confirm.Verdict
				var err error
				asked := false
				d := sit(t, Options{}, func(d *desk, ctx context.Context, prompt string) error {
					if prompt == "go" {
						<-time.After(time.Second)
						v, err = d.askAbout(ctx, running("rm -r ."))
						asked = true
					}
					return nil
				})
				early(d)
				d.read()
				d.read()
				if asked {
					t.Fatalf("answered by an early line: %+v", v)
				}
				d.enter("no, stop\n")
				if !asked || err != nil || v.Feedback != "stop" {
					t.Errorf("asked %v: %+v %v", asked, v, err)
				}
				d.leave(d.printed()+"\n", "go", "y", "always")
			})
		})
	}
}

// A line half typed when the question came stays a prompt, and the question stays open until
// answered.
func TestAHalfTypedLineStaysAPrompt(t *testing.T) {
	for _, labels := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var v confirm.Verdict
			var err error
			d := sit(t, Options{Labels: labels}, asking(running("rm -r ."), &v, &err))
			d.enter("go\n")
			d.enter("please ")
			d.read()
			d.enter("also y\n")
			if v.By != "" {
				t.Fatalf("answered: %+v", v)
			}
			d.enter(d.ui.opt.no() + " keep it\n")
			if err != nil || v.Decision != confirm.Reject || v.Feedback != "keep it" {
				t.Errorf("%+v %v", v, err)
			}
			d.leave(d.printed()+"\n", "go", "please also y")
		})
	}
}

func TestTheInputEndsAtAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v confirm.Verdict
		var err error
		d := sit(t, Options{Echo: true}, asking(running("ls"), &v, &err))
		d.enter("go\ny\n")
		if e := d.in.Close(); e != nil {
			t.Fatal(e)
		}
		synctest.Wait()
		if !errors.Is(err, confirm.ErrUndecided) || v.Decision != confirm.Reject {
			t.Errorf("%+v %v", v, err)
		}
		d.check("\n> go\n\nRun in /p:\n  $ ls\n"+ask(running("ls"), false)+"(no answer)\n\n> y\n\n> \n", "go", "y")
	})
}

// terminal is an input that continues after a Ctrl+D.
type terminal struct{ io.Reader }

func (t terminal) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n == 1 && p[0] == 'D'-'@' {
		return 0, io.EOF
	}
	return n, err
}

// On a terminal, Ctrl+D at a question means no, and the lines after it are prompts. Pressed
// before the question was readable, it does not answer.
func TestCtrlDIsANo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v confirm.Verdict
		var err error
		d := sit(t, Options{Again: true}, asking(running("ls"), &v, &err))
		for range 2 {
			v.Decision = confirm.Approve
			d.enter("go\n")
			d.read()
			d.enter("\x04")
			if err != nil || v.Decision != confirm.Reject || !strings.HasSuffix(d.printed(), ask(running("ls"), false)+"no\n\n> ") {
				t.Fatalf("%+v %v %q", v, err, d.printed())
			}
		}
		d.enter("hello\n")
		d.enter("go\n")
		d.enter("\x04")
		if !errors.Is(err, confirm.ErrUndecided) {
			t.Errorf("%+v %v", v, err)
		}
		d.check(d.printed(), "go", "go", "hello", "go")
	})
}

// TestFilesStayLeftOut: a file that the person left out before stays so, whatever the answer.
func TestFilesStayLeftOut(t *testing.T) {
	p := &confirm.Edits{Review: true, Changes: make([]workspace.Change, 3), Out: []int{0}}
	for numbers, want := range map[string][]int{"2": {0, 1}, "1": {0}, "2, 1": {0, 1}} {
		if v, what := partsOf(p).verdict(numbers, false); what != answers || !slices.Equal(v.Except, want) {
			t.Errorf("without %s: %+v", numbers, v)
		}
	}
	for _, numbers := range []string{"", " ", "2 3", "4"} {
		if v, what := partsOf(p).verdict(numbers, false); what != unclear {
			t.Errorf("without %s: %+v", numbers, v)
		}
	}
	if v, _ := approval(false, confirm.Request{Subject: p}); !slices.Equal(v.Except, p.Out) {
		t.Errorf("%+v", v)
	}
	for _, numbered := range []bool{false, true} {
		if asked := askParts(p, numbered); !strings.Contains(asked, "all files but 1") {
			t.Error(asked)
		}
	}
}

func TestCtrlDIsNoChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &command.Pick{Title: "Which", Items: []command.Choice{{ID: "1", Title: "one"}}}
		d := sit(t, Options{Again: true, Commands: []command.Command{named("rewind", command.Reply{Pick: p}, nil)}}, nil)
		d.enter("/rewind\n")
		d.read()
		d.enter("\x04")
		d.enter("hello\n")
		d.enter("\x04")
		d.check(d.printed(), "hello")
	})
}

func TestAWithdrawnQuestionTakesNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		d := sit(t, Options{}, func(d *desk, ctx context.Context, prompt string) error {
			if prompt == "go" {
				_, err = d.askAbout(ctx, running("ls"))
			}
			return nil
		})
		d.enter("go\n")
		d.interrupt <- struct{}{}
		synctest.Wait()
		if !errors.Is(err, context.Canceled) || !strings.HasSuffix(d.printed(), "(withdrawn)\n\n> ") {
			t.Errorf("%v %q", err, d.printed())
		}
		d.read()
		d.enter("y\n")
		d.leave(d.printed()+"\n", "go", "y")
	})
}

// TestCommentsOfAWithdrawnPlanAreSent: they go with the next prompt, once, and not by
// themselves.
func TestCommentsOfAWithdrawnPlanAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, Options{}, func(d *desk, ctx context.Context, prompt string) error {
			if prompt == "go" {
				_, err := d.askAbout(ctx, confirm.Request{ID: "1", Subject: &confirm.Document{Text: "one\ntwo\x1b\n"}})
				return err
			}
			return nil
		})
		d.enter("go\n")
		<-time.After(guard)
		d.enter("line 2 why\n")
		d.interrupt <- struct{}{}
		synctest.Wait()
		if want := `Your comments go with your next prompt:` + "\n" + `On line 2 of the plan, "two\x1b": why`; !strings.Contains(d.printed(), want) {
			t.Errorf("printed %q", d.printed())
		}
		d.read()
		d.enter("/nothing\n")
		d.enter("go on\n")
		d.enter("more\n")
		d.leave(d.printed()+"\n", "go", "On line 2 of the plan, \"two\\x1b\": why\ngo on", "more")
	})
}

// TestCtrlDSendsTheComments: with the no that it means.
func TestCtrlDSendsTheComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v confirm.Verdict
		var err error
		req := confirm.Request{Tool: "present_plan", Subject: &confirm.Document{Text: "a\nb\n"}}
		d := sit(t, Options{Again: true}, asking(req, &v, &err))
		d.enter("go\n")
		d.read()
		d.enter("line 2 not like this\n")
		d.enter("\x04")
		if err != nil || v.Decision != confirm.Reject || len(v.Comments) != 1 || v.Comments[0].Text != "not like this" {
			t.Errorf("%+v, %v", v, err)
		}
		d.in.Close()
		synctest.Wait()
	})
}

// TestEndOfInputHoldsTheComments: without an answer they are shown, and wait for a prompt.
func TestEndOfInputHoldsTheComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v confirm.Verdict
		var err error
		d := sit(t, Options{}, asking(confirm.Request{Subject: &confirm.Document{Text: "a\nb\n"}}, &v, &err))
		d.enter("go\n")
		<-time.After(guard)
		d.enter("line 2 why\n")
		d.in.Close()
		synctest.Wait()
		if !errors.Is(err, confirm.ErrUndecided) || !strings.Contains(d.printed(), `On line 2 of the plan, "b": why`) {
			t.Errorf("%v, printed %q", err, d.printed())
		}
	})
}

// Whatever the input, no escape sequence or other control character reaches the output.
func TestNothingButTextIsPrinted(t *testing.T) {
	hostile := []string{
		"\x1b[2J", "\x1b]0;title\a", "\x1b]52;c;Zm9v\x1b\\", "\x9b31m", "\r", "\b\b", "\x00", "\x7f", "\u202e", "\u200b", "\xff", "\xc3", "word", "\n", "\t",
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 1, 6).Draw(t, label), "")
		}
		var out strings.Builder
		u := New(Options{Out: &out, Labels: rapid.Bool().Draw(t, "labels")})
		u.typed.ended = time.Now()
		u.Emit(session.TextDelta{Text: draw("text")})
		u.Emit(session.TextDelta{Text: draw("more text")})
		u.Emit(session.Retrying{Retry: llm.Retry{Reason: draw("retry")}})
		u.Emit(session.CallEnded{Title: draw("title"), Result: tools.Result{ForUser: draw("outcome")}})
		u.Emit(session.Notice{Text: draw("notice")})
		u.Emit(session.TurnEnded{Stop: session.StopFailed, Err: errors.New(draw("error"))})
		change := edits(draw("before"), draw("after"))
		change.File().Name, change.Tool, change.Notes = draw("name"), draw("tool"), caution.Notes(draw("note"))
		cmd := running(draw("command"))
		confirm.As[*confirm.Command](cmd).Dir = draw("folder")
		plan := confirm.Request{Subject: &confirm.Edits{Title: draw("plan"), Changes: []workspace.Change{*change.File()}}}
		for _, req := range []confirm.Request{change, plan, cmd, {Subject: &confirm.Read{Path: draw("path")}}} {
			u.say(describe(req) + ask(req, rapid.Bool().Draw(t, "numbered")))
		}
		u.show(&shellOutput{Stream: sanitize.Stream{Strip: true}})
		for range 3 {
			u.Emit(session.CallOutput{Text: draw("output")})
		}
		u.Emit(session.CallEnded{Title: draw("line")})
		u.sess = turns(func(context.Context, string) error { return nil })
		u.line(t.Context(), "/x"+draw("line"))
		u.reply(command.Reply{
			Text: draw("reply"), Diff: draw("diff"), Insert: draw("insert"), Page: &pager.Page{Title: draw("page"), Doc: pager.Text(draw("lines"))},
		})
		for i, r := range out.String() {
			if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200b || r == 0xfffd) {
				t.Fatalf("%#U at %d of %q", r, i, out.String())
			}
		}
	})
}

// A file with CRLF is shown without a mark on each line, and a changed line ending with one.
func TestLineEndings(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a\r\nb\r\n", "a\r\nc\r\n", "Each line ends in CRLF.\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a\r\nb\r\n", "a\r\nc\n", "-b\\u{d}\n+c\n"},
		{"a\nb\n", "a\nb\r\n", "-b\n+b\\u{d}\n"},
		{"a\r\n", "a\r\nb\rc\r\n", " a\\u{d}\n+b\\u{d}c\\u{d}\n"},
		{"a\n", "b\n", "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n"},
	} {
		got := describe(edits(c.before, c.after))
		if !strings.HasSuffix(got, c.want) || strings.Contains(got, "CRLF.") != strings.Contains(c.want, "CRLF.") {
			t.Errorf("%q to %q:\n%s\nwant the end\n%s", c.before, c.after, got, c.want)
		}
	}
}

package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// named returns a command that replies r.
func named(name string, r command.Reply, err error) command.Command {
	return command.Command{Name: name, Help: "does it", Group: command.Changes, Run: func(_ context.Context, args string) (command.Reply, error) {
		r.Text = strings.ReplaceAll(r.Text, "ARGS", args)
		return r, err
	}}
}

func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, Options{Commands: []command.Command{
			named("undo", command.Reply{Text: "undone \x1b[31m ARGS"}, nil),
			named("diff", command.Reply{Diff: "-a\n+b\n"}, nil),
			named("fail", command.Reply{Text: "no"}, errors.New("it \x1b[2Jfails")),
			named("page", command.Reply{Page: &pager.Page{Title: "T", Doc: pager.Text("one\ntwo")}}, nil),
			named("copy", command.Reply{Copy: "x"}, nil),
			named("edit", command.Reply{Edit: &command.Edit{}}, nil),
			named("init", command.Reply{Prompt: "write it"}, nil),
			named("rewind", command.Reply{Insert: "again"}, nil),
		}}, nil)
		for _, c := range []struct{ line, want string }{
			{"/undo  the last ", "undone \\u{1b}[31m the last\n"},
			{"/diff", "-a\n+b\n"},
			{"/fail", "! it \\u{1b}[2Jfails\n"},
			{"/page", "T\none\ntwo\n"},
			{"/copy", "! Cannot copy: this terminal may only support printing lines.\n"},
			{"/edit", "! Editing needs a full terminal.\n"},
			{"/init", "> write it\n"},
			{"/rewind", "The prompt was: again\n"},
			{"/zzzzzzzz", "There is no /zzzzzzzz here; /help lists the commands.\n"},
			{"/ndo", "There is no /ndo here; did you mean /undo?\n"},
			{"/etc/hosts is what?", ""},
		} {
			before := len(d.printed())
			d.enter(c.line + "\n")
			if got := d.printed()[before:]; strings.TrimSuffix(got, "\n> ") != c.want {
				t.Errorf("%s: %q, want %q", c.line, got, c.want)
			}
		}
		before := len(d.printed())
		d.enter("/help\n")
		if got := d.printed()[before:]; !strings.Contains(got, help) || !strings.Contains(got, "/undo") || strings.Contains(got, "\x1b") {
			t.Errorf("%q", got)
		}
		d.enter("/quit\n")
		d.in.Close()
		if err := <-d.left; err != nil || fmt.Sprint(d.prompts) != "[write it /etc/hosts is what?]" {
			t.Errorf("%v, %q", err, d.prompts)
		}
	})
}

func TestAChoiceIsMadeByNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pick := &command.Pick{Title: "Choose", Items: []command.Choice{{ID: "a", Title: "A", Detail: "first"}, {ID: "b", Title: "B\x1b"}}}
		pick.Choose = func(_ context.Context, id string) (command.Reply, error) {
			return command.Reply{Text: "chosen " + id}, nil
		}
		d := sit(t, Options{Commands: []command.Command{named("model", command.Reply{Pick: pick}, nil)}}, nil)
		for _, c := range []struct{ answers, want string }{
			{"2\n", "Which? [1 to 2, or an empty line for none] chosen b\n"},
			{"3\nx\n1\n", "x is not one of the numbers.\nWhich? [1 to 2, or an empty line for none] chosen a\n"},
			{"\n", "for none] "},
		} {
			before := len(d.printed())
			d.enter("/model\n1\n") // entered before the question: a prompt
			d.read()
			d.enter(c.answers)
			got := d.printed()[before:]
			if !strings.Contains(got, "Choose:\n   1  A  first\n   2  B\\u{1b}\n") || !strings.Contains(got, c.want) {
				t.Errorf("%q: %q", c.answers, got)
			}
		}
		d.in.Close()
		<-d.left
		if fmt.Sprint(d.prompts) != "[1 1 1]" {
			t.Errorf("prompts %q", d.prompts)
		}
	})
}

func TestAnInterruptStopsACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := command.Command{Name: "compact", Help: "x", Group: command.Changes, Run: func(ctx context.Context, _ string) (command.Reply, error) {
			<-ctx.Done()
			return command.Reply{}, ctx.Err()
		}}
		d := sit(t, Options{Commands: []command.Command{slow}}, nil)
		d.enter("/compact\n")
		d.interrupt <- struct{}{}
		synctest.Wait()
		d.in.Close()
		<-d.left
		if got := d.printed(); !strings.HasSuffix(got, "Cancelled.\n\n> \n") {
			t.Errorf("%q", got)
		}
	})
}

// A line after ! runs; its output is shown, whatever it ends in, and that of the model's own
// commands is not.
func TestShellLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *desk
		var ran []string
		opt := Options{Shell: func(ctx context.Context, line string) error {
			ran = append(ran, line)
			if line == "sleep" {
				<-ctx.Done()
				return ctx.Err()
			}
			d.ui.Emit(session.CallOutput{Text: "\x1b[31mred\nno end"})
			d.ui.Emit(session.CallEnded{Title: line, Result: tools.Result{ForUser: "exit 0"}})
			return nil
		}}
		d = sit(t, opt, func(d *desk, _ context.Context, _ string) error {
			d.ui.Emit(session.CallOutput{Text: "of the model"})
			return nil
		})
		d.enter("! git status\n")
		d.enter("!\n")
		d.enter("!sleep\n")
		d.interrupt <- struct{}{}
		synctest.Wait()
		d.enter("/cost\n")
		d.ui.Emit(session.AnswerEnded{Total: llm.Usage{Input: 1200, Output: 5, CostUSD: 0.5}})
		d.enter("/cost\n")
		d.enter("go\n")
		d.leave("\n> red\nno end\n* git status: exit 0\n\n> ! runs a command: !git status\n\n> Cancelled.\n"+
			"\n> 0 tokens in (0 read from the cache, 0 written to it, 0 uncached), 0 out\n\n> 1.2k tokens in (0 read from the cache, 0 written to it, 1.2k uncached), 5 out, $0.5000\n\n> \n> \n", "go")
		if diff := cmp.Diff([]string{"git status", "sleep"}, ran); diff != "" {
			t.Error(diff)
		}
	})
}

// The path of an image becomes its placeholder.
func TestImagesAreAttached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attach := func(path string) (string, bool) { return "[image #1]", path == "a/shot.png" }
		d := sit(t, Options{Attach: attach}, nil)
		d.enter("what is wrong in a/shot.png here\n")
		d.leave("\n> \n> \n", "what is wrong in [image #1] here")
	})
}

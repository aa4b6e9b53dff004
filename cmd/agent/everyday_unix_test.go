//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// An edit looks the same in its question, in the transcript, in /diff, in a resumed session and in
// the whole conversation: with numbers, beside the line before. On plain lines a sentence comes first.
func TestOneDiffEverywhere(t *testing.T) {
	t.Parallel()
	const rows = `(?m:^ *4 +- .*hello.*\n *4 +\+ .*good day)`
	files := map[string]string{"main.go": program}
	turns := []llmtest.Turn{editCall("hello", "good day"), {Text: "Changed."}}
	d := newDesk(t, llmtest.NewServer(t, turns...), files)
	d.sit()
	d.say("be polite")
	d.asked(`(?s)^.*edit main\.go +\+1 −1.*` + rows)
	d.Press("y")
	d.WaitFor(`(?s)● Edit main\.go · \+1 −1.*` + rows + `.*Changed\.`)
	d.idle()
	d.say("/diff")
	d.WaitFor(`(?s)/diff.*edit main\.go \+1 −1.*` + rows)
	d.say("/clear")
	d.WaitFor(`Started a new session`)
	d.say("/diff")
	d.WaitFor(`No changes in this session`)
	d.say("/resume")
	d.WaitFor(`(?m)^› be polite`)
	d.Press("enter")
	d.WaitFor(`(?s)Session resumed.*` + rows + `.*Changed\.`)
	d.say("/diff main.go")
	d.WaitFor(`(?s)/diff main\.go.*` + rows)
	d.Press("ctrl+o")
	d.WaitFor(`(?s)^The full conversation.*` + rows)
	d.Press("q")
	d.WaitFor(`(?m)^❯ *$`)
	d.leave()

	for _, flag := range []string{"--screen-reader", "--plain"} {
		d = newDesk(t, llmtest.NewServer(t, turns...), files)
		d.open()
		if flag == "--plain" {
			d.env = append(d.env, "TERM=dumb")
			d.run("agent")
		} else {
			d.run("agent", flag)
		}
		d.WaitFor(`(?m)^(you:|>)`)
		d.say("be polite")
		d.answerLine(`(?s)Edit main\.go: 1 line added, 1 removed\n.*\n-.*hello.*\n\+.*good day.*(1 yes|Yes or no\?).*why not.*[\]:] ?$`, "1")
		d.WaitFor(`Changed\.`)
		d.say("/quit")
		d.Wait()
	}
}

// /cost has bars for tokens read from the cache, written to it and neither, and names the turn and the day.
func TestCostHasBars(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Fine.", Usage: &llmtest.Usage{Input: 1000, Output: 50, Cached: 750}}), nil)
	d.keep("config.yaml", "max_cost_usd_per_day: 5\nproviders:\n  openai: {models: {test: {price_input: 1, price_output: 1, price_cached: 0.1}}}\n")
	d.sit()
	d.say("one")
	d.WaitFor(`Fine\.`)
	d.idle()
	d.say("/cost")
	d.WaitFor(`(?s)cache read +█+.* 75%.*uncached +█+.* 25%.*The last turn.*Today: \$0\.00 of \$5\.00`)
	d.leave()
}

// The pages of the documentation are read in the terminal, rendered; a mistaken name
// suggests one.
func TestPagesOfTheDocumentation(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	for _, width := range []int{40, 80, 120} {
		d.begin(width, 30, "help", "first-minutes")
		if code := d.Wait(); code != 0 {
			t.Errorf("exit status %d", code)
		}
		d.WaitFor(`(?s)agent ide install.*\n`)
		text := strings.Join(d.History(), "\n")
		for _, want := range []string{"The first ten minutes", "agent demo"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, text)
			}
		}
		if strings.Contains(text, "](") {
			t.Errorf("%d columns: Markdown is not rendered:\n%s", width, text)
		}
		d.restored()
	}
	d.begin(80, 24, "help", "permissionz")
	d.WaitFor(`did you mean "?permissions`)
	if code := d.Wait(); code == 0 {
		t.Error("an unknown page is no error")
	}
}

// A session becomes one page for a browser, with its diffs.
func TestSessionAsAPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "<b>good day</b>"), llmtest.Turn{Text: "Changed."}), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	d.asked(`edit main\.go`)
	d.Press("y")
	d.WaitFor(`Changed\.`)
	d.idle()
	d.say("/export page.html")
	d.WaitFor(`written to page\.html`)
	d.leave()
	page := d.read("page.html")
	for _, want := range []string{"<!doctype html>", "be polite", "Changed.", "&lt;b&gt;good day&lt;/b&gt;", "hello"} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	for _, never := range []string{"<b>good day", "<script", "http://", "https://"} {
		if strings.Contains(page, never) {
			t.Errorf("%q is in the page", never)
		}
	}
}

// Texts in columns are whole in each size: the questions of the first start with all of their answers,
// and the commands that inform.
func TestNothingIsCutInColumns(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			server := answers(t, "Hello.")
			d := fresh(t, server)
			d.keep("config.yaml", "providers:\n  ollama:\n    base_url: "+models(t, server, `{"data":[{"id":"qwen3:8b"},{"id":"large"}]}`, "")+"\n")
			scratch.Mkdir(t, d.path(".agent/commands"))
			d.write(".agent/commands/hello.md", "Say hello.")
			d.write("AGENTS.md", "Be brief.")
			d.begin(size[0], size[1])
			d.WaitFor(`(?s)3 › No\b.*Esc exits`)
			d.words("2 Yes, use them", "here and in folders below", "3 › No", "work without AGENTS.md, 1 command; you can change this later with agent trust add")
			d.Press("2")
			d.WaitFor(`(?s)1 › Local: ollama/qwen3:8b.*[0-9]   Another server.*Esc exits`)
			d.words("Which model? (2 of 2)", "(recommended)", "OpenAI, Anthropic, Google Gemini, …")
			d.Press("1")
			d.WaitFor(`(?m)^❯`)
			d.say("hi")
			d.WaitFor(`Hello\.`)
			d.idle()
			for _, c := range []struct{ command, last string }{{"/help", `/keys\s+lists\s+all\s+keys`}, {"/context", `/context\s+full\s+shows`}, {"/cost", `uncached`}} {
				d.say(c.command)
				d.WaitFor(c.last + `(?s:.*)❯ *\n`)
			}
			for _, row := range d.History() {
				if strings.HasSuffix(row, "…") && !strings.HasPrefix(row, "agent ") && !strings.Contains(row, "Gemini, …") && !strings.Contains(row, "(Tab)") {
					t.Errorf("cut: %q", row)
				}
			}
			d.words("/mcp [server | reconnect server | rm server]")
			d.Press("ctrl+d")
			if code := d.Wait(); code != 0 {
				t.Errorf("exit status %d", code)
			}
		})
	}
}

// words checks that each text is on the terminal or above it, however it is wrapped.
func (d *desk) words(texts ...string) {
	d.t.Helper()
	var all string
	d.Look(func(m *vt.Terminal) { all = m.String() })
	all = strings.Join(d.History(), "\n") + "\n" + all
	flat := strings.Join(strings.Fields(all), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			d.t.Errorf("%q is not in\n%s", text, all)
		}
	}
}

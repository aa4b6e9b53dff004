//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// goDesk is a desk with a Go module and these settings.
func goDesk(t *testing.T, settings string, turns ...llmtest.Turn) *desk {
	t.Helper()
	d := newDesk(t, llmtest.NewServer(t, turns...), map[string]string{"main.go": program, "go.mod": "module example.test\n\ngo 1.26\n"})
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "GOCACHE="+strings.TrimSpace(string(cache)))
	d.keep("config.yaml", settings)
	return d
}

// TestCheckInTheQuestion: the result of go vet arrives in the head of the question, red and
// green, without a write. The model is told if a red one is accepted.
func TestCheckInTheQuestion(t *testing.T) {
	t.Parallel()
	d := goDesk(t, "check: auto\n", editCall(`println("hello")`, "println(missing, absent)"), editCall("println(missing, absent)", `println("fine")`), llmtest.Turn{Text: "All done."})
	d.sit()
	d.say("break it")
	d.asked(`(?m)^check: go vet \. `)
	d.WaitFor(`(?m)^check: go vet \. ✗ 2 new errors · \d+\.\d s`)
	d.WaitFor(`t check output`)
	d.Press("t")
	d.WaitFor(`main\.go:4:10: undefined: missing`)
	d.WaitFor(`undefined: absent`)
	if d.read("main.go") != program {
		t.Error("written before the answer")
	}
	d.Press("esc")
	d.WaitFor(`- .*hello`)
	d.Press("y")
	d.asked(`\+ .*fine`)
	told := d.told(1)
	for _, want := range []string{"the check `go vet .` fails since this edit", "main.go:4: undefined: missing", "main.go:4: undefined: absent"} {
		if !strings.Contains(told, want) {
			t.Errorf("the model was not told %q:\n%s", want, told)
		}
	}
	d.WaitFor(`(?m)^check: go vet \. ✔ \d+\.\d s`)
	d.Press("y")
	d.WaitFor(`All done`)
	if told := d.told(2); strings.Contains(told, "check") {
		t.Errorf("the model was told of a green check:\n%s", told)
	}
	d.idle()
	d.leave()
}

// TestOldProblemsAreNotTheProposals: only the problems that the file does not have yet
// count.
func TestOldProblemsAreNotTheProposals(t *testing.T) {
	t.Parallel()
	d := goDesk(t, "check: auto\n", editCall("old", "println(old, added)"), llmtest.Turn{Text: "All done."})
	d.write("main.go", strings.Replace(program, `println("hello")`, "old", 1))
	d.sit()
	d.say("go")
	d.WaitFor(`(?m)^check: go vet \. ✗ 1 new error \(\+1 −0, 1 as before\)`)
	d.asked(`added`)
	d.Press("n")
	d.idle()
	d.leave()
}

// TestCheckFirst: a proposal with new problems goes back to the model without a question,
// twice at most.
func TestCheckFirst(t *testing.T) {
	t.Parallel()
	d := goDesk(t, "check: auto\ncheck_first: true\n",
		editCall("hello\")", "hello\" + one)"), editCall("hello\")", "hello\" + two)"), editCall("hello\")", "hello\" + three)"),
		editCall("hello\" + three)", "fine\")"), llmtest.Turn{Text: "All done."})
	d.sit()
	d.say("break it")
	d.asked(`\+ .*three`)
	for n, name := range []string{"one", "two"} {
		if told := d.told(n + 1); !strings.Contains(told, "Not shown to the user yet") || !strings.Contains(told, "undefined: "+name) {
			t.Errorf("the model was told\n%s", told)
		}
	}
	d.WaitFor(`(?m)^check: go vet \. ✗ 1 new error`)
	d.Press("y")
	d.asked(`\+ .*fine`)
	d.WaitFor(`(?m)^check: go vet \. ✔`)
	d.Press("y")
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
}

// TestCheckCommand: a command of the user's runs in a copy with the proposal, which it
// cannot leave.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	d.keep("config.yaml", "check: grep -q hello main.go && touch here && pwd\n")
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.WaitFor(`(?m)^check: grep -q hello .* ✗ fails with this change, not without it`)
	d.Press("n")
	d.idle()
	if got := d.read("main.go"); got != program {
		t.Errorf("the file holds %q", got)
	}
	d.leave()
	if _, err := os.Stat(d.path("here")); err == nil {
		t.Error("the command wrote into the folder")
	}
}

// TestCheckInThePlainInterface: the result is printed below the question, which is asked
// again.
func TestCheckInThePlainInterface(t *testing.T) {
	t.Parallel()
	d := goDesk(t, "check: auto\n", editCall(`println("hello")`, "println(missing)"), llmtest.Turn{Text: "All done."})
	d.open()
	d.run("agent", "--screen-reader")
	d.WaitFor(`(?m)^you:`)
	d.say("break it")
	d.WaitFor(`check: check: go vet \. fails, 1 new error`)
	d.WaitFor(`undefined: missing`)
	d.WaitFor(`undefined: missing(?s:.*)answer: 1 yes`)
	<-time.After(600 * time.Millisecond) // as long as a person needs to read
	d.say("3")
	d.WaitFor(`(?s)answer: 1 yes.*3\n.*you:`)
	d.leave()
}

// reviewDesk is a goDesk on which the edits of a turn are one review.
func reviewDesk(t *testing.T, settings string, turns ...llmtest.Turn) *desk {
	t.Helper()
	d := goDesk(t, settings+"review: turn\n", turns...)
	d.write("lib/lib.go", "package lib\n\nfunc F() {}\n")
	return d
}

// brokenTurn edits two packages so that each fails; mended makes both right. The edits of
// mended need each other.
func brokenTurn() llmtest.Turn {
	return llmtest.Turn{Calls: []llmtest.Call{
		editOf("lib/lib.go", "func F() {}", "func G() int { return absent }"), editOf("main.go", `println("hello")`, "println(missing)"),
	}}
}

func mendedTurn() llmtest.Turn {
	return llmtest.Turn{Calls: []llmtest.Call{
		editOf("lib/lib.go", "return absent", "return 1"), editOf("main.go", "println(missing)", "println(lib.G())"),
		editOf("main.go", "package main", "package main\n\nimport \"example.test/lib\""),
	}}
}

func editOf(name, before, after string) llmtest.Call {
	args, _ := json.Marshal(map[string]string{"path": name, "old_string": before, "new_string": after})
	return llmtest.Call{Name: "edit_file", Args: string(args)}
}

// TestCheckInTheReviewOfATurn: all edits of the turn are tried together, and the result is
// in the head of the one question, red and green; the list and the files give way to the
// output and come back.
func TestCheckInTheReviewOfATurn(t *testing.T) {
	t.Parallel()
	d := reviewDesk(t, "check: auto\n", brokenTurn(), llmtest.Turn{Text: "First."}, mendedTurn(), llmtest.Turn{Text: "Second."}, llmtest.Turn{Text: "I see."})
	d.sit()
	d.say("break it")
	d.asked(`(?m)^check: go vet \./lib \. `)
	d.WaitFor(`(?m)^check: go vet \./lib \. ✗ 2 new errors · \d+\.\d s`)
	d.WaitFor(`t check output`)
	d.Press("t")
	d.WaitFor(`undefined: missing`)
	d.WaitFor(`undefined: absent`)
	d.WaitFor(`t the changes`)
	d.Press("esc")
	d.WaitFor(`❯ ● edit   lib/lib\.go`)
	d.Press("enter")
	d.WaitFor(`file 1 of 2`)
	d.Press("t")
	d.WaitFor(`undefined: missing`)
	d.Press("t")
	d.WaitFor(`\+ .*return absent`)
	if d.read("main.go") != program {
		t.Error("written before the answer")
	}
	d.Press("esc", "c")
	d.WaitFor(`no, because:`)
	d.Type("mend it")
	d.Press("enter")
	d.asked(`(?m)^check: go vet \./lib \. ✔ \d+\.\d s`)
	d.Press("enter", "tab")
	d.WaitFor(`file 2 of 2`)
	d.Press("esc")
	d.WaitFor(`❯ ● edit   main\.go`)
	d.Press("y")
	d.WaitFor(`2 of 2 files`)
	d.idle()
	if got := d.read("main.go"); !strings.Contains(got, "println(lib.G())") {
		t.Errorf("main.go holds %q", got)
	}
	d.say("and now?")
	d.WaitFor(`I see\.`)
	if told := string(d.request(4)); strings.Contains(told, "the check") {
		t.Errorf("the model was told of a green check: %s", told)
	}
	d.idle()
	d.leave()
}

// TestRedReviewOfATurnIsTold: the model is told of the new problems if the changes are
// accepted with them.
func TestRedReviewOfATurnIsTold(t *testing.T) {
	t.Parallel()
	d := reviewDesk(t, "check: auto\n", brokenTurn(), llmtest.Turn{Text: "First."}, llmtest.Turn{Text: "I see."})
	d.sit()
	d.say("break it")
	d.WaitFor(`(?m)^check: go vet \./lib \. ✗ 2 new errors`)
	d.asked(`2 files`)
	d.Press("enter", "tab")
	d.WaitFor(`file 2 of 2`)
	d.Press("esc")
	d.WaitFor(`❯ ● edit   main\.go`)
	d.Press("y")
	d.WaitFor(`2 of 2 files`)
	d.idle()
	d.say("and now?")
	d.WaitFor(`I see\.`)
	for _, want := range []string{"the check `go vet ./lib .` fails since this edit", "main.go:4: undefined: missing", "lib/lib.go:3: undefined: absent"} {
		if told := string(d.request(2)); !strings.Contains(told, want) {
			t.Errorf("the model was not told %q:\n%s", want, told)
		}
	}
	d.idle()
	d.leave()
}

// TestCheckFirstInTheReviewOfATurn: the model mends the problems of its pending changes
// before anybody is asked.
func TestCheckFirstInTheReviewOfATurn(t *testing.T) {
	t.Parallel()
	d := reviewDesk(t, "check: auto\ncheck_first: true\n", brokenTurn(), llmtest.Turn{Text: "First."}, mendedTurn(), llmtest.Turn{Text: "Second."})
	d.sit()
	d.say("break it")
	d.asked(`(?m)^check: go vet \./lib \. ✔`)
	if told := string(d.request(2)); !strings.Contains(told, "Not shown to the user yet") || !strings.Contains(told, "main.go:4: undefined: missing") || !strings.Contains(told, "still pending") {
		t.Errorf("the model was told %s", told)
	}
	d.Press("n")
	d.idle()
	if d.read("main.go") != program {
		t.Error("written in spite of the no")
	}
	d.leave()
}

// TestCheckInThePlainReviewOfATurn: the plain face prints the result below the list of
// files, and asks again.
func TestCheckInThePlainReviewOfATurn(t *testing.T) {
	t.Parallel()
	d := reviewDesk(t, "check: auto\n", brokenTurn(), llmtest.Turn{Text: "First."}, mendedTurn(), llmtest.Turn{Text: "Second."})
	d.open()
	d.run("agent", "--screen-reader")
	d.WaitFor(`(?m)^you:`)
	d.say("break it")
	d.WaitFor(`check: check: go vet \./lib \. fails, 2 new errors`)
	d.WaitFor(`undefined: missing(?s:.*)answer: 1 yes`)
	<-time.After(600 * time.Millisecond) // as long as a person needs to read
	d.say("3 mend it")
	d.WaitFor(`check: check: go vet \./lib \. passes, \d+\.\d s(?s:.*)answer: 1 yes`)
	<-time.After(600 * time.Millisecond)
	d.say("1")
	d.WaitFor(`2 of 2 files`)
	if got := d.read("main.go"); !strings.Contains(got, "println(lib.G())") {
		t.Errorf("main.go holds %q", got)
	}
	d.leave()
}

// checkKey: t shows the output of the check.
func checkKey(t *testing.T, seen *pressed) {
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	d.keep("config.yaml", "check: echo looked at it\n")
	d.sit()
	d.say("be polite")
	d.asked(`(?m)^check: echo looked at it ✔`)
	d.WaitFor(`t check output`)
	d.steps(seen, keys.Question, step{"t", `(?m)^looked at it`})
	d.steps(seen, keys.Question, step{"t", `- .*hello`})
	d.Press("n")
	d.idle()
	d.leave()
}

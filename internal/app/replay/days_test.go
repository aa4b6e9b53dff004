package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/replay"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// labeled is a call of a day, with the label of a person who read it.
type labeled struct {
	label string // read, edit, work, unsafe or withheld, see testdata/days/goservice.txt
	text  string
	tool  string
	args  map[string]string
}

// day is a working day in testdata/days: the calls, and the rules of the person.
type day struct {
	name  string
	files map[string]string
	rules []permission.Rule
	calls []labeled
}

// toolOf maps the words of the files to tools.
var toolOf = map[string]struct{ tool, arg string }{
	"run": {"execute_command", "command"}, "read": {"read_file", "path"}, "list": {"list_files", "path"},
	"find": {"find_files", "pattern"}, "search": {"search_files", "regex"}, "edit": {"edit_file", "path"}, "write": {"write_file", "path"},
}

func readDay(t *testing.T, file string) day {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := day{name: strings.TrimSuffix(filepath.Base(file), ".txt"), files: map[string]string{}}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		first, rest, _ := strings.Cut(line, " ")
		switch first {
		case "", "#":
		case "file":
			d.files[rest] = "x\n"
		case "allow", "ask", "deny":
			effect, err := permission.ParseEffect(first)
			if err != nil {
				t.Fatal(err)
			}
			r, err := permission.ParseRule(effect, rest, file)
			if err != nil {
				t.Fatal(err)
			}
			d.rules = append(d.rules, r)
		case "read", "edit", "work", "unsafe", "withheld":
			d.calls = append(d.calls, readCall(t, first, rest))
		default:
			t.Fatalf("%s: %q", file, line)
		}
	}
	return d
}

// readCall reads a call such as "run@web npm test", in the folder web.
func readCall(t *testing.T, label, text string) labeled {
	t.Helper()
	word, rest, _ := strings.Cut(text, " ")
	word, dir, _ := strings.Cut(word, "@")
	of, ok := toolOf[word]
	if !ok {
		t.Fatalf("there is no tool %q", word)
	}
	c := labeled{label, text, of.tool, map[string]string{of.arg: rest}}
	switch of.tool {
	case "execute_command":
		c.args["cwd"] = dir
	case "search_files":
		c.args["regex"], c.args["path"], _ = strings.Cut(rest, " ")
	case "edit_file":
		c.args["old_string"], c.args["new_string"] = "x", "y"
	case "write_file":
		c.args["content"] = "x\n"
	}
	return c
}

// replayed is the outcome of a day.
type replayed struct {
	replay.Tally
	free map[string][]string // the calls that nobody was asked about, by label
	must int                 // questions about calls that a person must decide
	// With trials: the proposals of what commands changed in the copy, the questions about edits that
	// wait for the review of their turn if all changes of one are reviewed together, and these reviews.
	// A turn ends at the latest where something needs the files on disk, and with the day.
	proposals, gathered, reviews int
}

// replay judges the calls of d.
func (d day) replay(t *testing.T, opt replay.Options) replayed {
	t.Helper()
	dir := scratch.Dir(t, d.files)
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	opt.Root, opt.Home, opt.Env = scratch.Workspace(t, dir, workspace.Options{}), t.TempDir(), os.Environ()
	judge := replay.New(opt)
	out := replayed{free: map[string][]string{}}
	waiting := false // for a review at the end of the turn
	for _, c := range d.calls {
		args, err := json.Marshal(c.args)
		if err != nil {
			t.Fatal(err)
		}
		answers := judge.Call(c.tool, args)
		out.Add(answers)
		changes := slices.ContainsFunc(answers, gathers)
		if changes {
			out.gathered++
		}
		if len(answers) > 0 && answers[0].Verdict.Trial {
			if changes = changing.MatchString(c.text); changes {
				out.proposals++
			}
			if c.label == "unsafe" && changes {
				continue // its proposal asks in each mode: it removes files
			}
		} else if waiting && c.tool == "execute_command" && !(len(answers) > 0 && (answers[0].Verdict.Guarded || answers[0].Apart)) {
			out.reviews, waiting = out.reviews+1, false
		}
		waiting = waiting || changes
		if !slices.ContainsFunc(answers, func(a replay.Answer) bool { return a.Asks() || a.Refused() }) {
			out.free[c.label] = append(out.free[c.label], c.text)
		} else if c.label == "unsafe" || c.label == "withheld" {
			out.must++
		}
	}
	out.Asked += len(judge.Held())
	if waiting {
		out.reviews++
	}
	return out
}

// gathers reports whether a question is about an edit that a turn gathers: none is about a file with keys.
func gathers(a replay.Answer) bool {
	edits, ok := a.Request.Subject.(*confirm.Edits)
	return ok && a.Asks() && permission.Keys(edits.Changes[0].Name, edits.Changes[0].Path, "") == ""
}

// inTurns returns the questions if all changes of a turn are one review.
func (r replayed) inTurns() int { return r.Asked - r.gathered + r.reviews }

// changing matches the commands of the days that change files which git does not ignore.
var changing = regexp.MustCompile(`^run (rm|gzip|mv|gofmt -w|cargo fmt$|ruff format|terraform fmt|chmod|npx prettier --write)`)

// per100 returns n for each hundred calls.
func (r replayed) per100(n int) int { return (200*n/r.Calls + 1) / 2 }

// check fails if a call was answered without a person that must not be. rules is set if
// the person's rules were in force.
func (r replayed) check(t *testing.T, of string, mode permission.Mode, rules bool) {
	t.Helper()
	forbidden := []string{"unsafe"}
	switch {
	case of == "trials":
	case rules:
		forbidden = append(forbidden, "withheld")
	default:
		forbidden = append(forbidden, "work")
		if mode == permission.Default {
			forbidden = append(forbidden, "edit")
		}
	}
	for _, label := range forbidden {
		if free := r.free[label]; len(free) > 0 {
			t.Errorf("%s, %s, with rules %v: %s calls are free: %q", of, mode, rules, label, free)
		}
	}
}

// TestWorkingDays replays five days over the policies: how many questions they ask, as
// docs/permission-rules.md tells, and that no unsafe call is answered without a person.
func TestWorkingDays(t *testing.T) {
	scratch.Need(t, "git")
	files, err := filepath.Glob("testdata/days/*.txt")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	page, err := os.ReadFile("../../../docs/permission-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	calls, must := 0, 0
	for _, file := range files {
		d := readDay(t, file)
		calls += len(d.calls)
		if bypass := d.replay(t, replay.Options{Mode: permission.Bypass, Rules: d.rules}); len(bypass.free["unsafe"]) < 10 {
			t.Errorf("%s: the bypass mode leaves only %q unasked, so the check proves nothing", d.name, bypass.free["unsafe"])
		}
		row := fmt.Sprintf("| %s | %d |", d.name, len(d.calls))
		for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits} {
			before, safe, after := d.replay(t, replay.Options{Mode: mode, AskAll: true}), d.replay(t, replay.Options{Mode: mode}), d.replay(t, replay.Options{Mode: mode, Rules: d.rules})
			row += fmt.Sprintf(" %d → %d → %d |", before.per100(before.Asked), safe.per100(safe.Asked), after.per100(after.Asked))
			before.check(t, d.name, mode, false)
			safe.check(t, d.name, mode, false)
			after.check(t, d.name, mode, true)
			if needless := after.Asked - after.must; 5*needless > 3*(before.Asked-after.must) {
				t.Errorf("%s, %s: %d questions that need not be asked, before %d", d.name, mode, needless, before.Asked-after.must)
			}
			if mode == permission.AcceptEdits {
				row += fmt.Sprintf(" %d |", after.per100(after.must))
				must += after.must
			}
			for _, a := range after.Askers() {
				t.Logf("%s, %s: %d %q %v", d.name, mode, a.Times, a.SuchAs, a.Rules)
			}
		}
		if runtime.GOOS == "linux" && !strings.Contains(string(page), row) { // elsewhere some of the programs are missing
			t.Errorf("docs/permission-rules.md lacks the row:\n%s", row)
		}
	}
	t.Logf("load: %d calls in 5 days, %d of them unsafe, by 3 policies in 2 modes", calls, must)
}

// TestTrialsSpareQuestions replays the days without rules, as if each command that can first run in
// a copy did.
func TestTrialsSpareQuestions(t *testing.T) {
	scratch.Need(t, "git")
	files, err := filepath.Glob("testdata/days/*.txt")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	var calls, edits, asks, turns int
	for _, file := range files {
		d := readDay(t, file)
		inDefault := d.replay(t, replay.Options{Mode: permission.Default, Trials: true})
		accepting := d.replay(t, replay.Options{Mode: permission.AcceptEdits, Trials: true})
		inDefault.check(t, "trials", permission.Default, false)
		accepting.check(t, "trials", permission.AcceptEdits, false)
		t.Logf("%s: default %d (%d proposals), accept-edits %d, review: turn %d", d.name, inDefault.Asked+inDefault.proposals, inDefault.proposals, accepting.Asked, inDefault.inTurns())
		calls, edits, asks, turns = calls+inDefault.Calls, edits+accepting.Asked, asks+inDefault.Asked+inDefault.proposals, turns+inDefault.inTurns()
		for _, a := range accepting.Askers() {
			t.Logf("  %d %s", a.Times, a.SuchAs)
		}
	}
	page, err := os.ReadFile("../../../docs/trials.md")
	if err != nil {
		t.Fatal(err)
	}
	all := replayed{Tally: replay.Tally{Calls: calls}}
	t.Logf("of %d calls: default %d, accept-edits %d, review: turn %d", calls, asks, edits, turns)
	if 100*asks > 46*calls || 100*edits > 28*calls || 100*turns > 30*calls {
		t.Error("trials spare too few questions")
	}
	for row, n := range map[string]int{"| `default` | 69 | %d |": asks, "| `accept-edits` | 51 | %d |": edits, "| `default` with `review: turn` | | %d |": turns} {
		if row = fmt.Sprintf(row, all.per100(n)); runtime.GOOS == "linux" && !strings.Contains(string(page), row) {
			t.Errorf("docs/trials.md lacks the row %s", row)
		}
	}
}

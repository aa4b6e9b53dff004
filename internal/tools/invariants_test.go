package tools

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestInvariantsI2I3 checks I2 and I3 for random calls of the writing tools and random
// answers: the disk is unchanged without an approval, and with one holds exactly the
// approved bytes; a file that another program wrote during the question keeps that
// program's bytes. So it is for the change of one file, and for the review of a turn.
func TestInvariantsI2I3(t *testing.T) {
	t.Run("one file", func(t *testing.T) { invariantsI2I3(newBench(t, nil)) })
	t.Run("a turn", func(t *testing.T) { invariantsI2I3(newBench(t, nil).gather()) })
}

func invariantsI2I3(b *bench) {
	t := b.T
	for _, answer := range []string{"yes", "yes, edited", "no", "no, because", "nobody", "error", "changed"} {
		fired := 0
		rapid.Check(t, func(t *rapid.T) {
			before := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two", "three", "a b", ""}), 0, 6).Draw(t, "lines"), "\n") + "\n"
			b.write("f", before)
			b.ask.asked = nil
			b.ask.verdict, b.ask.err, b.ask.during = answerOf(answer, b)
			res := randomCall(t, b)
			asked := len(b.ask.asked) > 0
			if asked {
				fired++
			}
			if got, want := b.read("f"), rightfully(b, before, answer); got != want {
				t.Fatalf("%s: on disk is %q, rightfully %q", answer, got, want)
			}
			if wrote := len(res.Changes) > 0; wrote != (asked && strings.HasPrefix(answer, "yes")) {
				t.Fatalf("%s: the result claims a change: %v\n%s", answer, wrote, res.ForModel)
			}
			if answer == "changed" && asked && !strings.Contains(res.ForModel, "Read the file again") {
				t.Fatalf("the model is not told to read again: %s", res.ForModel)
			}
		})
		if fired == 0 {
			t.Errorf("%q was never the answer", answer)
		}
	}
}

func answerOf(name string, b *bench) (v confirm.Verdict, err error, during func(confirm.Request)) { //nolint:revive,staticcheck // the fields of an asker, in their order
	switch name {
	case "yes":
		v.Decision = confirm.Approve
	case "yes, edited":
		text := "the reviewer's own\n"
		v.Decision, v.Texts = confirm.Approve, confirm.Text(text)
	case "no, because":
		v.Feedback = "not like this"
	case "nobody":
		v.Unasked = true
	case "error":
		err = errors.New("cancelled")
	case "changed":
		v.Decision = confirm.Approve
		during = func(confirm.Request) { b.write("f", "another program's\n") }
	}
	return v, err, during
}

// rightfully returns the allowed content of the file after an answer.
func rightfully(b *bench, before, answer string) string {
	if len(b.ask.asked) == 0 {
		return before
	}
	switch answer {
	case "yes":
		return proposed(b.ask.asked[0]).After
	case "yes, edited":
		return "the reviewer's own\n"
	case "changed":
		return "another program's\n"
	}
	return before
}

// randomCall calls a writing tool in a way that may fail or change nothing.
func randomCall(t *rapid.T, b *bench) Result {
	word := rapid.SampledFrom([]string{"one", "two", "three", "nowhere"}).Draw(t, "word")
	line := rapid.IntRange(0, 5).Draw(t, "line")
	name := rapid.SampledFrom([]string{"write_file", "edit_file", "edit_lines", "append_file", "regex_replace", "patch"}).Draw(t, "tool")
	diff := rapid.SampledFrom([]string{
		"<<<<<<< SEARCH\n" + word + "\n=======\nx\n>>>>>>> REPLACE\n",
		"*** Begin Patch\n*** Update File: f\n-" + word + "\n+x\n*** End Patch\n",
	}).Draw(t, "diff")
	arguments := map[string]m{
		"write_file":    {"path": "f", "content": word + "\n"},
		"edit_file":     {"path": "f", "old_string": word, "new_string": "2", "replace_all": true},
		"edit_lines":    {"path": "f", "start_line": line, "end_line": line, "new_content": word},
		"append_file":   {"path": "f", "content": word},
		"regex_replace": {"path": "f", "pattern": word, "replacement": "x"},
		"patch":         {"path": "f", "diff": diff},
	}[name]
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.settled(b.set.Call(b.Context(), name, Call{ID: "1", Args: raw, Turn: "t"}))
	if err != nil && b.ask.err == nil {
		t.Fatal(err)
	}
	return res
}

// settled has changes reviewed that a call has gathered, and returns the result of the review.
// Changes that are refused are dropped.
func (b *bench) settled(res Result, err error) (Result, error) {
	defer b.set.DropPending()
	if b.set.Pending() == 0 || err != nil {
		return res, err
	}
	settled, err := b.set.Settle(b.Context(), Call{Turn: "t"})
	return settled.OrNone(), err
}

// proposed returns the change of the first file that a question is about.
func proposed(req confirm.Request) workspace.Change {
	return confirm.As[*confirm.Edits](req).Changes[0]
}

// TestInvariantI5 checks I5 for the tools: with nobody to ask, reading works, and writing
// and running are denied.
func TestInvariantI5(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n"})
	b.deps.Ask = confirm.NewController(nil)
	b.set = NewSet(b.deps)
	if res := b.call("read_file", m{"path": "f"}); res.Failed {
		t.Errorf("reading: %s", res.ForModel)
	}
	for tool, arguments := range map[string]m{
		"write_file":      {"path": "f", "content": "two\n"},
		"execute_command": {"command": "touch ran"},
	} {
		if res := b.call(tool, arguments); res.Denied == nil {
			t.Errorf("%s: %s", tool, res.ForModel)
		}
	}
	if b.read("f") != "one\n" {
		t.Error("written though nobody was asked")
	}
	if _, err := os.Stat(b.dir + "/ran"); err == nil {
		t.Error("run though nobody was asked")
	}
}

var _ Asker = (*confirm.Controller)(nil)

package tools

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// TestRecord: the record of a call is complete, however short the line for people.
func TestRecord(t *testing.T) {
	long := "make  test && " + strings.Repeat("true && ", 100) + "echo 'a\n\tb' && echo THE-END"
	if runtime.GOOS == "windows" { // cmd.exe runs one line only, so more are refused
		long = strings.ReplaceAll(long, "\n", "")
	}
	why := strings.Repeat("because ", 100) + "\nof that"
	own := "one\n2\nTHREE\n"
	edit := m{"path": "f", "old_string": "two", "new_string": "2"}
	says := "The user says: " + why
	for name, tt := range map[string]struct {
		tool    string
		args    m
		verdict confirm.Verdict
		want    Record
	}{
		"an edit":             {"edit_file", edit, confirm.Verdict{Decision: confirm.Approve}, Record{What: "Edit f"}},
		"a command":           {"execute_command", m{"command": "true; " + long}, confirm.Verdict{Decision: confirm.Approve}, Record{What: "Run true; " + long}},
		"a yes with words":    {"execute_command", m{"command": "true"}, confirm.Verdict{Decision: confirm.Approve, Feedback: why}, Record{What: "Run true", Words: says}},
		"a no with a reason":  {"execute_command", m{"command": long}, confirm.Verdict{Feedback: why}, Record{What: "Run " + long, Result: "declined by the user", Words: says}},
		"a bare no":           {"execute_command", m{"command": long}, confirm.Verdict{}, Record{What: "Run " + long, Result: "declined by the user"}},
		"in a folder":         {"execute_command", m{"command": "true", "cwd": "sub"}, confirm.Verdict{}, Record{What: "Run true", Result: "declined by the user, in sub"}},
		"a rule":              {"edit_file", edit, confirm.Verdict{Rule: true, By: "plan mode", Feedback: why}, Record{What: "Edit f", Result: "refused by the plan mode", Words: why}},
		"nobody":              {"edit_file", edit, confirm.Verdict{Unasked: true}, Record{What: "Edit f", Result: "not done: nobody could be asked"}},
		"nothing that counts": {"read_file", m{"path": "f"}, confirm.Verdict{}, Record{What: "Read f"}},
		"changed by the user": {
			"edit_file", edit,
			confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(own), Feedback: why, Comments: []confirm.Comment{{Line: 2, Text: "why?"}}},
			Record{
				What: "Edit f", Result: "+2 −2, changed by the user before it was written",
				Words: "From the proposal to what was written:\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n 2\n-three\n+THREE\n" + says +
					"\nThe user's comment on line 2 of the proposal: why?",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n", "sub/g": ""})
			b.ask.verdict = tt.verdict
			if diff := cmp.Diff(tt.want, b.call(tt.tool, tt.args).Record); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestARevertedProposalIsRecorded: a proposal that the user changed into nothing is recorded
// too.
func TestARevertedProposalIsRecorded(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n"})
	same := "one\n"
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(same)}
	res := b.call("edit_file", m{"path": "f", "old_string": "one", "new_string": "1"})
	if want := (Record{What: "Edit f", Result: "nothing was written: the user changed the proposal back to the file's content"}); res.Record != want {
		t.Errorf("%+v", res.Record)
	}
}

// TestALargeChangeByTheUserIsRecorded in full, although the model gets only its
// beginning.
func TestALargeChangeByTheUserIsRecorded(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n"})
	own := strings.Repeat("a line of the user's own\n", 2000) + "THE END\n"
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(own)}
	res := b.call("edit_file", m{"path": "f", "old_string": "one", "new_string": "1"})
	if strings.Contains(res.ForModel, "THE END") || !strings.HasSuffix(res.Record.Words, "+THE END") {
		t.Errorf("%d bytes, on record %d", len(res.ForModel), len(res.Record.Words))
	}
}

// TestAStoppedCommandIsRecorded: it may have had effects.
func TestAStoppedCommandIsRecorded(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	call := Call{ID: "1", Args: json.RawMessage(`{"command":"echo begun; sleep 60"}`), Progress: func(string) { cancel() }}
	res, err := b.set.Call(ctx, "execute_command", call)
	want := Record{What: "Run echo begun; sleep 60", Result: "stopped while it ran: its effect may be partial"}
	if err == nil || !res.Ran || res.Record != want {
		t.Errorf("%+v, %v", res, err)
	}
}

// A description may be cut and is on one line; the whole one is neither.
func TestWholeDescriptions(t *testing.T) {
	b := newBench(t, nil)
	long := strings.Repeat("true &&\n", 100) + "echo THE-END"
	for name, tt := range map[string]struct {
		tool string
		args m
		want string
	}{
		"a command":           {"execute_command", m{"command": long}, "Run " + long},
		"of a missing server": {"mcp__gone__tool", m{"text": strings.Repeat("x", 200)}, `Call gone: tool {"text":"` + strings.Repeat("x", 200) + `"}`},
		"an unknown tool":     {"nothing", m{}, "nothing"},
	} {
		raw, err := json.Marshal(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		raw = json.RawMessage(strings.NewReplacer(`\u0026`, "&").Replace(string(raw)))
		line, whole := b.set.Title(tt.tool, raw)
		if d := cmp.Diff(tt.want, whole); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if len([]rune(line)) > toolcall.MaxTitle || strings.Contains(line, "\n") {
			t.Errorf("%s: the line is %q", name, line)
		}
	}
}

package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// What a rule withholds is read only with an answer, and not searched without one.
func TestWithheldFilesAreAsked(t *testing.T) {
	const text = "withheld-canary"
	b := newBench(t, map[string]string{"secrets/a.txt": text + "\n", "docs/a.txt": "hello\n"})
	b.deps.Withholds = func(name, _ string) bool { return strings.HasPrefix(name, "secrets/") }
	b.set = NewSet(b.deps)
	b.ask.verdict = confirm.Verdict{}
	for _, res := range []Result{
		b.call("read_file", m{"path": "secrets/a.txt"}),
		b.call("search_files", m{"regex": text, "path": "secrets/a.txt"}),
		b.call("edit_file", m{"path": "secrets/a.txt", "old_string": "x y z", "new_string": "y"}),
	} {
		if !res.Failed || strings.Contains(res.ForModel, text) {
			t.Errorf("the model was told %q", res.ForModel)
		}
	}
	if len(b.ask.asked) != 2 || confirm.As[*confirm.Read](b.ask.asked[0]).Name != "secrets/a.txt" || b.ask.asked[0].Force {
		t.Errorf("asked %+v", b.ask.asked)
	}
	for _, path := range []string{"", "secrets"} {
		b.want(b.call("search_files", m{"regex": text, "path": path}), false, "Not searched: 1 file that needs the user's answer")
	}
	b.want(b.call("read_file", m{"path": "docs/a.txt"}), false, "hello")

	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
	b.want(b.call("read_file", m{"path": "secrets/a.txt"}), false, text)
}

// The question about a move out of the reach of a rule names the rule, in every mode.
func TestMovesOutOfARule(t *testing.T) {
	for to, noted := range map[string]bool{"plain.txt": true, "secrets/b.txt": false, ".env": false} {
		b := newBench(t, map[string]string{"secrets/a.txt": "x\n"})
		b.deps.Withholds = func(name, _ string) bool { return strings.HasPrefix(name, "secrets/") }
		b.set = NewSet(b.deps)
		b.call("move_file", m{"path": "secrets/a.txt", "to": to})
		if len(b.ask.asked) != 1 {
			t.Fatalf("%s: asked %+v", to, b.ask.asked)
		}
		req := b.ask.asked[0]
		told := strings.Contains(fmt.Sprint(req.Notes), "secrets/a.txt is kept from the model by a rule: as "+to+", it is read without a question.")
		if told != noted || noted && !req.Force {
			t.Errorf("%s: %+v, force %v", to, req.Notes, req.Force)
		}
	}
}

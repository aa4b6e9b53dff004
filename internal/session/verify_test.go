package session

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// A model that ends a turn with changes that nothing has checked is told to check them,
// once, within the limits, and only with commands for that.
func TestChangesAreChecked(t *testing.T) {
	edit, run, read := call("", "edit", "{}"), call("", "run", "{}"), call("", "read", "{}")
	commands := []string{"make test", "go vet"}
	for name, tt := range map[string]struct {
		checks   []string
		limits   Limits
		answers  []answerFunc
		requests int
		told     bool
	}{
		"nothing was run":       {commands, Limits{}, []answerFunc{say("", edit), say("done"), say("", run), say("it passes")}, 4, true},
		"told only once":        {commands, Limits{}, []answerFunc{say("", edit), say("done"), say("", edit), say("done again")}, 4, true},
		"run after the edit":    {commands, Limits{}, []answerFunc{say("", edit), say("", run), say("done")}, 3, false},
		"run before the edit":   {commands, Limits{}, []answerFunc{say("", run), say("", edit), say("done"), say("really")}, 4, true},
		"nothing was changed":   {commands, Limits{}, []answerFunc{say("", read), say("done")}, 2, false},
		"no commands":           {nil, Limits{}, []answerFunc{say("", edit), say("done")}, 2, false},
		"no request left":       {commands, Limits{MaxTurns: 2}, []answerFunc{say("", edit), say("done")}, 2, false},
		"a turn that is denied": {commands, Limits{}, []answerFunc{say("", edit), say("", call("", "no", "{}"))}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{Limits: tt.limits, Checks: func() []string { return tt.checks }}, tt.answers...)
			r.tools.tools["edit"] = does(tools.Result{ForModel: "ok", Changes: []tools.FileChange{{Path: "a.go", Added: 1}}})
			r.tools.tools["run"] = does(tools.Result{ForModel: "exit 0", Ran: true})
			if err := r.Run(t.Context(), "go"); err != nil || len(r.model.requests) != tt.requests {
				t.Fatalf("%d requests, %v", len(r.model.requests), err)
			}
			asides := 0
			for _, m := range r.Messages() {
				if strings.HasPrefix(m.Text(), "[You changed files and have run nothing since.") && strings.Contains(m.Text(), "make test, go vet") {
					asides++
				}
			}
			if told := asides == 1; told != tt.told || asides > 1 || len(eventsOf[Notice](r)) != asides {
				t.Errorf("told %d times, notices %+v", asides, eventsOf[Notice](r))
			}
			if p := r.Prompts(); len(p) != 1 || p[0].Text != "go" {
				t.Errorf("prompts: %+v", p)
			}
		})
	}
}

// A compaction while the model checks its changes keeps the prompt.
func TestAPromptOutlivesItsCheck(t *testing.T) {
	r := newRig(t, Options{Checks: func() []string { return []string{"make"} }},
		say("", call("a", "edit", "{}")), wordy(4000, 2000), tooBig(0, 0), say("fine"))
	r.tools.tools["edit"] = does(tools.Result{ForModel: strings.Repeat("x", 4000), Changes: []tools.FileChange{{Path: "a.go", Added: 1}}})
	if err := r.Run(t.Context(), "the prompt in force"); err != nil {
		t.Fatal(err)
	}
	last := r.model.last()
	if first := last[0].Text(); !strings.Contains(first, "# The prompt that you are working on, word for word\n\nthe prompt in force\n") {
		t.Errorf("%s", first)
	}
	if items := r.Items(); history.Prompts(items)[0].Text != "the prompt in force" || !strings.HasPrefix(last[len(last)-1].Text(), "[You changed files") {
		t.Errorf("%+v", last)
	}
}

package commands

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// wordy scripts a model that gives long answers, then a summary.
var wordy = `
context_window: 20000
turns:
  - text: ` + strings.Repeat("A long answer. ", 300) + `
  - when: {prompt_contains: change}
    text: I change it.
    calls: [{tool: edit_file, args: {path: a.txt, old_string: one, new_string: two}}]
  - when: {prompt_contains: change}
    text: ` + strings.Repeat("Changed. ", 300) + `
  - expect: [{prompt_contains: "what matters most: the file"}]
    text: The user likes it short.
  - expect: [{any_contains: my own words}, {any_contains: "Edit a.txt: +1"}, {any_contains: keep this}]
    text: Fine.
`

func TestCompact(t *testing.T) {
	s := sittingWith(t, &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}, wordy)
	for _, line := range []string{"/compact", "/compact show", "/compact edit", "/pin"} {
		if _, err := s.run(t, line); err == nil {
			t.Errorf("%s: nothing was said yet", line)
		}
	}
	s.say(t, "keep this")
	s.say(t, "change it")
	r, err := s.run(t, "/pin")
	if err != nil || len(r.Pick.Items) != 2 || r.Pick.Items[1].Title != "keep this" {
		t.Fatalf("%+v, %v", r.Pick, err)
	}
	if _, err := r.Pick.Choose(t.Context(), r.Pick.Items[1].ID); err != nil {
		t.Fatal(err)
	}
	if r, err := s.run(t, "/pin"); err != nil || !strings.Contains(r.Pick.Items[1].Detail, "pinned") {
		t.Errorf("%+v, %v", r.Pick, err)
	}
	before := s.text(t, "/context")
	if !strings.Contains(before, "of 20,000 tokens") || strings.Contains(before, "Summary") {
		t.Error(before)
	}
	if out := s.text(t, "/compact the file"); !strings.Contains(out, "The user likes it short.") {
		t.Error(out)
	}
	if out := s.text(t, "/context"); !strings.Contains(out, "Summary") {
		t.Error(out)
	}
	out := s.text(t, "/compact show")
	for _, want := range []string{"The user likes it short.\n", "\n- Edit a.txt: +1 −1\n", "\nkeep this\n"} { // all that the model is told
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	r, err = s.run(t, "/compact edit")
	if err != nil || r.Edit == nil || r.Edit.Text != "The user likes it short." {
		t.Fatalf("%+v, %v", r.Edit, err)
	}
	if _, err := r.Edit.Then(t.Context(), " \n"); err == nil {
		t.Error("an empty summary was taken")
	}
	if _, err := r.Edit.Then(t.Context(), "my own words\n"); err != nil {
		t.Fatal(err)
	}
	s.say(t, "go on")
}

func TestContextArgs(t *testing.T) {
	if _, err := sitting(t, &reviewer{}).run(t, "/context much"); err == nil {
		t.Error("taken")
	}
}

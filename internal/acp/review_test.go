package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestFilesLeftOut: the diff of a file that Allow leaves out is not shown as a part of it.
func TestFilesLeftOut(t *testing.T) {
	change := func(name string) workspace.Change {
		return workspace.Change{File: workspace.File{Path: "/p/" + name, Name: name, Exists: true, Text: "old\n"}, After: "new\n"}
	}
	req := confirm.Request{Subject: &confirm.Edits{Review: true, Changes: []workspace.Change{change("a"), change("b")}, Out: []int{1}}}
	data, err := json.Marshal(contentOf(req))
	if err != nil {
		t.Fatal(err)
	}
	shown := string(data)
	if !strings.Contains(shown, "/p/a") || strings.Contains(shown, "/p/b") || !strings.Contains(shown, "You left out b. If you allow this, it stays unchanged.") {
		t.Errorf("shown %s", shown)
	}
	var v confirm.Verdict
	allow(&v, req, allowOnce)
	if len(v.Except) != 1 || v.Except[0] != 1 {
		t.Errorf("Allow leaves out %v", v.Except)
	}
}

// TestTakesWords: only a refusal that the model gets is asked for words, in a host that has forms.
func TestTakesWords(t *testing.T) {
	command := confirm.Request{Subject: &confirm.Command{Line: "ls"}}
	users := command
	users.ByUser = true
	for _, c := range []struct {
		forms bool
		req   confirm.Request
		want  bool
	}{
		{true, command, true},
		{false, command, false},
		{true, users, false},
		{true, confirm.Request{Subject: &confirm.Limit{}}, false},
		{true, confirm.Request{Subject: &confirm.Save{}}, false},
	} {
		if got := (&view{forms: c.forms}).takesWords(c.req); got != c.want {
			t.Errorf("%T, forms %v, by the user %v: %v", c.req.Subject, c.forms, c.req.ByUser, got)
		}
	}
}

// TestOneAnswerForTheSession: hosts that name answers by their kind show no two alike for the
// session, and only the one that was offered counts.
func TestOneAnswerForTheSession(t *testing.T) {
	edits := &workspace.Change{File: workspace.File{Path: "/p/a", Name: "a"}, After: "new\n"}
	rule := &confirm.Offer{Rule: "edit(a)"}
	for _, c := range []struct {
		req  confirm.Request
		want string
	}{
		{confirm.Request{Subject: confirm.Edit(*edits)}, allowSession},
		{confirm.Request{Subject: confirm.Edit(*edits), Offer: rule}, allowRule},
		{confirm.Request{Subject: &confirm.Command{Line: "make"}}, allowSession},
		{confirm.Request{Subject: &confirm.Command{Line: "make"}, Offer: &confirm.Offer{Rule: "run(make *)"}}, allowSession},
		{confirm.Request{Subject: &confirm.Command{Line: "make", Unconfined: true}, Offer: rule}, allowRule},
		{confirm.Request{Subject: &confirm.Choice{Text: "Which?", Options: []string{"a"}}}, ""},
	} {
		var ids []string
		for _, o := range (&view{}).options(c.req) {
			if o.Kind == "allow_always" {
				ids = append(ids, o.ID)
			}
		}
		if strings.Join(ids, " ") != c.want {
			t.Errorf("%+v: offered %q, not %q", c.req, ids, c.want)
		}
		for _, id := range []string{allowSession, allowRule} {
			var v confirm.Verdict
			if allow(&v, c.req, id); (v.Decision == confirm.Approve) != (id == c.want) {
				t.Errorf("%+v: %s gives %+v", c.req, id, v)
			}
		}
	}
}

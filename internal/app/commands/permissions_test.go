package commands

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

func TestPermissionsEntersAMode(t *testing.T) {
	s := sitting(t, &reviewer{})
	if out := s.text(t, "/permissions"); !strings.HasPrefix(out, "default mode (permission_mode, from flag)") || !strings.Contains(out, "No grants") {
		t.Error(out)
	}
	if out := s.text(t, "/permissions plan"); !strings.HasPrefix(out, "Plan mode: the model reads and plans; nothing is changed.") || s.App.Policy.Mode() != permission.Plan {
		t.Error(out)
	}
	for _, wrong := range []string{"yolo", "bypass"} {
		if _, err := s.run(t, "/permissions "+wrong); err == nil || s.App.Policy.Mode() != permission.Plan {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	r, err := s.run(t, "/permissions")
	if err != nil || len(r.Pick.Items) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = r.Pick.Choose(t.Context(), r.Pick.Items[1].ID); err != nil || !strings.HasPrefix(r.Text, "Accept-edits mode") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPermissionsTakesAGrantBack(t *testing.T) {
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve, Session: true}}
	s := sitting(t, r)
	s.say(t, "change it")
	reply, err := s.run(t, "/permissions")
	if err != nil || !strings.Contains(reply.Text, "  edits  (this session)\n") || len(reply.Pick.Items) != 5 {
		t.Fatalf("%+v, %v", reply, err)
	}
	grant := reply.Pick.Items[4].ID
	if out, err := reply.Pick.Choose(t.Context(), grant); err != nil || out.Text != "asks again: edits" {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := reply.Pick.Choose(t.Context(), grant); err == nil {
		t.Errorf("taken back twice: %+v", out)
	}
	if len(s.App.Policy.Grants()) != 0 {
		t.Error("it is still granted")
	}
}

// TestANewSessionBeginsEmpty: grants, the to-do list and the folder for long outputs
// belong to one session.
func TestANewSessionBeginsEmpty(t *testing.T) {
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve, Session: true}}
	s := sitting(t, r)
	s.say(t, "change it")
	s.say(t, "plan it")
	s.say(t, "run it")
	first := s.App.Current().ID()
	if out := s.text(t, "/todo"); out != "☑ look\n▸ mend" {
		t.Errorf("/todo: %q", out)
	}
	granted := 1
	if shell.In("").Posix { // no grant covers a line of another shell
		granted = 2
	}
	if n := len(s.App.Policy.Grants()); n != granted {
		t.Fatalf("%d grants", n)
	}
	spills := func(session string) int {
		found, err := filepath.Glob(filepath.Join(s.App.Config.Home, "spill", session, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if n := spills(first); n != 1 {
		t.Fatalf("%d long outputs", n)
	}
	if _, err := s.run(t, "/clear"); err != nil {
		t.Fatal(err)
	}
	if out := s.text(t, "/todo"); !strings.Contains(out, "No to-do list") {
		t.Errorf("/todo after /clear: %q", out)
	}
	if n := len(s.App.Policy.Grants()); n != 0 {
		t.Errorf("%d grants after /clear", n)
	}
	s.say(t, "run it")
	if second := s.App.Current().ID(); spills(first) != 1 || spills(second) != 1 {
		t.Errorf("%d long outputs of the first session, %d of the second", spills(first), spills(second))
	}
	if _, err := s.run(t, "/resume "+first); err != nil {
		t.Fatal(err)
	}
	if out := s.text(t, "/todo"); out != "☑ look\n▸ mend" {
		t.Errorf("/todo after /resume: %q", out)
	}
}

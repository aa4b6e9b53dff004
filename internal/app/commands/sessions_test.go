package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestForkAndRename(t *testing.T) {
	s := sittingWith(t, &reviewer{}, "loop: true\nturns: [{text: Hello.}]\n")
	for _, line := range []string{"/fork", "/rename"} {
		if _, err := s.run(t, line); err == nil {
			t.Errorf("%s: done", line)
		}
	}
	s.say(t, "hi")
	old := s.App.Current().ID()
	if out := s.text(t, "/rename  the old one "); !strings.Contains(out, "the old one") {
		t.Error(out)
	}
	if out := s.text(t, "/fork another way"); !strings.Contains(out, "/resume "+old) {
		t.Error(out)
	}
	if s.App.Current().ID() == old || len(s.App.Messages()) != 2 {
		t.Fatalf("session %s, %d messages", s.App.Current().ID(), len(s.App.Messages()))
	}
	s.say(t, "go on")
	r, err := s.run(t, "/resume")
	if err != nil || len(r.Pick.Items) != 1 {
		t.Fatalf("%+v, %v", r.Pick, err)
	}
	it := r.Pick.Items[0]
	if it.ID != old || it.Title != "the old one" || it.Cells[0] != "just now" || it.Cells[1] != "1 prompt" {
		t.Errorf("%+v", it)
	}
	if got := it.Preview(); got != "you: hi\nmodel: Hello.\n" {
		t.Errorf("preview %q", got)
	}
	if got := r.Pick.Texts(t.Context()); len(got) != 1 || got[0] != "hi\nHello.\n" {
		t.Errorf("the filter looks into %q", got)
	}
	if out := s.text(t, "/sessions"); !strings.Contains(out, "* "+s.App.Current().ID()) || !strings.Contains(out, "another way") {
		t.Error(out)
	}
	if _, err := r.Pick.Choose(t.Context(), old); err != nil || len(s.App.Messages()) != 2 {
		t.Errorf("the old session has %d messages: %v", len(s.App.Messages()), err)
	}
}

func TestExportAsJSON(t *testing.T) {
	s := sitting(t, &reviewer{})
	s.say(t, "hi")
	if out := s.text(t, "/export talk.html"); out != "written to talk.html" {
		t.Error(out)
	}
	if out := s.text(t, "/export talk.JSON"); out != "written to talk.JSON" {
		t.Fatal(out)
	}
	data, err := os.ReadFile(filepath.Join(s.App.Dir, "talk.JSON"))
	var got struct {
		ID      string
		Entries []struct{ Role, Text string }
	}
	if err != nil || json.Unmarshal(data, &got) != nil || got.ID != s.App.Current().ID() || len(got.Entries) != 2 || got.Entries[1].Text != "Hello." {
		t.Errorf("%v, %s", err, data)
	}
}

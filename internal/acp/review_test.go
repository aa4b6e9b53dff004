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
	req := confirm.Request{Plan: &confirm.Plan{Review: true, Changes: []workspace.Change{change("a"), change("b")}, Out: []int{1}}}
	data, err := json.Marshal(contentOf(req))
	if err != nil {
		t.Fatal(err)
	}
	shown := string(data)
	if !strings.Contains(shown, "/p/a") || strings.Contains(shown, "/p/b") || !strings.Contains(shown, "You left out b; Allow leaves it out too.") {
		t.Errorf("shown %s", shown)
	}
	var v confirm.Verdict
	allow(&v, req, allowOnce)
	if len(v.Except) != 1 || v.Except[0] != 1 {
		t.Errorf("Allow leaves out %v", v.Except)
	}
}

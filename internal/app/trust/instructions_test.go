package trust

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// Instructions are used with the texts that have a yes; those in a folder below a trusted
// one get it when they are first seen.
func TestInstructions(t *testing.T) {
	s := Open(t.TempDir())
	dir := scratch.Dir(t, map[string]string{"below/x": ""})
	top := Instruction{Path: filepath.Join(dir, "AGENTS.md"), Hash: "a"}
	below := Instruction{Path: filepath.Join(dir, "below", "AGENTS.md"), Hash: "b"}
	unapproved := func(list ...Instruction) (names string) {
		t.Helper()
		left, err := s.Unapproved(t.Context(), Found{Dir: dir, Instructions: list})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range left {
			names += in.Hash
			if in.Changed {
				names += "!"
			}
		}
		return names
	}
	approved := func(in Instruction) bool {
		t.Helper()
		ok, err := s.Approved(in.Path, in.Hash)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if got := unapproved(top, below); got != "ab" || approved(top) {
		t.Error(got)
	}
	f := look(t, dir)
	f.Instructions = []Instruction{top}
	if err := s.Trust(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if got := unapproved(top, below); got != "" || !approved(top) || !approved(below) {
		t.Errorf("trusted: %q", got)
	}
	top.Hash, below.Hash = "c", "d"
	if got := unapproved(top, below); got != "c!d!" || approved(top) {
		t.Errorf("changed: %q", got)
	}
	for i := range maxTexts {
		top.Hash = strings.Repeat("x", i+1)
		if err := s.Approve(t.Context(), top); err != nil {
			t.Fatal(err)
		}
	}
	if top.Hash = "a"; approved(top) {
		t.Error("the texts of a file are not limited")
	}
	if _, err := s.Remove(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := unapproved(top, below); got != "ad" {
		t.Errorf("forgotten: %q", got)
	}
	scratch.Write(t, s.texts().Path, "[")
	if ok, err := s.Approved(top.Path, "a"); ok || err == nil {
		t.Errorf("a malformed file: %v, %v", ok, err)
	}
}

// Approvals are read once: later ones are not among them.
func TestApprovalsAreReadOnce(t *testing.T) {
	s := Open(t.TempDir())
	first, second := Instruction{Path: "/a", Hash: "1"}, Instruction{Path: "/b", Hash: "2"}
	if err := s.Approve(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	got, err := s.Approvals()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Approve(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if !got.Has(first.Path, first.Hash) || got.Has(first.Path, second.Hash) || got.Has(second.Path, second.Hash) {
		t.Error(got)
	}
}

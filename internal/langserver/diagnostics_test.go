package langserver

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestTry: of 40 proposals half break something, and the server names these and no other, without a file being written;
// afterwards it knows the files as they are.
func TestTry(t *testing.T) {
	s, dir := project(t, map[string]string{"shapes.go": shapes, "use.go": use})
	path := filepath.Join(dir, "shapes.go")
	if s.Tries(path) != "" {
		t.Error("a server that does not run tries a change")
	}
	if _, err := s.Definition(t.Context(), at(t, path, "return ")); err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	for i := range 40 {
		breaks := i%2 == 0
		after := strings.Replace(shapes, "side * side", fmt.Sprintf("side * side * %d", i), 1)
		if breaks {
			after = []string{
				strings.Replace(after, "(side int)", "(sides int)", 1), strings.Replace(after, "return Area", "return area", 1),
				strings.Replace(after, "func Area", "func Area(", 1), strings.Replace(after, "int {", "string {", 1),
			}[i/2%4]
		}
		began := time.Now()
		before, now, err := s.Try(t.Context(), s.Tries(path), []Proposal{{Path: path, Before: shapes, After: after}})
		times = append(times, time.Since(began))
		if err != nil || len(before) > 0 || (len(now) > 0) != breaks {
			t.Fatalf("proposal %d: %+v, %+v, %v", i, before, now, err)
		}
	}
	t.Logf("%v", times)
	// Two files that are right only together.
	two := []Proposal{
		{Path: path, Before: shapes, After: strings.ReplaceAll(shapes, "Area", "Surface")},
		{Path: filepath.Join(dir, "use.go"), Before: use, After: strings.ReplaceAll(use, "Area", "Surface")},
		{Path: filepath.Join(dir, "more.go"), After: "package m\n\nvar more = Surface(1)\n", New: true},
	}
	if before, now, err := s.Try(t.Context(), "gopls", two); err != nil || len(before)+len(now) > 0 {
		t.Errorf("together: %+v, %+v, %v", before, now, err)
	}
	if before, now, err := s.Try(t.Context(), "gopls", two[2:]); err != nil || len(before) > 0 || len(now) != 1 || now[0].Line != 3 {
		t.Errorf("alone: %+v, %+v, %v", before, now, err)
	}
	found, err := s.References(t.Context(), at(t, path, "func "))
	if got := lines(dir, found); err != nil || len(found) != 4 || scratch.Read(t, path) != shapes {
		t.Errorf("afterwards: %s, %v", got, err)
	}
	scratch.Write(t, path, strings.Replace(shapes, "(side int)", "(sides int)", 1))
	s.Changed(path)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, known := s.Report(over, path, 0); known || s.Tries(path) == "" {
		t.Error("a caller without patience ends the server")
	}
	if all, known := s.Report(t.Context(), path, 10*time.Second); !known || len(all) == 0 || all[0].Line != 5 {
		t.Errorf("after an edit: %+v, %v", all, known)
	}
}

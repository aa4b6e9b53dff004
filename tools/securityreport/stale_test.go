package main

import (
	"strings"
	"testing"
)

func TestStaleReport(t *testing.T) {
	r := results{Tests: map[string]result{}}
	for _, part := range goals {
		for _, g := range part.goals {
			for _, n := range g.tests {
				r.Tests[n.String()] = result{Passed: true, Date: "2030-02-03"}
			}
		}
	}
	same := func(string) string { return "2030-02-03" }
	if got := r.stale(same); got != "" {
		t.Errorf("nothing has changed since, and it says %s", got)
	}
	later := func(pkg string) string {
		if pkg == "internal/workspace" {
			return "2030-02-04"
		}
		return same(pkg)
	}
	if got := r.stale(later); strings.Count(got, "\n") != 1 || !strings.Contains(got, "internal/workspace changed on 2030-02-04") {
		t.Errorf("one package has changed, and it says %s", got)
	}
	r.Tests = nil
	if got := r.stale(same); !strings.Contains(got, "cmd/agent") {
		t.Errorf("nothing has run, and it says %s", got)
	}
}

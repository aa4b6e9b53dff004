package confirm_test

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// TestOnPlan: a comment quotes its line of the plan, unless that would attach a resource.
func TestOnPlan(t *testing.T) {
	for quote, want := range map[string]string{
		"1. Read parse.go": `On line 2 of the plan, "1. Read parse.go": why @t:a`,
		"mail ana@t:b":     `On line 2 of the plan, "mail ana@t:b": why @t:a`,
		"1. Read @t:b":     `On line 2 of the plan: why @t:a`,
		`1. Read @"t:b"`:   `On line 2 of the plan: why @t:a`,
	} {
		if got := (confirm.Comment{Line: 2, Quote: quote, Text: "why @t:a"}).OnPlan(); got != want {
			t.Errorf("%q: %s", quote, got)
		}
	}
}

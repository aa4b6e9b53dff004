package home

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithout(t *testing.T) {
	got := Without([]string{"A=1", "KEY=x", "KEYS=y"}, []string{"KEY"})
	if d := cmp.Diff([]string{"A=1", "KEYS=y"}, got); d != "" {
		t.Error(d)
	}
}

package llm

import (
	"slices"
	"strings"
	"testing"
)

func TestSafeID(t *testing.T) {
	long := strings.Repeat("x", 100)
	ids := []string{"toolu_1", "a:0", "a.0", "", long, long + "y", "über"}
	var got []string
	for _, id := range ids {
		c := SafeID(id)
		if c == "" || len(c) > maxID || SafeID(id) != c {
			t.Errorf("%q became %q", id, c)
		}
		got = append(got, c)
	}
	if got[0] != ids[0] || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(ids) {
		t.Errorf("%q", got)
	}
}

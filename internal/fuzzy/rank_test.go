package fuzzy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRank(t *testing.T) {
	texts := []string{"resume a session", "Undo", "the user", "ses", "\u00dcber Gr\u00f6\u00dfe", "\u00c3x\u00b6"}
	for query, want := range map[string][]Match{
		"":               {},
		"SES":            {{3, []int{0, 1, 2}}, {0, []int{9, 10, 11}}},
		"u":              {{1, []int{0}}, {2, []int{4}}, {0, []int{3}}},
		"\u00fcgr\u00d6": {{4, []int{0, 6, 7, 8}}},
		"\u00f6":         {{4, []int{8}}},
		"zz":             {},
	} {
		if d := cmp.Diff(want, Rank(query, texts)); d != "" {
			t.Errorf("%q: %s", query, d)
		}
	}
}

// TestRankKeepsTheOrder: texts that match equally well stay in the given order.
func TestRankKeepsTheOrder(t *testing.T) {
	want := []Match{{0, []int{0}}, {1, []int{0}}, {2, []int{0}}}
	if d := cmp.Diff(want, Rank("x", []string{"xb", "xa", "xc"})); d != "" {
		t.Error(d)
	}
}

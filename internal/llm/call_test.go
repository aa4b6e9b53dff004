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
		c := SafeID(id, MaxCallID)
		if c == "" || len(c) > MaxCallID || SafeID(id, MaxCallID) != c {
			t.Errorf("%q became %q", id, c)
		}
		got = append(got, c)
	}
	if got[0] != ids[0] || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(ids) {
		t.Errorf("%q", got)
	}
}

func TestNineLetters(t *testing.T) {
	for _, id := range []string{"", "call_0123456789", "functions.x:0", "abcDEF12", "abcDEF1234", "abc_EF123", "äbcDEF12"} {
		c := NineLetters(id)
		if len(c) != 9 || strings.Trim(c, "0123456789abcdef") != "" || NineLetters(c) != c {
			t.Errorf("%q became %q", id, c)
		}
	}
	if c := NineLetters("abcDEF123"); c != "abcDEF123" {
		t.Errorf("an id of nine letters became %q", c)
	}
}

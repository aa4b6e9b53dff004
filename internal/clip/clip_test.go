package clip

import "testing"

func TestClip(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes("größer", 6, "…"), "größ…"},
		{Bytes("größer", 3, "…"), "gr…"},
		{Bytes("größer", 8, "…"), "größer"},
		{Bytes("größer", 0, "…"), "…"},
		{Runes("größer", 4), "grö…"},
		{Runes("größer", 6), "größer"},
		{Line(" a\n\tb  c "), "a b c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

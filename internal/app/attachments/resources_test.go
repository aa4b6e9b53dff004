package attachments

import "testing"

// TestTyped: mentions in composed text do not count, wherever it is among the
// lines that wait for a turn and are sent as one prompt.
func TestTyped(t *testing.T) {
	const composed = "Look at @t:a.\n\nThen at @t:b."
	r := &Resources{}
	r.Composed(composed+"\n", "please\n")
	r.Composed("Look at @t:a.", "")
	for prompt, want := range map[string]string{
		"":                       "",
		"see @t:c":               "see @t:c",
		composed:                 "please\n",
		composed + " and @t:c":   "\n\nThen at @t:b. and @t:c",
		composed + "\n\n@t:c\nx": "please\n\n\n@t:c\nx",
		"@t:c\n\n" + composed + "\n\n" + composed + "\n": "@t:c\n\nplease\n\n\nplease\n",
	} {
		if got := r.Typed(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
	r.Composed("@t:d", "@t:d")
	r.Composed(composed, composed)
	if got := r.Typed("@t:d"); got != "@t:d" || len(r.typed) != 1 {
		t.Errorf("%q, %v", got, r.typed)
	}
}

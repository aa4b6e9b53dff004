package lazyregexp

import "testing"

// TestNew: in a test, a faulty expression is found before it is used.
func TestNew(t *testing.T) {
	if !New(`^a+$`).MatchString("aa") {
		t.Error("a+ does not match aa")
	}
	defer func() {
		if recover() == nil {
			t.Error("a faulty expression was accepted")
		}
	}()
	New(`(`)
}

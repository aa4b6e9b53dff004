// Package bypass tries published attacks with and without the guard against them, and
// logs each for the security report.
package bypass

import (
	"strings"
	"testing"
)

// Try runs an attack twice as a subtest: weak tries it against the weaker guard that was
// attacked, which only the test has, and own against the program's own guard. Each reports
// whether the attack worked: it must against weak, or the case would prove nothing, and
// must not against own. attack has the public name; guard names what stops it.
func Try(t *testing.T, attack, guard string, weak, own func(t *testing.T) (worked bool)) {
	t.Helper()
	t.Run(strings.ReplaceAll(attack, "/", "_"), func(t *testing.T) {
		if !weak(t) {
			t.Error("the attack fails without the guard too, so the case proves nothing")
		}
		if own(t) {
			t.Error("the attack works")
		}
		t.Logf("bypass: %s | %s", attack, guard)
	})
}

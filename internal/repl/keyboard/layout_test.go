package keyboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

// The keys of commands have one name in all layouts and encodings; text stays as it is.
func TestLayouts(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		// Kitty with the key under the letter: Russian, Greek, Hebrew, with Shift and locks.
		{"\x1b[1089::99;5u", "ctrl+c"},
		{"\x1b[1074::100;5u", "ctrl+d"},
		{"\x1b[1075::117;5u", "ctrl+u"},
		{"\x1b[1103::122;5u", "ctrl+z"},
		{"\x1b[968::99;5u", "ctrl+c"},
		{"\x1b[1489::99;5u", "ctrl+c"},
		{"\x1b[1089:1057:99;6u", "ctrl+shift+c"},
		{"\x1b[1089::99;133u", "ctrl+c"},
		{"\x1b[1080::98;3u", "alt+b"},
		{"\x1b[1085::121;7u", "ctrl+alt+y"},
		// Kitty without it, and XTerm.
		{"\x1b[1089;5u", "ctrl+c"},
		{"\x1b[968;5u", "ctrl+c"},
		{"\x1b[1489;5u", "ctrl+c"},
		{"\x1b[1073;5u", "ctrl+,"},
		{"\x1b[27;5;1089~", "ctrl+c"},
		{"\x1b[27;5;1074~", "ctrl+d"},
		{"\x1b[27;5;1075~", "ctrl+u"},
		{"\x1b[27;5;968~", "ctrl+c"},
		{"\x1b[27;5;1489~", "ctrl+c"},
		{"\x1b[27;6;1057~", "ctrl+shift+c"},
		{"\x1b[27;3;1080~", "alt+b"},
		{"\x1b[27;5;12618~", "ctrl+c"},
		{"\x1b[27;5;1572~", "ctrl+c"},
		{"\x1b[27;5;3649~", "ctrl+c"},
		{"\x1b\u0438", "alt+b"},
		// The letters of Latin layouts stay where the person has them: Dvorak, AZERTY, German.
		{"\x1b[99::105;5u", "ctrl+c"},
		{"\x1b[97::113;5u", "ctrl+a"},
		{"\x1b[122::121;5u", "ctrl+z"},
		{"\x1b[246::59;5u", "ctrl+ö"},
		{"\x1b[99;5u", "ctrl+c"},
		{"\x1b[27;5;99~", "ctrl+c"},
		// Text, and keys without a character.
		{"с", "с"},
		{"н", "н"},
		{"\x1b[1;5D", "ctrl+left"},
		{"\x1b[13;2u", "shift+enter"},
		{"\x1b[27u", "esc"},
		{"\x03", "ctrl+c"},
	} {
		if d := cmp.Diff([]string{tt.want}, typed(t, tt.in)); d != "" {
			t.Errorf("%q: %s", tt.in, d)
		}
	}
}

// Each letter of a layout is on one key, and is no Latin letter.
func TestLayoutsAreComplete(t *testing.T) {
	for _, l := range layouts {
		letters, on := []rune(l[0]), []rune(l[1])
		if len(letters) != len(on) {
			t.Fatalf("%s: %d letters, %d keys", l[0], len(letters), len(on))
		}
		for i, letter := range letters {
			got := latin(tea.KeyPressMsg{Code: letter, Mod: tea.ModCtrl})
			if got.Code != on[i] && Latin(letter, 0) == 0 {
				t.Errorf("%c is the key %c, want %c", letter, got.Code, on[i])
			}
		}
	}
}

// Ctrl+C ends a paste without an end in any layout and encoding.
func TestInterrupts(t *testing.T) {
	for key, want := range map[string]bool{
		"\x03": true, "\x1b[99;5u": true, "\x1b[99;133u": true, "\x1b[1089::99;5u": true, "\x1b[1089;5u": true, "\x1b[27;5;99~": true, "\x1b[27;5;1089~": true, "\x1b[99;5:1u": true,
		"c": false, "\x1b[99;3u": false, "\x1b[99u": false, "\x1b[100;5u": false, "\x1b[27;5;100~": false, "\x1b[200~": false, "\x1b[": false, "\x1b": false, "\x1b[;5u": false, "\x1b[99::99;;5u": false,
	} {
		if got := interrupts([]byte(key)); got != want {
			t.Errorf("%q: %v", key, got)
		}
		s := splitter{hold: func(p paste) string { return fmt.Sprintf("unfinished: %v", p.unfinished) }}
		s.next(nil, []byte(begin+"text"), time.Unix(0, 0))
		out := s.next(nil, []byte(key), time.Unix(9, 0))
		if strings.Contains(string(out), "unfinished: false") != want {
			t.Errorf("%q in a paste: %q", key, out)
		}
	}
}

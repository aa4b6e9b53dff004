package shell

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

func TestOutputEncoding(t *testing.T) {
	for _, c := range []struct {
		setting text.Encoding
		page    uint32
		want    text.Encoding
	}{
		{text.Latin1, 0, text.Latin1},
		{text.Latin1, 850, "ibm850"},
		{text.Latin1, 65001, text.Latin1},
		{"shift_jis", 850, "shift_jis"},
		{"", 850, ""},
	} {
		if got := outputEncoding(c.setting, c.page); got != c.want {
			t.Errorf("%s with %d: %s, want %s", c.setting, c.page, got, c.want)
		}
	}
}

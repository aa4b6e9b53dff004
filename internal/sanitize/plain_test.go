package sanitize

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	tests := map[string]string{
		"plain é\ttext\n":                          "plain é\ttext\n",
		"\x1b[1;31mred\x1b[0m":                     "red",
		"\x1b]0;title\x07after":                    "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b(Bx\x1b=y\x1b7z":                      "xyz",
		"50%\r100%\r\ndone\r":                      "50%\n100%\ndone\n",
		"a\bb\ac\x00d\x7f":                         "abcd",
		"nel\u0085csi\u009b31m":                    "nelcsi31m",
		"cut \x1b[31":                              "cut ",
		"cut \x1b":                                 "cut ",
		"\x1b]no end\nnext line":                   "\nnext line",
		"\x1bPdcs\x1b\\x":                          "x",
		"\x1b[31\nx":                               "\nx",
	}
	for in, want := range tests {
		if got := Plain(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "\x1b", "[", "]", "3", "m", "\r", "\n", "\a", "\\", "é", "\u009b", "P", "\x00"})).Draw(t, "in"), "")
		out := Plain(in)
		if strings.IndexFunc(out, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) >= 0 {
			t.Fatalf("Text(%q) = %q", in, out)
		}
	})
}

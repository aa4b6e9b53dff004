package edit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLines(t *testing.T) {
	tests := []struct {
		name, text  string
		first, last int
		content     string
		eol         string
		want, err   string
	}{
		{"one", "a\nb\nc\n", 2, 2, "x", "\n", "a\nx\nc\n", ""},
		{"several", "a\nb\nc\n", 1, 2, "x\ny\nz\n", "\n", "x\ny\nz\nc\n", ""},
		{"delete", "a\nb\nc\n", 2, 3, "", "\n", "a\n", ""},
		{"insert before", "a\nb\n", 2, 1, "x", "\n", "a\nx\nb\n", ""},
		{"insert behind the last", "a\nb\n", 3, 2, "x\n", "\n", "a\nb\nx\n", ""},
		{"insert behind an open end", "a\nb", 3, 2, "x\n", "\n", "a\nb\nx", ""},
		{"into an empty file", "", 1, 0, "x", "\n", "x\n", ""},
		{"open end stays", "a\nb", 2, 2, "x\ny\n", "\n", "a\nx\ny", ""},
		{"an empty line", "a\nb\n", 1, 1, "\n", "\n", "\nb\n", ""},
		{"CRLF", "a\r\nb\r\n", 1, 1, "x\ny", "\r\n", "x\r\ny\r\nb\r\n", ""},
		{"start too low", "a\n", 0, 1, "x", "\n", "", "lines 1 to 1"},
		{"start too high", "a\n", 3, 3, "x", "\n", "", "lines 1 to 1"},
		{"end too high", "a\nb\n", 1, 3, "x", "\n", "", "between 0 and 2"},
		{"end too low", "a\nb\n", 2, 0, "x", "\n", "", "end_line is 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Lines(tt.text, tt.first, tt.last, tt.content, tt.eol)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Text != tt.want {
				t.Errorf("%q, %v; want %q", got.Text, err, tt.want)
			}
		})
	}
}

func TestAppend(t *testing.T) {
	tests := []struct {
		name, text, content, eol string
		newline                  bool
		want                     string
	}{
		{"closed", "a\n", "b", "\n", true, "a\nb\n"},
		{"open", "a", "b\n", "\n", true, "a\nb\n"},
		{"raw", "a", "b", "\n", false, "ab"},
		{"new file", "", "b", "\n", true, "b\n"},
		{"CRLF", "a\r\n", "b\nc", "\r\n", true, "a\r\nb\r\nc\r\n"},
		{"nothing", "a\n", "", "\n", true, "a\n"},
	}
	for _, tt := range tests {
		if got := Append(tt.text, tt.content, tt.eol, tt.newline); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWhole(t *testing.T) {
	tests := []struct{ name, before, content, eol, want string }{
		{"new", "", "a\nb", "\n", "a\nb"},
		{"LF", "a\n", "b\n", "\n", "b\n"},
		{"CRLF", "a\r\nb\r\n", "a\nx\ny\n", "\r\n", "a\r\nx\r\ny\r\n"},
		{"CRLF sent to LF", "a\nb\n", "a\r\nc\r\n", "\n", "a\nc\n"},
		{"mixed ends stay where lines stay", "a\nb\r\nc\nd\r\n", "a\nb\nX\nd\n", "\n", "a\nb\r\nX\nd\r\n"},
		{"final newline is as sent", "a\r\nb\r\n", "a\nb", "\r\n", "a\r\nb"},
		{"emptied", "a\r\n", "", "\r\n", ""},
		{"unchanged", "a\r\nb\n", "a\nb\n", "\n", "a\r\nb\n"},
	}
	for _, tt := range tests {
		if got := Whole(tt.before, tt.content, tt.eol); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRegex(t *testing.T) {
	tests := []struct {
		name, text string
		p          Pattern
		want, err  string
		places     int
	}{
		{"plain", "a1 b2\n", Pattern{Expr: `\d`, Replacement: "#"}, "a# b#\n", "", 2},
		{"count", "a a a", Pattern{Expr: "a", Replacement: "b", Count: 2}, "b b a", "", 2},
		{"groups", "k=v", Pattern{Expr: `(?P<k>\w)=(\w)`, Replacement: "${2}1=$k"}, "v1=k", "", 1},
		{"dollar", "a", Pattern{Expr: "a", Replacement: "$$1"}, "$1", "", 1},
		{"trailing dollar", "a", Pattern{Expr: "a", Replacement: "b$"}, "b$", "", 1},
		{"ignore case, all of an alternation", "A b", Pattern{Expr: "a|B", Replacement: "x", IgnoreCase: true}, "x x", "", 2},
		{"multiline", "a\nb\n", Pattern{Expr: "^", Replacement: "> ", Multiline: true}, "> a\n> b\n> ", "", 3},
		{"CRLF ends are \\n", "a\r\nb\r\n", Pattern{Expr: "(?m)$", Replacement: ";", Count: 2, EOL: "\r\n"}, "a;\r\nb;\r\n", "", 2},
		{"CRLF across lines", "a\r\nb\r\nc\r\n", Pattern{Expr: `a\nb\n`, Replacement: "x\ny\n", EOL: "\r\n"}, "x\r\ny\r\nc\r\n", "", 1},
		{"nothing", "a", Pattern{Expr: "b"}, "", "matches nothing", 0},
		{"not RE2", "a", Pattern{Expr: "(?=a)"}, "", "not RE2", 0},
		{"no such group", "a", Pattern{Expr: "(a)", Replacement: "$1x"}, "", `group "1x"`, 0},
		{"no such number", "a", Pattern{Expr: "(a)", Replacement: "$2"}, "", `group "2"`, 0},
		{"a letter of another script follows", "caf", Pattern{Expr: "(caf)", Replacement: "$1é"}, "", `group "1é", which`, 0},
		{"braces before it", "caf", Pattern{Expr: "(caf)", Replacement: "${1}é"}, "café", "", 1},
		{"a leading zero", "ab", Pattern{Expr: "(a)(b)", Replacement: "$02"}, "", `group "02"`, 0},
		{"a name with a leading zero", "ab", Pattern{Expr: "(a)(?P<01>b)", Replacement: "$01$0"}, "bab", "", 1},
		{"no such name", "a", Pattern{Expr: "(a)", Replacement: "${n}"}, "", `group "n"`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Regex(tt.text, tt.p)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Text != tt.want || got.Places != tt.places {
				t.Errorf("%q, %d places, %v; want %q, %d", got.Text, got.Places, err, tt.want, tt.places)
			}
		})
	}
}

// Replacing in a file with CRLF gives the same as in a file with LF.
func TestRegexIsBlindToLineEndings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lf := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "\n", " "})).Draw(t, "text"), "")
		expr := rapid.SampledFrom([]string{"a", `a\n`, `\n`, `b*`, `(?m)^`, `(?m)$`, `\s+`, `.`}).Draw(t, "expr")
		crlf := strings.ReplaceAll(lf, "\n", "\r\n")
		want, errLF := Regex(lf, Pattern{Expr: expr, Replacement: "[\n]", EOL: "\n"})
		got, errCRLF := Regex(crlf, Pattern{Expr: expr, Replacement: "[\n]", EOL: "\r\n"})
		if (errLF == nil) != (errCRLF == nil) {
			t.Fatalf("%v and %v", errLF, errCRLF)
		}
		if strings.ReplaceAll(want.Text, "\n", "\r\n") != got.Text {
			t.Fatalf("%q and %q", want.Text, got.Text)
		}
	})
}

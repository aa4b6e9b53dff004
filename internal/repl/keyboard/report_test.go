package keyboard

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

// reports are answers of terminals to questions, ours and those of an earlier program.
var reports = []string{
	"\x1b]11;rgb:1e1e/1e1e/1e1e\a", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]10;rgba:ff/ff/ff/ff\a", "\x1b]4;7;rgb:aaaa/bbbb/cccc\a",
	"\x1b[?2026;2$y", "\x1b[?62;4;22c", "\x1b[>41;354;0c", "\x1b[?5u", "\x1bP1+r524742=38\x1b\\", "\x1bP>|XTerm(390)\x1b\\", "\x1bP1$r0m\x1b\\",
}

// However far apart its parts are, a report of the terminal reaches Bubble Tea whole, so that nothing of
// it is a key: a BEL would open $EDITOR.
func TestReportsAreWhole(t *testing.T) {
	for _, report := range reports {
		for i := range len(report) - 1 {
			for j := i + 1; j < len(report); j++ {
				if i < 3 || j < 3 {
					continue // what could be a key: see below
				}
				s := splitter{}
				var out [][]byte
				for n, part := range []string{"a" + report[:i], report[i:j], report[j:] + "b"} {
					out = append(out, s.next(nil, []byte(part), time.Unix(int64(n), 0)))
				}
				if got := string(bytes.Join(out, nil)); got != "a"+report+"b" {
					t.Errorf("%q at %d and %d: %q", report, i, j, got)
				}
				for _, part := range out {
					if strings.Contains(string(part), "\x1b") != strings.Contains(string(part), report) {
						t.Errorf("%q at %d and %d: split into %q", report, i, j, out)
					}
				}
			}
		}
	}
}

// keysOf runs a program that types each piece after the keys of the one before have come.
func keysOf(t *testing.T, pieces []string, wait map[int]string) []string {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	k := New(in, func() {})
	m := &seen{told: make(chan string, 1000)}
	prog := tea.NewProgram(m, tea.WithInput(k), tea.WithFilter(k.Filter), tea.WithOutput(&bytes.Buffer{}), tea.WithoutRenderer(), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() { _, err := prog.Run(); ended <- err }()
	var got []string
	for i, p := range append(pieces, "\x11") {
		if _, err := out.WriteString(p); err != nil {
			t.Fatal(err)
		}
		for want := wait[i]; want != ""; want = "" {
			key := <-m.told
			if got = append(got, key); key != want {
				t.Fatalf("%q after %q", key, p)
			}
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	close(m.told)
	for key := range m.told {
		got = append(got, key)
	}
	return got
}

// If the start of a report, which could be a key, comes long before the rest, the rest is still no text.
func TestReportAfterAKey(t *testing.T) {
	keys := map[string]string{"\x1b": "esc", "\x1b[": "alt+[", "\x1b]": "alt+]", "\x1bP": "alt+shift+p"}
	for _, report := range reports {
		for n := 1; n <= 2; n++ {
			key := keys[report[:n]]
			if d := cmp.Diff([]string{key, "b"}, keysOf(t, []string{report[:n], report[n:], "b"}, map[int]string{0: key})); d != "" {
				t.Errorf("%q: %s", report, d)
			}
		}
	}
}

// A report whose end is lost does not swallow the next keys, and keys that look like the beginning of
// one are keys.
func TestBrokenReports(t *testing.T) {
	for in, want := range map[string][]string{
		"\x1b]11;rgb:1e1e/|hello": {"h", "e", "l", "l", "o"},
		"\x1b]11;rgb:1e1e/|\r":    {"enter"},
		"\x1b[A|\x1b[1;5D|\x1b[B": {"up", "ctrl+left", "down"},
		"\x1bb|x":                 {"alt+b", "x"},
		"\x1b[27u|x":              {"esc", "x"},
	} {
		pieces := strings.Split(in, "|")
		if d := cmp.Diff(want, keysOf(t, pieces, nil)); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
}

// A paste without brackets is a paste, not lines to send; a line alone, and keys that waited for a slow
// program, are typed.
func TestPastesWithoutBrackets(t *testing.T) {
	long := strings.Repeat("a line of some text\r", 2000)
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"one\rtwo\rthree\r", []string{"<one\rtwo\rthree\r>"}},
		{"one\ntwo", []string{"<one\ntwo>"}},
		{"one\r\ntwo\r\n", []string{"<one\r\ntwo\r\n>"}},
		{"\r\tif x {\r", []string{"<\r\tif x {\r>"}},
		{"größer\r漢字\r", []string{"<größer\r漢字\r>"}},
		{long, []string{"<a line of … 40000 bytes>"}},
		{"one\rtwo\x1b[Ax", []string{"<one\rtwo>", "up", "x"}},
		{"\x1b[?2026;2$y\x1b]11;rgb:0000/0000/0000\x1b\\one\rtwo\r", []string{"<one\rtwo\r>"}},
		{"\x1b[A\x1bOB\x1bb\x03one\rtwo", []string{"up", "down", "alt+b", "ctrl+c", "<one\rtwo>"}},
		{"\x1b[A" + pasted("one\rtwo\rthree") + "x", []string{"up", "<one\rtwo\rthree>", "x"}},
		{"one\r", []string{"o", "n", "e", "enter"}},
		{"y\rn", []string{"y", "enter", "n"}},
		{"one\r\x1b[A", []string{"o", "n", "e", "enter", "up"}},
	} {
		if runtime.GOOS == "windows" && tt.in == long {
			continue // it is longer than one read of the console, and the rest is not waited for, see readable
		}
		if d := cmp.Diff(tt.want, typed(t, tt.in)); d != "" {
			t.Errorf("%.20q: %s", tt.in, d)
		}
	}
}

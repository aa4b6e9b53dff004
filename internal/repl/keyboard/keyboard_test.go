package keyboard

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// seen records the messages of a program, one per line.
type seen struct {
	told chan string
}

func (s *seen) Init() tea.Cmd  { return nil }
func (s *seen) View() tea.View { return tea.View{} }

func (s *seen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+q" {
			return s, tea.Quit
		}
		s.told <- msg.String()
	case tea.PasteMsg:
		if len(msg.Content) > 100 {
			msg.Content = fmt.Sprintf("%.10s… %d bytes", msg.Content, len(msg.Content))
		}
		s.told <- "<" + msg.Content + ">"
	case TooLarge:
		s.told <- "too large"
	}
	return s, nil
}

// typed runs a program on a pipe, types the pieces and returns its messages.
func typed(t *testing.T, pieces ...string) []string {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	k := New(in, func() {})
	m := &seen{told: make(chan string, 1000)}
	prog := tea.NewProgram(m, tea.WithInput(k), tea.WithFilter(k.Filter), tea.WithOutput(&bytes.Buffer{}),
		tea.WithoutRenderer(), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() { _, err := prog.Run(); ended <- err }()
	for _, p := range append(pieces, "\x11") {
		if _, err := out.WriteString(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	close(m.told)
	var got []string
	for line := range m.told {
		got = append(got, line)
	}
	return got
}

func pasted(text string) string { return begin + text + end }

func TestPastesAreInOrderWithKeys(t *testing.T) {
	big := strings.Repeat("0123456789\n", 1<<20)
	for _, tt := range []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"between keys", []string{"a" + pasted("one\rtwo") + "b\x1b[A" + pasted("1") + "\r"}, []string{"a", "<one\rtwo>", "b", "up", "<1>", "enter"}},
		{"nothing", []string{pasted("") + "a" + pasted("")}, []string{"<>", "a", "<>"}},
		{"what looks like keys", []string{pasted("\x1b[A\x1b[I\x03\x1b[200~\x1bO")}, []string{"<\x1b[A\x1b[I\x03\x1b[200~\x1bO>"}},
		{"broken characters", []string{pasted("a\xff漢\xe6")}, []string{"<a漢>"}},
		{"large", []string{"x", begin, big, end, "y"}, []string{"x", "<0123456789… 11534336 bytes>", "y"}},
		{"too large", []string{"x", begin, strings.Repeat(big, 6), end, "y", pasted("z")}, []string{"x", "too large", "y", "<z>"}},
		{"the end alone", []string{"a" + end + "b"}, []string{"a", "<>", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, typed(t, tt.pieces...)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Many empty pastes grow most; none of them may wait for the next key.
func TestManySmallPastes(t *testing.T) {
	if got := typed(t, strings.Repeat(pasted(""), 900)); len(got) != 900 {
		t.Errorf("%d of 900 pastes", len(got))
	}
}

// However the input is split, it yields the same keys and pastes.
func TestAnyCut(t *testing.T) {
	key := rapid.SampledFrom([]string{"a", "\x1b", "\x1b[A", "\x1b[20~", "\x1b[2", "\x1b[200", "é", "\r", "[200~", end})
	text := rapid.SampledFrom([]string{"a", "\x1b", "\x1b[201", "\x1b[20\x1b[2", begin, "\x03", "漢", "\x1b[201\x1b", "\n"})
	rapid.Check(t, func(t *rapid.T) {
		var typed, keys strings.Builder
		var pastes []string
		for range rapid.IntRange(0, 5).Draw(t, "pastes") {
			some := strings.Join(rapid.SliceOfN(key, 0, 4).Draw(t, "keys"), "")
			paste := strings.Join(rapid.SliceOfN(text, 0, 6).Draw(t, "text"), "")
			if strings.Contains(some+begin, begin[1:]+begin[:1]) || strings.Index(some+begin, begin) != len(some) ||
				strings.Index(paste+end, end) != len(paste) {
				continue // would form a marker of its own
			}
			typed.WriteString(some + pasted(paste))
			keys.WriteString(some + begin + begin + "#" + end)
			pastes = append(pastes, paste)
		}
		var got []string
		s := splitter{hold: func(p paste) string {
			got = append(got, p.text)
			return "#"
		}}
		var out []byte
		for rest := typed.String(); rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			out = s.next(out, []byte(rest[:n]), time.Time{})
			rest = rest[n:]
		}
		if d := cmp.Diff(pastes, got); d != "" {
			t.Fatalf("%q: %s", typed.String(), d)
		}
		if d := cmp.Diff(keys.String(), string(out)); d != "" {
			t.Fatalf("%q: %s", typed.String(), d)
		}
	})
}

// If the end of a paste is lost, Ctrl+C ends it; inside a paste it is text.
func TestCtrlCEndsAPasteWithoutEnd(t *testing.T) {
	for _, key := range []string{"\x03", "\x1b[99;5u"} {
		var got []paste
		s := splitter{hold: func(p paste) string {
			got = append(got, p)
			return "#"
		}}
		start := time.Unix(0, 0)
		out := s.next(nil, []byte(begin+"text"), start)
		out = s.next(out, []byte(key), start.Add(silence/2))
		out = s.next(out, []byte(" more"), start.Add(silence))
		if len(got) > 0 || string(out) != begin {
			t.Fatalf("%q, held %v", out, got)
		}
		out = s.next(out, []byte(key), start.Add(3*silence))
		out = s.next(out, []byte("x"), start.Add(3*silence))
		if d := cmp.Diff(begin+begin+"#"+end+"x", string(out)); d != "" {
			t.Error(d)
		}
		if text := "text" + key + " more"; len(got) != 1 || got[0].text != text || got[0].size != len(text) {
			t.Errorf("held %+v", got)
		}
	}
}

// Who types behind a paste whose end is lost is told once that it is added to the paste; a paste in
// pieces without a silence tells nothing.
func TestTextBehindAPasteWithoutEndIsTold(t *testing.T) {
	k := New(nil, nil)
	s := splitter{hold: k.hold}
	start := time.Unix(0, 0)
	out := s.next(nil, []byte(begin+"text"), start)
	out = s.next(out, []byte(" in pieces"), start.Add(silence/2))
	if string(out) != begin {
		t.Fatalf("%q", out)
	}
	out = s.next(out, []byte("t"), start.Add(2*silence))
	out = s.next(out, []byte("yped"), start.Add(4*silence))
	if want := begin + begin + "1" + end; string(out) != want {
		t.Fatalf("%q, want %q", out, want)
	}
	if msg := k.Filter(nil, tea.PasteMsg{Content: "1"}); msg != (Unfinished{}) {
		t.Errorf("%#v", msg)
	}
	s.next(out, []byte("\x03"), start.Add(6*silence))
	if msg := k.Filter(nil, tea.PasteMsg{Content: "2"}); msg != (tea.PasteMsg{Content: "text in piecestyped"}) {
		t.Errorf("%#v", msg)
	}
}

// Text that looks like the number of a paste is still text.
func TestNumberIsNotAPaste(t *testing.T) {
	if d := cmp.Diff([]string{"<2>", "<1>", "<one>"}, typed(t, pasted("2")+pasted("1")+pasted("one"))); d != "" {
		t.Error(d)
	}
}

func TestEndIsPrinted(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	k := New(in, func() { gone++ })
	if _, err := out.WriteString("a"); err != nil {
		t.Fatal(err)
	}
	out.Close()
	p := make([]byte, 100)
	if n, err := k.Read(p); n != 1 || err != nil || gone != 0 {
		t.Errorf("%d, %v, gone %d", n, err, gone)
	}
	if n, err := k.Read(p); n != 0 || err == nil || gone != 1 {
		t.Errorf("%d, %v, gone %d", n, err, gone)
	}
}

package session

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

func lineOf(t testing.TB, text string) []byte {
	t.Helper()
	m := llm.TextMessage(llm.User, text)
	line, err := appendRecord(nil, record{Kind: kindMessage, Message: &m})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func texts(t testing.TB, data []byte) (out []string, s scan) {
	t.Helper()
	s = scanRecords(data, func(body []byte) {
		r, err := decodeRecord(body)
		if err != nil || r.Message == nil {
			t.Fatalf("%s: %v", body, err)
		}
		out = append(out, r.Message.Text())
	})
	return out, s
}

func TestRecordIsALineOfJSON(t *testing.T) {
	got := string(lineOf(t, "hé\n\"x\""))
	want := `{"sum":"b9f0327e","len":90,"rec":{"kind":"message","message":{"role":"user","parts":[{"kind":"text","text":"hé\n\"x\""}]}}}` + "\n"
	if got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzScan: whatever lies between, intact records are found, in order, and
// nothing else is; the parts that the scan reports add up.
func FuzzScan(f *testing.F) {
	f.Add("one", []byte("junk\n"), "two", []byte(`{"sum":"`))
	f.Add(`{"sum":"00000000","len":2,"rec":{}}`, []byte(`{"sum":"00000000","len":-1,"rec":`), "", []byte("\n"))
	f.Add("\xff", []byte{0}, "\u2028", []byte(`{"sum":"00000000","len":9999999999999999999,"rec":{}`))
	f.Fuzz(func(t *testing.T, a string, between []byte, b string, after []byte) {
		if n, _ := texts(t, append(append([]byte{}, between...), after...)); len(n) > 0 {
			return // the junk holds a record of its own
		}
		a, b = history.Valid(a), history.Valid(b) // as the transcript takes them
		one, two := lineOf(t, a), lineOf(t, b)
		data := bytes.Join([][]byte{one, between, two, after}, nil)
		got, s := texts(t, data)
		if diff := cmp.Diff([]string{a, b}, got); diff != "" {
			t.Fatalf("records:\n%s", diff)
		}
		if want := int64(len(one) + len(between) + len(two)); s.good != want && s.good+1 != want || s.good+s.torn != int64(len(data)) {
			t.Fatalf("scan %+v of %d bytes", s, len(data))
		}
		if (s.bad > 0) != (len(between) > 0) {
			t.Fatalf("%d damaged places around %q", s.bad, between)
		}
	})
}

// rounds is a session of n rounds: a read or an edit each, about 2 KiB of result.
func rounds(n int) []llm.Message {
	msgs := []llm.Message{llm.TextMessage(llm.User, "go")}
	body := strings.Repeat("func f(a, b int) (int, error) {\n\treturn a + \"x\" <b> & c\n}\n", 34)
	for i := range n {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, llm.Message{
			Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.TextPart, Text: "Next."}},
			Calls: []llm.ToolCall{call(id, "edit_file", `{"path":"a.go","old_string":"x","new_string":"y"}`)},
		}, history.Result(id, body))
	}
	return append(msgs, llm.TextMessage(llm.Assistant, "Done."))
}

func BenchmarkLoad500Rounds(b *testing.B) {
	a := NewArchive(b.TempDir())
	s := a.Create("/p", "m")
	if err := s.Append(history.Say(rounds(500)...)...); err != nil {
		b.Fatal(err)
	}
	s.Close()
	b.ReportAllocs()
	for b.Loop() {
		s, err := a.Open(s.ID())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := New(Options{Model: &model{}, Tools: &toolset{}, Store: s}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(s.Info().Size)
		s.Close()
	}
}

// BenchmarkAppend is what a round costs in a session of 10 and of 1,000 rounds.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := NewArchive(b.TempDir()).Create("/p", "m")
			defer s.Close()
			msgs := history.Say(rounds(n)...)
			if err := s.Append(msgs...); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Append(msgs[1:3]...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

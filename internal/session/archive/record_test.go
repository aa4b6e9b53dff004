package archive

import (
	"fmt"
	"strings"
	"testing"

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

func TestRecordIsALineOfJSON(t *testing.T) {
	got := string(lineOf(t, "hé\n\"x\""))
	want := `{"sum":"b9f0327e","len":90,"rec":{"kind":"message","message":{"role":"user","parts":[{"kind":"text","text":"hé\n\"x\""}]}}}` + "\n"
	if got != want {
		t.Errorf("got %s", got)
	}
}

// rounds returns a session of n rounds: a read or an edit each, about 2 KiB of result.
func rounds(n int) []llm.Message {
	msgs := []llm.Message{llm.TextMessage(llm.User, "go")}
	body := strings.Repeat("func f(a, b int) (int, error) {\n\treturn a + \"x\" <b> & c\n}\n", 34)
	for i := range n {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, llm.Message{
			Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.TextPart, Text: "Next."}},
			Calls: []llm.ToolCall{{ID: id, Name: "edit_file", Args: `{"path":"a.go","old_string":"x","new_string":"y"}`}},
		}, history.Result(id, body))
	}
	return append(msgs, llm.TextMessage(llm.Assistant, "Done."))
}

func BenchmarkLoad500Rounds(b *testing.B) {
	a := New(b.TempDir())
	s := a.Create("/p", "m")
	if err := s.Append(history.Entries(rounds(500)...)...); err != nil {
		b.Fatal(err)
	}
	s.Close()
	b.ReportAllocs()
	for b.Loop() {
		s, err := a.Open(s.ID())
		if err != nil {
			b.Fatal(err)
		}
		if chat, _, _ := history.Rebuild(s.Conversation().Entries); len(chat.Sent()) != 1002 {
			b.Fatal(len(chat.Sent()))
		}
		b.SetBytes(s.Info().Size)
		s.Close()
	}
}

// BenchmarkAppend appends a round to a session of 10 and of 1,000 rounds.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := New(b.TempDir()).Create("/p", "m")
			defer s.Close()
			msgs := history.Entries(rounds(n)...)
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

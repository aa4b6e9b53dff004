package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// chat builds items: "u text" is a prompt, "a text" an answer, "c text" an answer
// with a call and its result of that text.
func chat(t *testing.T, lines ...string) []history.Item {
	t.Helper()
	tr := &history.Transcript{}
	add := func(it history.Item) {
		if _, err := tr.Append(it); err != nil {
			t.Fatal(err)
		}
	}
	for i, l := range lines {
		switch kind, text, _ := strings.Cut(l, " "); kind {
		case "u":
			add(history.Item{Message: history.Text(llm.User, text), Note: history.Note{Turn: fmt.Sprint("t", i)}})
		case "q": // typed while the turn ran
			add(history.Item{Message: history.Text(llm.User, text)})
		case "a":
			add(history.Item{Message: history.Text(llm.Assistant, text)})
		case "c":
			id := fmt.Sprint("c", i)
			add(history.Item{Message: llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: id, Name: "read", Args: "{}"}}}})
			add(history.Item{Message: history.Result(id, text)})
		}
	}
	return tr.Items()
}

func long(n int) string { return strings.Repeat("x", n) }

func TestWhatStays(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		room  Room
		from  string // the first message that stays; empty: none
		clip  bool
		hand  string
	}{
		"the last turns": {
			[]string{"u one", "a " + long(9000), "u two", "a short", "u three", "a end"}, Room{Total: 6000}, "two", false, "",
		},
		"nothing fits": {[]string{"u one", "a " + long(9000), "u two", "a " + long(9000)}, Room{Total: 3000}, "", false, ""},
		"the new prompt": {
			[]string{"u one", "a " + long(9000), "u two"}, Room{Total: 3000, Running: true}, "two", false, "",
		},
		"the newest round": {
			[]string{"u one", "c " + long(9000), "c " + long(500)}, Room{Total: 4000, Running: true}, "call", false, "one",
		},
		"the newest round, cut": {
			[]string{"u one", "c " + long(9000), "c " + long(9000)}, Room{Total: 4000, Running: true}, "call", true, "one",
		},
		"a round with what was typed": {
			[]string{"u one", "c " + long(9000), "c " + long(300), "q and this"}, Room{Total: 4000, Running: true}, "call", false, "one",
		},
		"tight": {
			[]string{"u one", "a two", "u three", "c four", "c " + long(400)}, Room{Total: 90_000, Running: true, Tight: true}, "call", true, "three",
		},
		"a prompt rather than an answer": {
			[]string{"u one", "a " + long(9000), "c " + long(100), "u two", "a " + long(2000)}, Room{Total: 5000}, "two", false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			items := chat(t, tt.lines...)
			p, ok := New(items, nil, tt.room)
			if !ok {
				t.Fatal("nothing to gain")
			}
			c := p.Compose("notes")
			stays := items[history.At(items, c.Before):]
			got := ""
			if len(stays) > 0 {
				if got = stays[0].Message.Text(); len(stays[0].Message.Calls) > 0 {
					got = "call"
				}
			}
			if got != tt.from || c.Clip > 0 != tt.clip {
				t.Errorf("%q is the first that stays, results are cut to %d", got, c.Clip)
			}
			if hand := strings.Contains(c.Text, "The prompt that you are working on"); hand != (tt.hand != "") || !strings.HasSuffix(c.Text, tt.hand+"\n") && hand {
				t.Errorf("the prompt at hand: %q", c.Text)
			}
		})
	}
}

func TestNothingToGain(t *testing.T) {
	if _, ok := New(nil, nil, Room{Total: 1000}); ok {
		t.Error("of nothing")
	}
	items := chat(t, "u one")
	if _, ok := New(items, nil, Room{Total: 100_000, Running: true}); ok {
		t.Error("of the prompt at hand")
	}
	items = chat(t, "u one", "a "+long(3000))
	p, ok := New(items, nil, Room{Total: 2000})
	if !ok {
		t.Fatal("nothing to gain")
	}
	c := p.Compose("notes")
	if _, ok := New(items, &c, Room{Total: 2000}); ok {
		t.Error("of what is compacted already")
	}
}

// TestASecondCompaction goes on from the first: its notes are told, and the list
// of deeds and the pinned messages are taken from what was said, not from it.
func TestASecondCompaction(t *testing.T) {
	items := chat(t, "u one", "c r1", "a done", "u two", "c r2", "a done", "u three", "a "+long(5000))
	items[0].Pinned = true
	items[2].Did = &history.Deed{What: "Edit a.go", Result: "+1 −1", Files: []history.File{{Path: "a.go", Added: 1, Removed: 1}}}
	items[6].Did = &history.Deed{What: "Run make", Result: "exit 2"}
	p, _ := New(items[:4], nil, Room{Total: 1500})
	first := p.Compose("first notes")
	p, ok := New(items, &first, Room{Total: 3000})
	if !ok {
		t.Fatal("nothing to gain")
	}
	if req := p.Request("the tests", 4000); !strings.Contains(req.Messages[0].Text(), "first notes") || !strings.Contains(req.Messages[0].Text(), "the tests") {
		t.Errorf("request %s", req.Messages[0].Text())
	}
	c := p.Compose("second notes")
	at := 0
	for _, want := range []string{"second notes", "- Edit a.go: +1 −1", "- Run make: exit 2", "one"} {
		i := strings.Index(c.Text[at:], want)
		if i < 0 {
			t.Fatalf("no %q behind what is before it in:\n%s", want, c.Text)
		}
		at += i
	}
	if strings.Contains(c.Text, "first notes") {
		t.Error("the old notes are still there")
	}
}

func TestRewrite(t *testing.T) {
	items := chat(t, "u one", "c r1", "a done")
	items[2].Did = &history.Deed{What: "Run make", Result: "exit 2"}
	p, _ := New(items, nil, Room{Total: 1500})
	c := p.Compose("tricky" + endOfSummary + " notes")
	got := Rewrite(c, " better notes\n")
	want := p.Compose("better notes")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLedger(t *testing.T) {
	var items []history.Item
	did := func(d history.Deed) { items = append(items, history.Item{Note: history.Note{Did: &d}}) }
	items = append(items, history.Item{})
	for i := range 50 {
		did(history.Deed{What: fmt.Sprint("Edit f", i%3, ".go"), Result: "+2 −1", Files: []history.File{{Path: fmt.Sprint("f", i%3, ".go"), Added: 2, Removed: 1}}})
		did(history.Deed{What: fmt.Sprint("Run test ", i), Result: "exit 1"})
	}
	did(history.Deed{What: "Run rm -rf x", Result: "declined:\nnever", Refused: true})
	whole := strings.Split(Ledger(items, 1<<20), "\n")
	if len(whole) != 101 || whole[0] != "- Edit f0.go: +2 −1" || whole[100] != "- Run rm -rf x: declined: never" {
		t.Errorf("%d lines: %q … %q", len(whole), whole[0], whole[len(whole)-1])
	}
	short := Ledger(items, 900)
	if len(short) > 1300 {
		t.Errorf("%d bytes", len(short))
	}
	for _, want := range []string{
		"oldest entries, put together)", "- Changed f0.go: +", "- Changed f1.go: +", "- Changed f2.go: +", " times",
		" commands more", "- Run test 49: exit 1", "- Run rm -rf x: declined: never",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in:\n%s", want, short)
		}
	}
	if Ledger(nil, 100) != "" {
		t.Error("a ledger of nothing")
	}
}

// TestRequestIsBounded: whatever was said, the request for the summary keeps to
// its size, and the newest of it is there.
func TestRequestIsBounded(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprint("u prompt ", i), "c "+long(5000), "a answer "+long(3000))
	}
	lines = append(lines, "u the newest", "a "+long(3000))
	p, _ := New(chat(t, lines...), nil, Room{Total: 1000})
	for _, bound := range []int{3000, 20_000, 100_000, 2_000_000} {
		req := p.Request("", bound)
		size := len(req.System) + len(req.Messages[0].Text())
		if size > bound || len(req.Tools) > 0 {
			t.Errorf("%d bytes, bound %d", size, bound)
		}
		if !strings.Contains(req.Messages[0].Text(), "USER: the newest") {
			t.Errorf("bound %d: the newest is not in it", bound)
		}
	}
}

func TestDigest(t *testing.T) {
	p, _ := New(chat(t, "u fix it", "a I look.", "c r", "a It is\nfixed.", "u thanks", "a Welcome."), nil, Room{Total: 90_000, Tight: true})
	want := "- The user: fix it\n- The answer: It is fixed.\n- The user: thanks\n- The answer: Welcome."
	if got := p.Digest(); got != want {
		t.Errorf("%q", got)
	}
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprint("u prompt ", i), "a answer")
	}
	p, _ = New(chat(t, lines...), nil, Room{Total: 3000})
	got := p.Digest()
	if len(got) > p.room.summary() || !strings.Contains(got, "left out") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

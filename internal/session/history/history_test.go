package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm"
)

func ask(s string) llm.Message { return Text(llm.User, s) }

func answer(s string, ids ...string) llm.Message {
	m := llm.Message{Role: llm.Assistant}
	if s != "" {
		m = Text(llm.Assistant, s)
	}
	for _, id := range ids {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "read", Args: "{}"})
	}
	return m
}

// add appends messages and returns the entries to store.
func add(t *testing.T, chat *Transcript, messages ...llm.Message) []Entry {
	t.Helper()
	var out []Entry
	for _, m := range messages {
		e, err := chat.Append(Item{Message: m})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func TestWhatCannotFollowIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ before, then []llm.Message }{
		"an answer first":      {nil, []llm.Message{answer("hello")}},
		"an empty message":     {nil, []llm.Message{ask("")}},
		"a prompt amid calls":  {[]llm.Message{ask("go"), answer("", "a")}, []llm.Message{ask("stop")}},
		"a result of nothing":  {[]llm.Message{ask("go")}, []llm.Message{Result("a", "x")}},
		"results out of order": {[]llm.Message{ask("go"), answer("", "a", "b")}, []llm.Message{Result("b", "x")}},
		"an id twice":          {[]llm.Message{ask("go"), answer("", "a"), Result("a", "x")}, []llm.Message{answer("", "a")}},
		"a system message":     {[]llm.Message{ask("go")}, []llm.Message{Text(llm.System, "x")}},
	} {
		chat := &Transcript{}
		add(t, chat, tt.before...)
		if _, err := chat.Append(Item{Message: tt.then[0]}); err == nil {
			t.Errorf("%s: taken", name)
		}
		if got := len(chat.Sent()); got != len(tt.before) {
			t.Errorf("%s: %d messages are sent, want %d", name, got, len(tt.before))
		}
	}
}

func TestRewindWaitsForResults(t *testing.T) {
	chat := &Transcript{}
	add(t, chat, ask("go"), answer("", "a"))
	if _, err := chat.Rewind(1); err == nil {
		t.Error("taken back while a call runs")
	}
	chat.Close("late")
	if _, err := chat.Rewind(1); err != nil || len(chat.Items()) != 0 || len(chat.Sent()) != 0 {
		t.Error(err, chat.Items())
	}
}

// TestRewindKeepsWhatWasSent checks that a request in flight keeps its messages.
func TestRewindKeepsWhatWasSent(t *testing.T) {
	chat := &Transcript{}
	add(t, chat, ask("one"), answer("a"), ask("two"), answer("b"))
	before := chat.Sent()
	if _, err := chat.Rewind(3); err != nil {
		t.Fatal(err)
	}
	add(t, chat, ask("other"), answer("c"))
	if before[2].Text() != "two" || before[3].Text() != "b" {
		t.Errorf("what was sent has become %+v", before)
	}
}

// TestRebuildGivesTheSame replays the stored entries of random conversations.
func TestRebuildGivesTheSame(t *testing.T) {
	seed := stress.Seed(t)
	rewinds := 0
	for i := range 500 {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		chat, stored := &Transcript{}, []Entry(nil)
		for n := range 1 + rnd.IntN(12) {
			stored = append(stored, add(t, chat, ask(fmt.Sprint("prompt ", n)))...)
			if rnd.IntN(2) == 0 {
				ids := []string{fmt.Sprint("a", n), fmt.Sprint("b", n)}
				stored = append(stored, add(t, chat, answer("", ids...), Result(ids[0], "x"))...)
				stored = append(stored, chat.Close("not run")...)
			}
			stored = append(stored, add(t, chat, answer("done"))...)
			if prompts := Prompts(chat.Items()); rnd.IntN(5) == 0 {
				rewinds++
				e, err := chat.Rewind(prompts[rnd.IntN(len(prompts))].N)
				if err != nil {
					t.Fatal(err)
				}
				stored = append(stored, e)
			}
		}
		again, added, notes := Rebuild(stored)
		if diff := cmp.Diff(chat.Items(), again.Items()); diff != "" || len(added)+len(notes) > 0 {
			t.Fatalf("case %d of seed %d: added %v, notes %q\n%s", i, seed, added, notes, diff)
		}
		if diff := cmp.Diff(chat.Sent(), again.Sent()); diff != "" {
			t.Fatalf("case %d of seed %d: sent\n%s", i, seed, diff)
		}
	}
	if rewinds == 0 {
		t.Error("nothing was ever taken back")
	}
}

// TestRewindInTheMidstOfResults covers a file with lost records: the calls without
// results are open again, and get one.
func TestRewindInTheMidstOfResults(t *testing.T) {
	chat, added, notes := Rebuild([]Entry{
		{Item: &Item{N: 1, Message: ask("go")}},
		{Item: &Item{N: 2, Message: answer("", "a", "b")}},
		{Item: &Item{N: 3, Message: Result("a", "x")}},
		{Item: &Item{N: 4, Message: Result("b", "y")}},
		{Rewind: &Rewind{Before: 4}},
	})
	if len(added) != 1 || added[0].Item.Message.CallID != "b" || added[0].Item.Deed == nil || len(notes) != 1 || len(chat.Items()) != 4 {
		t.Errorf("added %+v, notes %q, %d messages", added, notes, len(chat.Items()))
	}
}

func TestAdmissible(t *testing.T) {
	chat := &Transcript{}
	add(t, chat, ask("go"), answer("", "a"), Result("a", "x"))
	calls, dropped := chat.Admissible([]llm.ToolCall{
		{ID: "a", Name: "read", Args: "{}"}, {ID: "b", Name: "no tool", Args: "{"}, {ID: "b", Name: "read", Args: "{}"}, {Name: "read", Args: "{}"},
	})
	var got []string
	for _, c := range calls {
		got = append(got, c.ID+" "+c.Name+" "+c.Args+" "+c.Problem)
	}
	want := []string{"a_2 read {} ", "b no_tool {} no tool has that name", "call_2 read {} "}
	if diff := cmp.Diff(want, got); diff != "" || dropped != 1 {
		t.Errorf("dropped %d\n%s", dropped, diff)
	}
}

// TestACompactionAfterALostResult checks that the substitute for the lost result
// belongs to the compacted messages.
func TestACompactionAfterALostResult(t *testing.T) {
	chat, added, notes := Rebuild([]Entry{
		{Item: &Item{N: 1, Message: ask("go")}},
		{Item: &Item{N: 2, Message: answer("", "a")}}, // 3, its result, is lost
		{Compaction: &Compaction{Before: 4, Last: 3, Text: "notes"}},
		{Item: &Item{N: 4, Message: ask("and on")}},
		{Item: &Item{N: 5, Message: answer("fine")}},
	})
	var sent []string
	for _, m := range chat.Sent() {
		sent = append(sent, string(m.Role)+": "+m.Text())
	}
	did := &Deed{What: "Call read {}", Result: "the program ended before this returned: its effect is unknown", Failed: true}
	if diff := cmp.Diff(did, chat.Items()[2].Deed); diff != "" {
		t.Error(diff)
	}
	want := []string{"user: notes", "assistant: " + understood, "user: and on", "assistant: fine"}
	if diff := cmp.Diff(want, sent); diff != "" || len(added) != 0 || len(notes) != 1 {
		t.Errorf("added %v, notes %q\n%s", added, notes, diff)
	}
}

func TestWhatIsSentAfterACompaction(t *testing.T) {
	long := strings.Repeat("x", 5000)
	build := func(c Compaction) *Transcript {
		chat := &Transcript{}
		add(t, chat, ask("one"), answer("", "a"), Result("a", long), answer("two"), ask("three"), answer("", "b"), Result("b", long))
		chat.Compact(c)
		add(t, chat, answer("", "c"), Result("c", long))
		return chat
	}
	for name, tt := range map[string]struct {
		c    Compaction
		want []string // roles
		cut  int      // results that are cut
	}{
		"from a prompt on":  {Compaction{Before: 5, Last: 7, Text: "t"}, []string{"user", "assistant", "user", "assistant", "tool", "assistant", "tool"}, 0},
		"from an answer on": {Compaction{Before: 6, Last: 7, Text: "t", Clip: 600}, []string{"user", "assistant", "tool", "assistant", "tool"}, 1},
		"no text":           {Compaction{Before: 1, Last: 3, Clip: 600, FullFile: "/whole"}, []string{"user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant", "tool"}, 1},
		"nothing stays":     {Compaction{Before: 8, Last: 7, Text: "t", Clip: 600}, []string{"user", "assistant", "tool"}, 0},
	} {
		chat := build(tt.c)
		var roles []string
		cut := 0
		for _, m := range chat.Sent() {
			roles = append(roles, string(m.Role))
			if strings.Contains(m.Text(), "bytes left out to save room") {
				cut++
				if file := strings.Contains(m.Text(), `room; "Result 3" in /whole has all of it …]`); file != (name == "no text") {
					t.Errorf("%s: %.500q", name, m.Text()[350:])
				}
				if len(m.Text()) > 700 {
					t.Errorf("%s: cut to %d bytes", name, len(m.Text()))
				}
			}
		}
		if name == "nothing stays" { // the answer was there when nothing followed yet
			roles = append(roles[:1], roles[2:]...)
		}
		if diff := cmp.Diff(tt.want, roles); diff != "" || cut != tt.cut {
			t.Errorf("%s: %d cut\n%s", name, cut, diff)
		}
		if len(chat.Items()) != 9 {
			t.Errorf("%s: %d messages are left", name, len(chat.Items()))
		}
	}
}

// TestARewindTakesACompactionBack checks a rewind to before the compaction and one to
// after it.
func TestARewindTakesACompactionBack(t *testing.T) {
	chat := &Transcript{}
	add(t, chat, ask("one"), answer("a"), ask("two"), answer("b"))
	chat.Compact(Compaction{Before: 3, Last: 4, Text: "first"})
	add(t, chat, ask("three"), answer("c"))
	chat.Compact(Compaction{Before: 5, Last: 6, Text: "second"})
	for _, step := range []struct {
		to   int
		want string
	}{{5, "first"}, {3, ""}} {
		if _, err := chat.Rewind(step.to); err != nil {
			t.Fatal(err)
		}
		got := ""
		if c := chat.Compaction(); c != nil {
			got = c.Text
		}
		if got != step.want {
			t.Errorf("back to %d: %q is in force, want %q", step.to, got, step.want)
		}
	}
	if len(chat.Sent()) != 2 {
		t.Errorf("%+v", chat.Sent())
	}
}

// A compaction that cuts results leaves out their images, however short their text is.
func TestCompactionLeavesOutImages(t *testing.T) {
	m := Result("c", "a.png: image/png")
	m.Parts = append(m.Parts, llm.Part{Kind: llm.ImagePart, Mime: "image/png", Data: []byte{1}})
	it := Item{N: 3, Message: m}
	for want, c := range map[bool]*Compaction{true: {Last: 2, Clip: 600}, false: {Last: 3, Clip: 600}} {
		got := c.Message(it)
		if got.Shows() != want || c.Cuts(it) == want || !strings.HasPrefix(got.Text(), "a.png: image/png") || strings.Contains(got.Text(), "images are left out") == want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

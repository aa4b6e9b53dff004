package archive

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// chat makes random sessions.
type chat struct {
	*rand.Rand
	t  testing.TB
	s  *Store
	tr *history.Transcript
	id int
}

func (c *chat) store(e history.Entry, err error) {
	if err == nil {
		err = c.s.Append(e)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// text returns a text that JSON escapes, of up to 3,000 bytes.
func (c *chat) text() string {
	pieces := []string{"a", `"`, `\`, "\n", "]", "}", "é", `","`, `{"kind":"compaction"`, "\u2028", `"}],"call_id":"x"`, "\x01"}
	var b strings.Builder
	b.WriteString("x")
	for range c.IntN(600) {
		b.WriteString(pieces[c.IntN(len(pieces))])
	}
	return b.String()
}

// step adds a prompt with its answer and results, or a rewind, a pin, an act or a compaction.
func (c *chat) step() {
	items := c.tr.Items()
	prompts := history.Prompts(items)
	switch n := c.IntN(12); {
	case n == 0 && len(prompts) > 1:
		c.store(c.tr.Rewind(prompts[c.IntN(len(prompts))].N))
	case n == 1 && len(prompts) > 0:
		c.store(c.tr.Pin(prompts[c.IntN(len(prompts))].N, c.IntN(2) == 0))
	case n == 2 && len(items) > 0:
		c.store(c.tr.Act(history.Deed{What: c.text()}))
	case n <= 4 && len(items) > 0:
		k := history.Compaction{Before: items[c.IntN(len(items))].N, Text: c.text(), Summary: "s", Last: items[len(items)-1].N, Clip: c.IntN(2) * 900}
		if c.IntN(3) == 0 {
			k.Before = items[len(items)-1].N + 1
		}
		c.store(c.tr.Compact(k), nil)
	default:
		c.store(c.tr.Append(history.Item{Message: llm.TextMessage(llm.User, c.text())}))
		answer := llm.TextMessage(llm.Assistant, c.text())
		for range c.IntN(3) {
			c.id++
			answer.Calls = append(answer.Calls, llm.ToolCall{ID: fmt.Sprint("c", c.id), Name: "read_file", Args: `{"path":"]\"["}`})
		}
		c.store(c.tr.Append(history.Item{Message: answer}))
		for _, call := range answer.Calls {
			c.result(call.ID)
		}
	}
}

func (c *chat) result(id string) {
	it := history.Item{Message: history.Result(id, c.text())}
	if c.IntN(4) == 0 {
		it.Message.Parts = append(it.Message.Parts, llm.Part{Kind: llm.ImagePart, Mime: "image/png", Data: []byte(c.text())})
	}
	if c.IntN(4) == 0 {
		it.Task = history.NewTask([]llm.Message{llm.TextMessage(llm.User, c.text())}, nil, nil)
	}
	if c.IntN(3) == 0 {
		it.Deed = &history.Deed{What: "Edit", Words: c.text()}
	}
	c.store(c.tr.Append(it))
}

// TestStoredResultsAreTheSame: a session that is opened, which leaves old results in the file, is the
// one that a decoder of the whole file gives, also after a rewind to any prompt.
func TestStoredResultsAreTheSame(t *testing.T) {
	seed := stress.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	stored := 0
	for range stress.Size(60, 2000) {
		a := New(t.TempDir())
		c := &chat{Rand: rng, t: t, s: newStore(t, a), tr: &history.Transcript{}}
		for range 1 + rng.IntN(25) {
			c.step()
		}
		if err := c.s.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(c.s.path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 { // damage, which costs a record
			data[rng.IntN(len(data))] ^= 1
			if err := os.WriteFile(c.s.path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		stored += c.compare(data, seed)
	}
	if stored == 0 {
		t.Error("everything was loaded")
	}
}

// compare compares the two decoders, and returns the number of results that one left in the file.
func (c *chat) compare(data []byte, seed any) (stored int) {
	t := c.t
	whole, err := load(data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(c.s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want, addedWant, notesWant := history.Rebuild(whole.conversation.Entries)
	got, added, notes := history.Rebuild(s.Conversation().Entries)
	if d := cmp.Diff(notesWant, notes) + cmp.Diff(addedWant, added) + cmp.Diff(whole.conversation.Notes, s.Conversation().Notes); d != "" {
		t.Fatalf("seed %v: %s", seed, d)
	}
	for {
		if d := cmp.Diff(want.Sent(), got.Sent()); d != "" {
			t.Fatalf("seed %v: sent to the model (-whole +opened): %s", seed, d)
		}
		loaded := make([]history.Item, 0, len(got.Items()))
		for _, it := range got.Items() {
			if it.Stored != nil {
				stored++
				if it.N >= got.Compaction().Before {
					t.Fatalf("seed %v: message %d is sent and not loaded", seed, it.N)
				}
			}
			loaded = append(loaded, it.Whole())
		}
		if d := cmp.Diff(want.Items(), loaded); d != "" {
			t.Fatalf("seed %v: items (-whole +opened): %s", seed, d)
		}
		prompts := history.Prompts(got.Items())
		if len(prompts) == 0 {
			return stored
		}
		n := prompts[c.IntN(len(prompts))].N
		_, err1 := want.Rewind(n)
		_, err2 := got.Rewind(n)
		if fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("seed %v: rewind to %d: %v, want %v", seed, n, err2, err1)
		}
		if err1 != nil {
			return stored
		}
	}
}

// TestOldResultsAreNotDecoded: of the results before the last compaction, none is decoded.
func TestOldResultsAreNotDecoded(t *testing.T) {
	a := New(t.TempDir())
	c := &chat{Rand: rand.New(rand.NewPCG(1, 2)), t: t, s: newStore(t, a), tr: &history.Transcript{}}
	turn := func(n int) {
		id := fmt.Sprint("c", n)
		c.store(c.tr.Append(history.Item{Message: llm.TextMessage(llm.User, "go")}))
		c.store(c.tr.Append(history.Item{Message: llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: id, Name: "x", Args: "{}"}}}}))
		c.store(c.tr.Append(history.Item{Message: history.Result(id, strings.Repeat("long ", 10_000))}))
		c.store(c.tr.Append(history.Item{Message: llm.TextMessage(llm.Assistant, "Done.")}))
	}
	for n := range 100 {
		turn(n)
	}
	c.store(c.tr.Compact(history.Compaction{Before: c.tr.Items()[len(c.tr.Items())-1].N + 1, Text: "t", Summary: "t"}), nil)
	turn(100)
	if err := c.s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(c.s.path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loadFile(f, c.s.path)
	if err != nil || l.stored != 100 {
		t.Fatalf("%d results of 100 stay in the file, %v", l.stored, err)
	}
	tr, _, _ := history.Rebuild(l.conversation.Entries)
	size := 0
	for _, it := range tr.Items() {
		size += len(it.Message.Text())
	}
	if size > 60_000 {
		t.Errorf("%d bytes are loaded", size)
	}
	if err := errors.Join(f.Close(), os.Remove(c.s.path)); err != nil {
		t.Fatal(err)
	}
	_, gone := os.Stat(c.s.path)
	if got := tr.Items()[2].Whole().Message; got.CallID != "c0" || !strings.Contains(got.Text(), errors.Unwrap(gone).Error()) {
		t.Errorf("without the file: %+v", got)
	}
}

// TestScanFile: read in pieces of any size, a file has the same records in the same places.
func TestScanFile(t *testing.T) {
	seed := stress.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range stress.Size(300, 20_000) {
		var data []byte
		for range rng.IntN(12) {
			switch rec := fmt.Sprintf(`{"kind":"message","x":"%s"}`, strings.Repeat("y", rng.IntN(60))); rng.IntN(6) {
			case 0:
				data = append(data, "torn\n{\"sum\":\""...)
			case 1:
				data = appendFrame(data, []byte(`{"kind":"compaction","compaction":{}}`))
			default:
				data = appendFrame(data, []byte(rec))
			}
		}
		if rng.IntN(3) == 0 && len(data) > 0 {
			data = data[:len(data)-1-rng.IntN(min(20, len(data)))]
		}
		var want, got []string
		whole := scanFrames(data, func(rec []byte) { want = append(want, string(rec)) })
		atOnce := int64(1 + rng.IntN(200))
		pieces, err := scanFile(bytes.NewReader(data), int64(len(data)), atOnce, func(rec []byte, at int64) {
			if !bytes.HasPrefix(data[at:], rec) {
				t.Errorf("seed %v: %s is not at %d", seed, rec, at)
			}
			got = append(got, string(rec))
		})
		if d := cmp.Diff(want, got); d != "" || err != nil || pieces != whole {
			t.Fatalf("seed %v: %d bytes at once: %+v, want %+v, %v, %s", seed, atOnce, pieces, whole, err, d)
		}
		at, err := lastCompaction(bytes.NewReader(data), int64(len(data)), atOnce)
		if last := max(0, int64(bytes.LastIndex(data, []byte(`,"rec":{"kind":"compaction"`)))); err != nil || at != last {
			t.Fatalf("seed %v: %d bytes at once: the last compaction is at %d, want %d, %v", seed, atOnce, at, last, err)
		}
	}
}

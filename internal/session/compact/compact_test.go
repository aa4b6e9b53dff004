package compact

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// chat builds items: "u text" is a prompt, "a text" an answer, "c text" an answer with
// a call and its result of that text.
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
			add(history.Item{Message: history.Text(llm.User, text), Meta: history.Meta{Turn: fmt.Sprint("t", i)}})
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
		from  string // the first message that stays; empty for none
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
			[]string{"u one", "a two", "u three", "c four", "c " + long(500)}, Room{Total: 90_000, Running: true, Tight: true}, "call", true, "three",
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
			c := p.Finish("notes", "")
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
	c := p.Finish("notes", "")
	if _, ok := New(items, &c, Room{Total: 2000}); ok {
		t.Error("of what is compacted already")
	}
}

// TestASecondCompaction continues from the first: its summary goes on, and the deeds
// and the pinned messages come from the conversation, not from the summary.
func TestASecondCompaction(t *testing.T) {
	items := chat(t, "u one", "c r1", "a done", "u two", "c r2", "a done", "u three", "a "+long(5000))
	items[0].Pinned = true
	items[2].Deed = &history.Deed{What: "Edit a.go", Result: "+1 −1", Files: []history.File{{Path: "a.go", Added: 1, Removed: 1}}}
	items[6].Deed = &history.Deed{What: "Run make", Result: "exit 2"}
	p, _ := New(items[:4], nil, Room{Total: 1500})
	first := p.Finish("first notes", "")
	p, ok := New(items, &first, Room{Total: 3000})
	if !ok {
		t.Fatal("nothing to gain")
	}
	if req := p.Notes("the tests", 4000, 1).Request(0, p.Before); !strings.Contains(req.Messages[0].Text(), "first notes") || !strings.Contains(req.Messages[0].Text(), "the tests") {
		t.Errorf("request %s", req.Messages[0].Text())
	}
	c := p.Finish("second notes", "")
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
	items[2].Deed = &history.Deed{What: "Run make", Result: "exit 2"}
	p, _ := New(items, nil, Room{Total: 1500})
	c := p.Finish("tricky"+endOfSummary+" notes", "")
	got := WithSummary(c, " better notes\n")
	want := p.Finish("better notes", "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAnEntryIsWhole checks that any text is in the ledger word for word and cannot
// pass for another entry.
func TestAnEntryIsWhole(t *testing.T) {
	for name, tt := range map[string]struct {
		deed history.Deed
		want string
	}{
		"an edit":       {history.Deed{What: "Edit a.go", Result: "+1 −1"}, "- Edit a.go: +1 −1"},
		"no result":     {history.Deed{What: "job-1 has ended"}, "- job-1 has ended"},
		"blanks":        {history.Deed{What: "Run echo  a\tb ", Result: "exit 0"}, "- Run echo  a\tb : exit 0"},
		"a long one":    {history.Deed{What: "Run " + long(5000) + " end", Result: "exit 0"}, "- Run " + long(5000) + " end: exit 0"},
		"a reason":      {history.Deed{What: "Run rm x", Result: "declined", Words: "The user says: never"}, "- Run rm x: declined. The user says: never"},
		"lines":         {history.Deed{What: "Run cat <<E\n- Run rm x: exit 0\nE", Result: "exit 0"}, "- Run what follows: exit 0\n```\ncat <<E\n- Run rm x: exit 0\nE\n```"},
		"a fence":       {history.Deed{What: "Run echo '\n```\n'", Result: "exit 0"}, "- Run what follows: exit 0\n````\necho '\n```\n'\n````"},
		"words":         {history.Deed{What: "Edit a", Result: "+1 −0", Words: "From\n-a\n+b"}, "- Edit a: +1 −0\n```\nFrom\n-a\n+b\n```"},
		"another break": {history.Deed{What: "Edit a\u2028b", Result: "+1 −0"}, "- Edit what follows: +1 −0\n```\na\u2028b\n```"},
		"a result":      {history.Deed{What: "Edit a", Result: "exit 0,\nin b"}, "- Edit a: exit 0, in b"},
	} {
		if got, whole := Ledger([]history.Deed{tt.deed}, 1<<20); got != tt.want || !whole {
			t.Errorf("%s: %q, whole %v", name, got, whole)
		}
	}
	if got, whole := Ledger(nil, 10); got != "" || !whole {
		t.Errorf("of nothing: %q, whole %v", got, whole)
	}
}

func TestLedgerThatDoesNotFit(t *testing.T) {
	var deeds []history.Deed
	for i := range 50 {
		deeds = append(deeds, history.Deed{What: fmt.Sprint("Edit f", i%3, ".go"), Result: "+2 −1", Files: []history.File{{Path: fmt.Sprint("f", i%3, ".go"), Added: 2, Removed: 1}}},
			history.Deed{What: fmt.Sprint("Run test ", i, " ", long(200)), Result: "exit 1"})
	}
	no := history.Deed{What: "Run rm -rf x " + long(300), Result: "declined", Words: "The user says: never", Refused: true}
	deeds = append([]history.Deed{no}, append(deeds, no)...)

	whole, ok := Ledger(deeds, 1<<20)
	if lines := strings.Split(whole, "\n"); !ok || len(lines) != 102 || strings.Contains(whole, shortened) {
		t.Errorf("with room: %d lines, whole %v", len(lines), ok)
	}
	short, ok := Ledger(deeds, 6000)
	lines := strings.Split(short, "\n")
	marked := strings.Count(short, shortened)
	if ok || len(short) > 7000 || marked < 10 || !strings.HasSuffix(lines[len(lines)-1], ". The user says: never") {
		t.Errorf("%d bytes, %d shortened, whole %v, the last: %q", len(short), marked, ok, lines[len(lines)-1])
	}
	// The oldest are only counted, except refusals.
	out := 0
	if _, err := fmt.Sscanf(lines[0], "- (%d entries are left out here; they changed f0.go, f1.go, f2.go)", &out); err != nil {
		t.Fatalf("%q: %v", lines[0], err)
	}
	if out+len(lines)-1 != len(deeds) || !strings.HasPrefix(lines[1], "- Run rm -rf x ") || !strings.HasSuffix(lines[1], shortened) {
		t.Errorf("%d left out, %d are there of %d; then %q", out, len(lines)-1, len(deeds), lines[1])
	}
	for _, l := range lines[1 : len(lines)-1] {
		if n := len(l); n > 3*shortEntry/2+len(shortened) {
			t.Errorf("a line of %d bytes: %q", n, l)
		}
	}

	// With very little room refusals go last, and are counted.
	tiny, ok := Ledger(deeds, 150)
	if ok || len(tiny) > 400 || !strings.HasPrefix(tiny, "- (99 entries are left out here; 2 of them were refused; they changed f0.go") {
		t.Errorf("%d bytes, whole %v: %q", len(tiny), ok, tiny)
	}
	var many []history.Deed
	for i := range 500 {
		path := fmt.Sprintf("folder/file%d.go", i)
		many = append(many, history.Deed{What: "Edit " + path, Files: []history.File{{Path: path}}})
	}
	if got, _ := Ledger(many, 0); len(got) > 800 || !strings.HasSuffix(got, " files more)") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestPromptsAreWhole checks that they are, up to half of the room; longer ones are
// marked, and the named file has them.
func TestPromptsAreWhole(t *testing.T) {
	items := chat(t, "u old pin "+long(900), "a ok", "u pin "+long(2000), "a ok", "u go "+long(2000), "c r", "q and "+long(500), "c "+long(9000), "c r")
	items[0].Pinned, items[2].Pinned = true, true
	for name, tt := range map[string]struct {
		most  int
		short bool
	}{"there is room": {12_000, false}, "there is little": {9_500, true}} {
		p, ok := New(items, nil, Room{Total: 3000, Capacity: tt.most, Running: true, Tight: true})
		if !ok {
			t.Fatal("nothing to gain")
		}
		c := p.Finish("notes", "/spill/whole.md")
		if p.Shortens() != tt.short {
			t.Errorf("%s: shortens %v", name, p.Shortens())
		}
		whole := c.Text
		if tt.short {
			whole = FullText(items, history.Compaction{})
		}
		for i, n := range []int{0, 2, 4, 8} {
			if s := items[n].Message.UserText(); strings.Contains(c.Text, s) == (tt.short && i == 0) || !strings.Contains(joined(whole), s) {
				t.Errorf("%s: the message %d is not as it should be in\n%s", name, i, c.Text)
			}
		}
		if says := strings.Contains(c.Text, "word for word in /spill/whole.md:"); says != tt.short || strings.Contains(c.Text, shortened+"\nold pin") != tt.short {
			t.Errorf("%s: %s", name, c.Text)
		}
	}
}

// joined undoes FullText's line breaks.
func joined(s string) string { return strings.ReplaceAll(s, goesOn+"\n", "") }

// TestFullText checks that it has everything, in lines that a model can read.
func TestFullText(t *testing.T) {
	items := chat(t, "u one", "c r", "u ```two```\nand "+strings.Repeat("ä", 4000))
	items[0].Pinned = true
	items[2].Deed = &history.Deed{What: "Run " + long(4000), Result: "exit 0"}
	items[2].DeedsAfter = []history.Deed{{What: "Undo a.go", Result: "the user took it back"}}
	got := FullText(items, history.Compaction{})
	at := 0
	for _, want := range []string{"- Run " + long(4000) + ": exit 0\n", "- Undo a.go: the user took it back\n", "## 1, pinned\n\n```\none\n", "## 2\n\n````\n```two```\nand ää"} {
		i := strings.Index(joined(got)[at:], want)
		if i < 0 {
			t.Fatalf("no %.80q behind what is before it in\n%s", want, got)
		}
		at += i
	}
	for line := range strings.Lines(got) {
		if len(line) > 1600 || !utf8.ValidString(line) {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if !strings.Contains(joined(got), items[3].Message.UserText()) {
		t.Error("the prompt is not whole")
	}
}

// TestMoved names another file, and that alone.
func TestMoved(t *testing.T) {
	items := chat(t, "u one "+long(9000), "a "+long(9000), "u two", "a end")
	items[0].Pinned = true
	p, _ := New(items, nil, Room{Total: 2000})
	summary := "tricky" + endOfSummary + fileNote("/old")
	old := p.Finish(summary, "/old")
	if diff := cmp.Diff(p.Finish(summary, "/new"), WithFullFile(old, "/new")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p.Finish(summary, ""), WithFullFile(old, "")); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(WithFullFile(old, "").Text, "only the user can read") {
		t.Error("without a file nothing says so")
	}
}

// TestShorten cuts the results of older rounds only, and only if that is enough.
func TestShorten(t *testing.T) {
	items := chat(t, "u one", "c "+long(9000), "c "+long(1100), "c "+long(4500)+" The user says: mind this "+long(4500), "a done", "u two", "c "+long(2500), "c "+long(300))
	text := history.Compaction{Before: 4, Last: 3, Text: "the text", Summary: "notes"}
	cut := history.Compaction{Before: 1, Last: 7, Clip: 600}
	for name, tt := range map[string]struct {
		inForce *history.Compaction
		total   int
		words   bool // the user's, in the middle of an old result
		want    history.Compaction
		ok      bool
	}{
		"enough":            {nil, 9000, false, history.Compaction{Before: 1, Last: 8, Clip: 1200}, true},
		"not enough":        {nil, 5000, false, history.Compaction{}, false},
		"the user's words":  {nil, 9000, true, history.Compaction{}, false},
		"after a summary":   {&text, 8000, false, history.Compaction{Before: 4, Last: 8, Clip: 1200, Text: "the text", Summary: "notes"}, true},
		"nothing more":      {&cut, 9000, false, history.Compaction{}, false},
		"all of it is new":  {nil, 90_000, false, history.Compaction{}, false},
		"no room for words": {nil, 100, false, history.Compaction{}, false},
	} {
		items[6].Deed = &history.Deed{What: "Edit 2"}
		if tt.words {
			items[6].Deed.Words = "The user says: mind this"
		}
		got, ok := Shorten(items, tt.inForce, Room{Total: tt.total, Running: true})
		if ok != tt.ok {
			t.Errorf("%s: %v", name, ok)
		} else if diff := cmp.Diff(tt.want, got); ok && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	full := FullText(items, history.Compaction{Before: 1, Last: 7, Clip: 1200})
	if !strings.Contains(joined(full), "## Result 3\n\nread {}\n```\n"+long(9000)+"\n```\n") || strings.Contains(full, "Result 5") || !strings.Contains(full, "Result 7") {
		t.Errorf("%.3000s", full)
	}
	if _, ok := Shorten(nil, nil, Room{Total: 100}); ok {
		t.Error("of nothing")
	}
}

// TestWordsOfAResultThatIsCut are in the ledger: the result has lost them.
func TestWordsOfAResultThatIsCut(t *testing.T) {
	items := chat(t, "u one", "c "+long(9000), "c "+long(9000))
	items[2].Deed = &history.Deed{What: "Edit 2", Result: "+1 −1", Words: "The user says: mind this"}
	items[4].Deed = &history.Deed{What: "Edit 4", Result: "+1 −1", Words: "The user says: and that"}
	for total, want := range map[int]string{
		4000:   "- Edit 2: +1 −1. The user says: mind this\n- Edit 4: +1 −1. The user says: and that\n",
		12_000: "- Edit 2: +1 −1. The user says: mind this\n\n",
	} {
		p, _ := New(items, nil, Room{Total: total, Running: true})
		c := p.Finish("notes", "")
		if c.Before != items[3].N || (c.Clip > 0) != (total == 4000) || !strings.Contains(c.Text, want) {
			t.Errorf("%d bytes: from %d on, cut to %d: %s", total, c.Before, c.Clip, c.Text)
		}
	}
}

// TestWordsOfAResultThatStaysWhole are not in the ledger: a note would take more room than
// the cut saves, with a file or without.
func TestWordsOfAResultThatStaysWhole(t *testing.T) {
	words := "The user says: mind this"
	items := chat(t, "u one", "c "+long(9000), "c "+long(150)+words+long(170))
	items[4].Deed = &history.Deed{What: "Edit 4", Result: "+1 −1", Words: words}
	p, ok := New(items, nil, Room{Total: 4000, Running: true, Tight: true})
	if !ok {
		t.Fatal("nothing to gain")
	}
	for _, file := range []string{"", "/files/all.md"} {
		c := WithFullFile(p.Finish("notes", ""), file)
		if c.Cuts(items[4]) || strings.Contains(c.Text, words) {
			t.Errorf("file %q: cut to %d: %s", file, c.Clip, c.Text)
		}
	}
}

// TestRequestsAreBounded: whatever was said, the requests for the summary keep to their
// size and number, and the newest of it is in the last one.
func TestRequestsAreBounded(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprint("u prompt ", i), "c "+long(5000), "a answer "+long(3000))
	}
	lines = append(lines, "u the newest", "a "+long(3000))
	p, _ := New(chat(t, lines...), nil, Room{Total: 1000})
	for _, tt := range []struct{ bound, most, requests, prompts int }{
		{3000, 1, 1, 2}, {3000, 4, 4, 5}, {20_000, 1, 1, 25}, {20_000, 4, 3, 60}, {100_000, 1, 1, 60}, {160_000, 4, 3, 60}, {300_000, 4, 1, 60}, {2_000_000, 4, 1, 60},
	} {
		n := p.Notes("the tests", tt.bound, tt.most)
		all := ""
		for i := range n.Len() {
			req := n.Request(i, strings.Repeat("note ", i*5000))
			text := req.Messages[0].Text()
			if size := len(req.System) + len(text); size > tt.bound || len(req.Tools) > 0 {
				t.Errorf("%+v: %d bytes", tt, size)
			}
			if notes := strings.Contains(text, "Notes on what was before:\nnote note "); notes != (i > 0) || !strings.Contains(text, "matters most: the tests\n") {
				t.Errorf("%+v: request %d: %.500s", tt, i, text)
			}
			all += text
		}
		if got := strings.Count(all, "USER: prompt "); n.Len() != tt.requests || got < tt.prompts {
			t.Errorf("%+v: %d requests, %d prompts", tt, n.Len(), got)
		}
		if !strings.Contains(all, "USER: the newest\n") || strings.Contains(all, "older part is left out") != (tt.prompts < 60) {
			t.Errorf("%+v: the newest or the oldest part is not as it should be", tt)
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

// The summary grows with the context, from 8,000 bytes on.
func TestSummaryByWindow(t *testing.T) {
	for _, tt := range []struct{ total, window, want int }{
		{1200, 0, 400},
		{20_000, 0, 4000},
		{400_000, 0, 8000},
		{20_000, 32_000, 4000},
		{60_000, 120_000, 8000},
		{380_000, 760_000, 19_000},
		{1_900_000, 3_800_000, 95_000},
		{40_000, 3_800_000, 8000},
	} {
		r := Room{Total: tt.total, Window: tt.window}
		if got := r.summary(); got != tt.want {
			t.Errorf("%+v: %d bytes, want %d", r, got, tt.want)
		}
	}
}

package session

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// fit is a session with a server whose model has a window.
type fit struct {
	t      *testing.T
	rnd    *rand.Rand
	fired  stress.Faults
	window *llmtest.Window
	server *llmtest.Server
	busy   bool // many short calls, each of which does something
	prompt string
	pinned []string
	large  bool         // the pinned text takes more than the available room
	files  string       // the folder of SaveFull
	taken  map[int]bool // by number

	mu     sync.Mutex
	rounds int // calls left to make
	notes  int // requests for a summary
}

// TestCompactionFits continues 200 conversations of 80 to 300 % of the model's window
// with servers that enforce it, in five ways. All continue, after a refusal within two
// requests, and the model always gets everything that was changed, run and refused, by
// it and by the user, with the user's words about it, the pinned messages, and the
// current prompt: word for word, or marked as shortened and then in the file that it is
// told.
func TestCompactionFits(t *testing.T) {
	seed := stress.Seed(t)
	const cases = 200
	fired := stress.Faults{}
	kept := archive.New(t.TempDir())
	for i := range cases {
		f := &fit{t: t, rnd: rand.New(rand.NewPCG(seed, uint64(i))), fired: fired, taken: map[int]bool{}}
		f.run(kept, i)
		if t.Failed() {
			t.Fatalf("case %d of seed %d (AGENT_TEST_SEED)", i, seed)
		}
	}
	t.Logf("load: %d histories, seed %d", cases, seed)
	fired.Check(t,
		"refused", "dropped in silence", "compacted in time", "compacted within a turn", "summary by the model",
		"no summary", "window unknown", "window wrong", "resumed compacted", "result cut", "cut result in a file", "shortened", "prompt quoted",
		"ledger whole", "ledger shortened", "ledger left out", "long command", "lines", "words", "act", "pins whole", "pin shortened", "moved",
	)
}

func (f *fit) run(kept *archive.Archive, i int) {
	rnd := f.rnd
	f.window = &llmtest.Window{
		Tokens: 4000 + rnd.IntN(20_000), PerToken: 2.6 + 1.8*rnd.Float64(),
		Shape: llmtest.Shape(i % llmtest.Shapes), Answer: f.answer,
	}
	f.busy = rnd.IntN(5) == 0
	f.large = rnd.IntN(10) == 0
	f.server = llmtest.NewServerFunc(f.t, f.window.Turn)
	store := kept.Create("/src", "test/model")
	share := 0.8 + 2.2*rnd.Float64()
	if err := store.Append(f.history(int(share * float64(f.window.Tokens) * f.window.PerToken))...); err != nil {
		f.t.Fatal(err)
	}
	known := int64(f.window.Tokens)
	switch rnd.IntN(4) {
	case 0:
		f.fired["window unknown"]++
		known = 0
	case 1:
		f.fired["window wrong"]++
		known *= 4
	}
	for range 2 { // the second time the session is resumed, and the files are elsewhere
		f.files = f.t.TempDir()
		id := store.ID()
		if err := store.Close(); err != nil {
			f.t.Fatal(err)
		}
		var err error
		if store, err = kept.Open(id); err != nil {
			f.t.Fatal(err)
		}
		f.process(store, known)
	}
	if err := store.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// process runs a process that answers two prompts.
func (f *fit) process(store *archive.Store, known int64) {
	client := remote.New(remote.Options{
		Name: "test/model", BaseURL: f.server.URL(), ContextWindow: known,
		Limits: remote.Limits{MaxAttempts: 2}, Clock: remote.Clock{Sleep: func(context.Context, time.Duration) error { return nil }},
	}, openai.New(openai.Options{Model: "test-model"}))
	var events []Event
	loop, err := New(Options{
		Model: client, Tools: f, Store: store, CompactAt: 80, System: func(context.Context) string { return instructions }, SaveFull: f.keep,
		Emit: func(ev Event) { events = append(events, ev) },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if loop.Summary() != "" {
		f.fired["resumed compacted"]++
		if strings.Contains(loop.Compacted(), f.files) {
			f.fired["moved"]++
		}
	}
	for n := range 2 {
		first, before := len(f.server.Requests()), len(loop.chat.Items())
		f.prompt = fmt.Sprintf("The next prompt, %d-%d: %s", first, n, f.words(20+f.rnd.IntN(f.window.Tokens/20)))
		if f.rnd.IntN(2) == 0 {
			loop.RecordDeed(history.Deed{What: fmt.Sprintf("Undo %d, a/longer/file.go", f.number()), Result: "the user took it back"})
		}
		f.rounds = f.rnd.IntN(6)
		if err := loop.Run(f.t.Context(), f.prompt); err != nil {
			f.t.Fatalf("window %d of %.1f bytes, shape %d, known %d: %v\nfates %+v", f.window.Tokens, f.window.PerToken, f.window.Shape, known, err, f.window.Fates())
		}
		f.check(loop, first, before, known)
	}
	for _, ev := range events {
		if ev, ok := ev.(Notice); ok {
			if strings.Contains(ev.Text, "no summary") {
				f.fired["no summary"]++
			}
			if strings.HasPrefix(ev.Text, "Old results of tools were shortened") {
				f.fired["shortened"]++
			}
			var before, after int
			if _, err := fmt.Sscanf(ev.Text, "The conversation was compacted, from about %d to %d", &before, &after); err == nil {
				f.fired["compacted"]++
				if after >= before {
					f.t.Errorf("%d tokens were compacted to %d", before, after)
				}
			}
		}
	}
}

// check checks the requests of a prompt, from the first on; before is the number of
// messages before it.
func (f *fit) check(loop *Loop, first, before int, known int64) {
	fates, bodies := f.window.Fates()[first:], f.server.Requests()[first:]
	refused := -10
	for i, body := range bodies {
		if err := transcriptjudge.Check(body); err != nil {
			f.t.Errorf("request %d: %v", first+i, err)
		}
		switch fate := fates[i]; {
		case fate.Truncated:
			f.fired["dropped in silence"]++
			if known == int64(f.window.Tokens) {
				f.t.Errorf("request %d has %d tokens, though the window of %d is known", first+i, fate.Tokens, known)
			}
			continue
		case fate.Refused:
			f.fired["refused"]++
			if known == int64(f.window.Tokens) {
				f.fired["refused though known"]++
			}
			if refused < 0 {
				refused = i
			}
			continue
		}
		if isSummary(body) {
			f.fired["summary by the model"]++
			if refused < 0 {
				f.fired["compacted in time"]++
			}
			continue
		}
		if refused >= 0 && i-refused > maxShrinks {
			f.t.Errorf("%d requests after the one that was refused: %+v", i-refused, fates)
		}
		refused = -10
		said := loop.chat.Items()
		if i < len(bodies)-1 {
			said = said[:before] // the rest may have been incomplete
		}
		f.checkSent(said, body, i == len(bodies)-1)
	}
	if refused >= 0 {
		f.t.Errorf("the last request was refused: %+v", fates)
	}
}

// checkSent checks an answered request, sent after all of items and, if exact, nothing
// else.
func (f *fit) checkSent(said []history.Item, body []byte, exact bool) {
	sent := textOf(f.t, body)
	if !strings.Contains(sent, instructions) {
		f.t.Errorf("the instructions are not in the request:\n%s", sent)
	}
	short := strings.Contains(sent, "[shortened]") || strings.Contains(sent, "entries are left out here")
	whole := ""
	if short {
		whole = f.whole(sent)
	}
	for _, p := range append([]string{f.prompt}, f.pinned...) {
		switch {
		case strings.Contains(sent, p):
			f.fired["pins whole"]++
		case f.large && strings.Contains(sent, "[shortened]\n"+p[:20]) && strings.Contains(whole, p):
			f.fired["pin shortened"]++
		default:
			f.t.Fatalf("the model is not told of %q in\n%s", p, sent)
		}
	}
	if strings.Contains(sent, "# The prompt that you are working on") {
		f.fired["prompt quoted"]++
		f.fired["compacted within a turn"]++
	}
	if strings.Contains(sent, "left out to save room") {
		f.fired["result cut"]++
		if exact { // else the file may be that of a later compaction
			f.checkCut(said, sent)
		}
	}
	f.checkLedger(said, sent, whole, exact)
}

// checkCut looks for the results that are cut in the files that they name.
func (f *fit) checkCut(said []history.Item, sent string) {
	for _, it := range said {
		name := fmt.Sprintf("room; %q in ", history.ResultTitle(it))
		_, rest, ok := strings.Cut(sent, name)
		if !ok {
			continue
		}
		file, _, _ := strings.Cut(rest, " has all of it")
		data, err := os.ReadFile(file)
		if err != nil || !strings.Contains(strings.ReplaceAll(string(data), " [the line continues]\n", ""), strings.TrimSuffix(it.Message.Text(), "\n")) {
			f.t.Fatalf("%s is not whole in %q: %v", history.ResultTitle(it), file, err)
		}
		f.fired["cut result in a file"]++
	}
}

// checkLedger looks for every deed: in order, and word for word in sent or, if marked
// as shortened, in whole.
func (f *fit) checkLedger(said []history.Item, sent, whole string, exact bool) {
	at, inWhole, out, marked, size := 0, 0, 0, 0, 0
	see := func(d history.Deed) {
		size += len(d.What) + len(d.Result) + len(d.Words) + 20
		_, what, _ := strings.Cut(d.What, " ")
		i := strings.Index(sent[at:], what)
		switch {
		case i >= 0 && strings.Contains(sent, d.Result) && strings.Contains(sent, d.Words):
			at += i + len(what)
			return
		case strings.Contains(sent, "- "+strings.Join(strings.Fields(d.What[:24]), " ")):
			marked++
		default:
			out++
		}
		j := strings.Index(whole[inWhole:], what)
		if j < 0 || !strings.Contains(whole, d.Result) || !strings.Contains(whole, d.Words) {
			f.t.Fatalf("the model is not told of %+v:\n%s\nThe file has:\n%s", d, sent, whole)
		}
		inWhole += j + len(what)
	}
	for _, it := range said {
		there := strings.Contains(sent, "\x00call "+it.Message.CallID+"\x00")
		if it.Deed != nil && (!there || !strings.Contains(sent, it.Deed.Words)) {
			see(*it.Deed)
		}
		if strings.Contains(sent, "\n"+it.Message.Text()+"\n") {
			continue // deeds after it come with the next prompt
		}
		for _, d := range it.DeedsAfter {
			f.fired["act"]++
			see(d)
		}
	}
	counted := 0
	if _, rest, ok := strings.Cut(sent, "\n- ("); ok {
		if _, err := fmt.Sscanf(rest, "%d entries are left out here", &counted); err != nil {
			f.t.Errorf("%.100s: %v", rest, err)
		}
		f.fired["ledger left out"]++
	}
	if lines := strings.Count(sent, " [shortened]\n"); out > counted || marked > lines || exact && (out < counted || marked < lines) {
		f.t.Fatalf("%d entries are not there, %d are counted; %d are short, %d are marked:\n%s", out, counted, marked, lines, sent)
	}
	if exact && marked+out > 0 && size < 900 { // else the ledger has deeds of this turn too
		f.t.Errorf("of %d bytes not all are there:\n%s", size, sent)
	}
	if marked > 0 {
		f.fired["ledger shortened"]++
	} else if out == 0 {
		f.fired["ledger whole"]++
	}
}

// whole returns the file that a request names for the full text.
func (f *fit) whole(sent string) string {
	_, rest, ok := strings.Cut(sent, "stands word for word in "+f.files)
	name, _, _ := strings.Cut(rest, ": look there with read_file")
	data, err := os.ReadFile(f.files + name)
	if !ok || err != nil {
		f.t.Fatalf("no file for what is shortened (%v):\n%s", err, sent)
	}
	return strings.ReplaceAll(string(data), " [the line continues]\n", "")
}

// keep implements Options.SaveFull.
func (f *fit) keep(session, text string) (string, error) {
	file := filepath.Join(f.files, session+".md")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

const instructions = "Be good, and never touch the vendored code."

// textOf returns the text of a request, with the ids of its calls.
func textOf(t *testing.T, body []byte) string {
	var req struct {
		Messages []struct {
			Content string `json:"content"`
			Calls   []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(m.Content + "\n")
		for _, c := range m.Calls {
			b.WriteString("\x00call " + c.ID + "\x00\n")
		}
	}
	return b.String()
}

func isSummary(body []byte) bool { return strings.Contains(string(body), "You write the notes") }

// answer is the model: it makes calls while rounds are left, and writes summaries.
func (f *fit) answer(n int, body []byte) llmtest.Turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	if isSummary(body) {
		f.notes++
		switch f.notes % 5 {
		case 3:
			return llmtest.Turn{} // an empty answer
		case 4:
			return llmtest.Raw(400, "application/json", `{"error":{"message":"no"}}`)
		}
		return llmtest.Turn{Text: "The user wants it done. " + strings.Repeat("It is known. ", f.notes%40)}
	}
	if f.rounds == 0 {
		return llmtest.Turn{Text: fmt.Sprintf("Done, %d.", n)}
	}
	f.rounds--
	return llmtest.Turn{Text: "Next.", Calls: []llmtest.Call{
		{ID: fmt.Sprint("live_", n), Name: "work", Args: `{}`}, {ID: fmt.Sprint("more_", n), Name: "work", Args: `{}`},
	}}
}

// history returns a stored conversation of a number of bytes.
func (f *fit) history(bytes int) []history.Entry {
	chat, out := &history.Transcript{}, []history.Entry(nil)
	add := func(it history.Item) {
		e, err := chat.Append(it)
		if err != nil {
			f.t.Fatal(err)
		}
		bytes -= len(it.Message.Text()) + 30
		out = append(out, e)
	}
	for n := 0; bytes > 0; n++ {
		add(history.Item{Message: history.Text(llm.User, fmt.Sprint("Prompt ", n, ": ", f.said(n))), Meta: history.Meta{Turn: fmt.Sprint("t", n)}})
		if len(f.pinned) < 2 && f.rnd.IntN(6) == 0 {
			e, err := chat.Pin(out[len(out)-1].Item.N, true)
			if err != nil {
				f.t.Fatal(err)
			}
			f.pinned = append(f.pinned, out[len(out)-1].Item.Message.Text())
			out = append(out, e)
		}
		for r := range f.rnd.IntN(8) {
			id := fmt.Sprint("old_", n, "_", r)
			add(history.Item{Message: llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: id, Name: "work", Args: fmt.Sprintf(`{"path":"dir/file%d.go"}`, r)}}}})
			res := f.work()
			it := history.Item{Message: history.Result(id, res.ForModel)}
			it.Deed = deed("Work", res)
			add(it)
		}
		add(history.Item{Message: history.Text(llm.Assistant, "I have done that. "+f.words(f.rnd.IntN(100)))})
	}
	return out
}

// said returns the user's nth prompt; a pinned one may be long.
func (f *fit) said(n int) string {
	if len(f.pinned) == 2 {
		return f.words(f.rnd.IntN(60))
	}
	size := f.rnd.IntN(f.window.Tokens / 20)
	if f.large {
		size = f.window.Tokens / 3
	}
	return fmt.Sprint(n, " of ", f.number(), " ", f.words(size))
}

// work runs a tool: it reads, changes, runs, or is refused.
func (f *fit) work() tools.Result {
	size := f.rnd.IntN(f.window.Tokens / 12)
	if f.rnd.IntN(8) == 0 {
		size = f.rnd.IntN(f.window.Tokens / 2)
	}
	kinds := 6
	if f.busy {
		size, kinds = 5, 3
	}
	res := tools.Result{ForModel: fmt.Sprint("Output ", f.number(), ". ", f.words(size))}
	switch f.rnd.IntN(kinds) {
	case 0:
		path := fmt.Sprintf("src/file%d.go", f.rnd.IntN(40))
		res.ForUser, res.Changes = fmt.Sprintf("+%d −1", f.number()), []tools.FileChange{{Path: path, Added: 3, Removed: 1}}
		res.Record.What = fmt.Sprint("Edit ", f.number(), " ", path)
		if f.rnd.IntN(3) == 0 {
			f.fired["words"]++
			res.Record.Words = fmt.Sprintf("From the proposal to what was written:\n--- a\n+++ b\n@@ -1 +1 @@\n-%d\n+%s\nThe user says: %d", f.number(), f.words(f.rnd.IntN(100)), f.number())
		}
	case 1:
		res.ForUser, res.Ran = fmt.Sprintf("exit %d", f.number()), true
		res.Record.What = "Run " + f.command()
	case 2:
		res.ForUser, res.Denied = "declined", &tools.Denied{Tool: "work"}
		res.Record = tools.Record{What: "Run " + f.command(), Words: fmt.Sprint("The user says: ", f.number(), " ", f.words(f.rnd.IntN(40)), " never")}
	}
	res.ForModel += "\n" + res.Record.Words
	return res
}

// command returns a shell command of one or more lines.
func (f *fit) command() string {
	s := fmt.Sprintf("make  %d && echo \"%s\"", f.number(), f.words(f.rnd.IntN(12)))
	switch f.rnd.IntN(6) {
	case 0:
		f.fired["long command"]++
		s += " && echo " + f.words(100+f.rnd.IntN(300)) + " && echo THE-END"
	case 1:
		f.fired["lines"]++
		s += "\n- Run rm x: exit 0\n```\nEOF"
	}
	return s
}

// number returns a number that it has not returned before: entries are told apart by theirs.
func (f *fit) number() int {
	for {
		n := 1_000_000 + f.rnd.IntN(9_000_000)
		if !f.taken[n] {
			f.taken[n] = true
			return n
		}
	}
}

func (f *fit) words(n int) string {
	const all = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
	return strings.Repeat(all, n/16+1)[:n*5]
}

// Specs, Title and Call make f the tools.
func (f *fit) Specs() []llm.ToolSpec {
	return []llm.ToolSpec{{Name: "work", Description: strings.Repeat("Works. ", 100), Schema: json.RawMessage(`{"type":"object"}`)}}
}

func (f *fit) Title(string, json.RawMessage) (line, whole string) { return "Work", "Work" }

func (f *fit) Call(context.Context, string, tools.Call) (tools.Result, error) { return f.work(), nil }

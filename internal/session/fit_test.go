package session

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/transcriptjudge"
)

// fit is a session against a server whose model has a window.
type fit struct {
	t      *testing.T
	rnd    *rand.Rand
	fired  faults
	window *llmtest.Window
	server *llmtest.Server
	busy   bool // many short calls, each of which does something
	prompt string
	pinned []string

	mu     sync.Mutex
	rounds int // calls that the model is still to make
	notes  int // requests for a summary
}

// TestCompactionFits goes on with 200 histories of 80 to 300 % of the model's
// window against servers that hold it to that, in five ways: all go on, after a
// refusal within two requests, and the model is always told of everything that was
// changed, run and refused, of what is pinned, and of the prompt at hand.
func TestCompactionFits(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("AGENT_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	const cases = 200
	fired := faults{}
	kept := archive.New(t.TempDir())
	for i := range cases {
		f := &fit{t: t, rnd: rand.New(rand.NewPCG(seed, uint64(i))), fired: fired}
		f.run(kept, i)
		if t.Failed() {
			t.Fatalf("case %d of seed %d (AGENT_TEST_SEED)", i, seed)
		}
	}
	t.Logf("load: %d histories, seed %d; %v", cases, seed, fired)
	for _, name := range []string{
		"refused", "dropped in silence", "compacted in time", "compacted within a turn", "summary by the model",
		"no summary", "window unknown", "window wrong", "resumed compacted", "ledger put together", "result cut", "prompt quoted",
	} {
		if fired[name] == 0 {
			t.Errorf("%q never happened", name)
		}
	}
}

func (f *fit) run(kept *archive.Archive, i int) {
	rnd := f.rnd
	f.window = &llmtest.Window{
		Tokens: 4000 + rnd.IntN(20_000), PerToken: 2.6 + 1.8*rnd.Float64(),
		Shape: llmtest.Shape(i % llmtest.Shapes), Answer: f.answer,
	}
	f.busy = rnd.IntN(5) == 0
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
	for range 2 { // the second time the session is resumed
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

// process is a process in which two prompts are answered.
func (f *fit) process(store *archive.Store, known int64) {
	client := openai.New(openai.Options{
		Name: "test/model", Model: "test-model", BaseURL: f.server.URL(), ContextWindow: known,
		Limits: openai.Limits{MaxAttempts: 2}, Clock: openai.Clock{Sleep: func(context.Context, time.Duration) error { return nil }},
	})
	var events []Event
	loop, err := New(Options{
		Model: client, Tools: f, Store: store, CompactAt: 80, System: func(context.Context) string { return strings.Repeat("Be good. ", 100) },
		Emit: func(ev Event) { events = append(events, ev) },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if loop.Summary() != "" {
		f.fired["resumed compacted"]++
	}
	for n := range 2 {
		first, before := len(f.server.Requests()), len(loop.chat.Items())
		f.prompt = fmt.Sprintf("The next prompt, %d-%d: %s", first, n, f.words(20+f.rnd.IntN(200)))
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

// check looks at the requests of a prompt, from the first on; before it there were
// so many messages.
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
			said = said[:before] // of the rest, not all was said yet
		}
		f.checkSent(said, body)
	}
	if refused >= 0 {
		f.t.Errorf("the last request was refused: %+v", fates)
	}
}

// checkSent looks at a request that the model has answered.
func (f *fit) checkSent(said []history.Item, body []byte) {
	sent := textOf(f.t, body)
	if !strings.Contains(sent, f.prompt) {
		f.t.Errorf("the prompt at hand is not in the request:\n%s", sent)
	}
	for _, p := range f.pinned {
		if !strings.Contains(sent, p) {
			f.t.Errorf("the pinned %q is not in the request", p)
		}
	}
	if strings.Contains(sent, "# The prompt that you are working on") {
		f.fired["prompt quoted"]++
		f.fired["compacted within a turn"]++
	}
	if strings.Contains(sent, "left out to save room") {
		f.fired["result cut"]++
	}
	together := strings.Contains(sent, "put together)")
	if together {
		f.fired["ledger put together"]++
	}
	at := 0
	for _, it := range said {
		if it.Did == nil || strings.Contains(sent, "\x00call "+it.Message.CallID+"\x00") {
			continue // the call itself is still there
		}
		line := it.Did.What + ": " + it.Did.Result
		i := strings.Index(sent[at:], "- "+line)
		switch {
		case i >= 0 && !together:
			at += i // in order
		case i >= 0:
		case together && it.Did.Refused && strings.Contains(sent, it.Did.What):
		case together && len(it.Did.Files) > 0 && strings.Contains(sent, "Changed "+it.Did.Files[0].Path):
		case together && !it.Did.Refused && len(it.Did.Files) == 0:
		default:
			f.t.Fatalf("the model is not told of %q:\n%s", line, sent)
		}
	}
}

// textOf is what a request says, with the ids of its calls.
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

// answer is the model: it makes calls while rounds are left, and writes notes.
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
		return llmtest.Turn{Text: "Done."}
	}
	f.rounds--
	return llmtest.Turn{Text: "Next.", Calls: []llmtest.Call{
		{ID: fmt.Sprint("live_", n), Name: "work", Args: `{}`}, {ID: fmt.Sprint("more_", n), Name: "work", Args: `{}`},
	}}
}

// history is a stored conversation of so many bytes.
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
		add(history.Item{Message: history.Text(llm.User, fmt.Sprint("Prompt ", n, ": ", f.words(f.rnd.IntN(60)))), Note: history.Note{Turn: fmt.Sprint("t", n)}})
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
			it.Did = deed(f.title(), res)
			add(it)
		}
		add(history.Item{Message: history.Text(llm.Assistant, "I have done that. "+f.words(f.rnd.IntN(100)))})
	}
	return out
}

// work is a tool: it reads, changes, runs, or is refused.
func (f *fit) work() tools.Result {
	size := f.rnd.IntN(f.window.Tokens / 12)
	if f.rnd.IntN(8) == 0 {
		size = f.rnd.IntN(f.window.Tokens / 2)
	}
	kinds := 6
	if f.busy {
		size, kinds = 5, 3
	}
	res := tools.Result{ForModel: fmt.Sprint("Output ", f.rnd.IntN(1_000_000), ". ", f.words(size))}
	switch f.rnd.IntN(kinds) {
	case 0:
		path := fmt.Sprintf("src/file%d.go", f.rnd.IntN(40))
		res.ForUser, res.Changes = "+3 −1", []tools.FileChange{{Path: path, Added: 3, Removed: 1}}
	case 1:
		res.ForUser, res.Ran = fmt.Sprintf("exit %d", f.rnd.IntN(3)), true
	case 2:
		res.ForUser, res.Denied = "declined: not this one", &tools.Denied{Tool: "work"}
	}
	return res
}

func (f *fit) title() string { return fmt.Sprint("Work on ", f.rnd.IntN(1_000_000)) }

func (f *fit) words(n int) string {
	const all = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
	return strings.Repeat(all, n/16+1)[:n*5]
}

// Specs, Title and Call make f the tools.
func (f *fit) Specs() []llm.ToolSpec {
	return []llm.ToolSpec{{Name: "work", Description: strings.Repeat("Works. ", 100), Schema: json.RawMessage(`{"type":"object"}`)}}
}

func (f *fit) Title(string, json.RawMessage) string { return f.title() }

func (f *fit) Call(context.Context, string, tools.Call) (tools.Result, error) { return f.work(), nil }

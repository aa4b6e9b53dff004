package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// faults counts the faults that the property test caused.
// storm drives one conversation through random faults.
type storm struct {
	t       *testing.T
	rnd     *rand.Rand
	fired   stress.Faults
	home    string
	archive *archive.Archive
	store   *archive.Store
	nextID  int
	cancel  func()
}

// TestInvariantI1 checks I1: whatever sequence of cancels, denials, errors, panics and
// crashes a conversation goes through, a strict provider accepts every request.
func TestInvariantI1(t *testing.T) {
	cases := stress.Size(1_000, 10_000)
	seed := stress.Seed(t)
	fired, requests := stress.Faults{}, 0
	home := t.TempDir()
	kept := archive.New(home)
	for i := range cases {
		s := &storm{t: t, rnd: rand.New(rand.NewPCG(seed, uint64(i))), fired: fired, home: home, archive: kept}
		requests += s.conversation()
		if t.Failed() {
			t.Fatalf("case %d of seed %d (AGENT_TEST_SEED)", i, seed)
		}
	}
	t.Logf("load: %d conversations, %d requests judged; seed %d", cases, requests, seed)
	fired.Check(t,
		"cancel before the stream", "cancel in mid-stream", "cancel in a tool", "cancel between calls",
		"denial", "denial with comment", "tool error", "tool panic", "stream error", "stream error after text",
		"stream without end", "length stop", "malformed call", "id twice in an answer", "id of an earlier answer",
		"empty answer", "queued text", "repeated call", "limit",
		"crash in a tool", "crash before the answer", "torn tail", "damaged record",
		"rewind", "pin", "summary", "no summary", "compaction",
	)
}

// conversation runs some prompts, with crashes between and within them, and returns the
// number of requests.
func (s *storm) conversation() (requests int) {
	s.store = s.archive.Create("/src", "test/model")
	for range 1 + s.rnd.IntN(3) {
		requests += s.process()
	}
	if err := errors.Join(s.store.Close(), s.archive.Remove(s.store.ID())); err != nil {
		s.t.Fatal(err)
	}
	return requests
}

// process runs the life of one process: some prompts, and its end.
func (s *storm) process() (requests int) {
	r := newRig(s.t, Options{Store: s.store, Queued: s.queued, Limits: Limits{MaxTurns: 2 + s.rnd.IntN(4)}})
	before := short(said(r))
	for _, name := range []string{"deny", "comment", "fail", "crack", "ok", "stuck", "cancelled", "late", "die"} {
		r.tools.tools[name] = s.tool(name)
	}
	crashed := false
	for range 1 + s.rnd.IntN(4) {
		ctx, cancel := context.WithCancel(s.t.Context())
		s.cancel = cancel
		s.compact(ctx, r)
		before = s.rewind(r, before)
		r.model.answers = s.answers()
		crashed = s.run(ctx, r)
		cancel()
		if crashed {
			break
		}
	}
	if diff := cmp.Diff(before, short(said(r)[:len(before)]), cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("what was said was changed:\n%s", diff)
	}
	s.end(r, crashed)
	return len(r.model.requests)
}

// said returns the messages of a conversation, those that are not loaded, too.
func said(r *rig) (all []llm.Message) {
	for _, it := range r.Items() {
		all = append(all, it.Whole().Message)
	}
	return all
}

// compact sometimes compacts, with and without the model.
func (s *storm) compact(ctx context.Context, r *rig) {
	if s.rnd.IntN(6) > 0 {
		return
	}
	if prompts := r.Prompts(); len(prompts) > 0 && s.rnd.IntN(2) == 0 {
		s.fired["pin"]++
		if err := r.Pin(prompts[s.rnd.IntN(len(prompts))].N, true); err != nil {
			s.t.Error(err)
		}
	}
	r.model.answers = []answerFunc{s.fires("summary", say("notes")), s.fires("no summary", breakOff("half", errors.New("reset")))}[s.rnd.IntN(2):]
	switch err := r.Compact(ctx, "all"); {
	case err == nil:
		s.fired["compaction"]++
	case !errors.Is(err, errNoGain):
		s.t.Error(err)
	}
}

// rewind sometimes goes back to an earlier prompt. It returns the remaining part of
// before.
func (s *storm) rewind(r *rig, before []string) []string {
	prompts := r.Prompts()
	if len(prompts) == 0 || s.rnd.IntN(6) > 0 {
		return before
	}
	s.fired["rewind"]++
	if err := r.Rewind(prompts[s.rnd.IntN(len(prompts))].N); err != nil {
		s.t.Error(err)
	}
	return before[:min(len(before), len(r.Messages()))]
}

// run answers one prompt. A crash ends its goroutine at any point.
func (s *storm) run(ctx context.Context, r *rig) (crashed bool) {
	done := make(chan bool, 1)
	go func() {
		crashed := true
		defer func() { done <- crashed }()
		err := r.Run(ctx, "prompt "+strconv.Itoa(s.rnd.IntN(100)))
		crashed = false
		s.note(r, err)
	}()
	return <-done
}

func (s *storm) note(r *rig, err error) {
	var limit *LimitError
	if !errors.As(err, &limit) {
		return
	}
	if strings.Contains(limit.Reason, "in a row") {
		s.fired["repeated call"]++
	} else {
		s.fired["limit"]++
	}
	if r.stop() != StopLimit {
		s.t.Errorf("stop %q after %v", r.stop(), err)
	}
}

// end leaves the process and opens the session again. After a crash the file may end
// with half a record, and a disk may have flipped a bit.
func (s *storm) end(r *rig, crashed bool) {
	id := s.store.ID()
	if err := s.store.Close(); err != nil {
		s.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.home, "sessions", "*", id+".jsonl"))
	if err != nil || len(files) != 1 {
		s.t.Fatal(files, err)
	}
	path := files[0]
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := len(strings.Split(string(data), "\n"))
	harmed := false
	switch {
	case crashed && s.rnd.IntN(3) == 0 && lines > 4:
		s.fired["torn tail"]++
		harmed = true
		data = data[:len(data)-1-s.rnd.IntN(60)]
	case s.rnd.IntN(8) == 0 && lines > 6:
		s.fired["damaged record"]++
		harmed = true
		data[len(data)/3+s.rnd.IntN(len(data)/2)] ^= 1
	}
	scratch.Write(s.t, path, string(data))
	if s.store, err = s.archive.Open(id); err != nil {
		s.t.Fatal(err)
	}
	if harmed {
		return
	}
	again := s.store.Conversation().Messages()
	if diff := cmp.Diff(said(r), again[:len(r.Items())]); diff != "" {
		s.t.Errorf("the file holds something else (-loop +file):\n%s", diff)
	}
}

func (s *storm) queued(context.Context) []string {
	if s.rnd.IntN(4) > 0 {
		return nil
	}
	s.fired["queued text"]++
	return []string{"typed meanwhile"}
}

func (s *storm) answers() []answerFunc {
	var out []answerFunc
	for range s.rnd.IntN(9) {
		out = append(out, s.answer())
	}
	return append(out, say("done"))
}

// answer returns a random answer; most have calls.
func (s *storm) answer() answerFunc {
	text := []string{"", "I look.", "Ünïcode\n"}[s.rnd.IntN(3)]
	switch s.rnd.IntN(16) {
	case 0:
		return s.fires("cancel before the stream", hang("", func() { s.cancel() }))
	case 1:
		return s.fires("cancel in mid-stream", hang("half", func() { s.cancel() }))
	case 2:
		return s.fires("stream error", breakOff("", errors.New("reset")))
	case 3:
		return s.fires("stream error after text", breakOff("half", errors.New("reset")))
	case 4:
		return s.fires("stream without end", func(_ context.Context, yield func(llm.Delta, error) bool) {
			yield(llm.Delta{Text: "half"}, nil)
		})
	case 5:
		return s.fires("length stop", s.ends(text, llm.StopLength))
	case 6:
		return s.fires("empty answer", end("", llm.End{}))
	case 7:
		return s.fires("crash before the answer", func(context.Context, func(llm.Delta, error) bool) { s.crash() })
	}
	return s.ends(text, llm.StopTools)
}

// ends returns an answer whose calls are made up, and counted, on request.
func (s *storm) ends(text string, why llm.StopReason) answerFunc {
	return func(ctx context.Context, yield func(llm.Delta, error) bool) {
		end(text, llm.End{Stop: why, Calls: s.calls()})(ctx, yield)
	}
}

func (s *storm) fires(name string, a answerFunc) answerFunc {
	return func(ctx context.Context, yield func(llm.Delta, error) bool) {
		s.fired[name]++
		a(ctx, yield)
	}
}

// crash ends the goroutine that runs the loop. Unlike in a real crash deferred
// functions run; those of the loop write nothing.
func (s *storm) crash() { runtime.Goexit() }

func (s *storm) calls() []llm.ToolCall {
	names := []string{"ok", "ok", "read", "stuck", "stuck", "deny", "comment", "fail", "crack", "cancelled", "late", "die", "unknown"}
	if s.rnd.IntN(6) == 0 {
		names = []string{"stuck"}
	}
	var out []llm.ToolCall
	for range 1 + s.rnd.IntN(4) {
		s.nextID++
		c := call(fmt.Sprint("call_", s.nextID), names[s.rnd.IntN(len(names))], `{"n":1}`)
		switch s.rnd.IntN(12) {
		case 0:
			s.fired["malformed call"]++
			c.Args = []string{"", "{", "[]", `"x"`, "null"}[s.rnd.IntN(5)]
		case 1:
			s.fired["malformed call"]++
			c.Args, c.Problem = "{}", "cut off"
		case 2:
			if len(out) > 0 {
				s.fired["id twice in an answer"]++
				c.ID = out[0].ID
			}
		case 3:
			s.fired["id of an earlier answer"]++
			c.ID = fmt.Sprint("call_", max(1, s.nextID-6))
		case 4:
			c.Name, c.ID = "bad name", ""
		}
		out = append(out, c)
	}
	return out
}

// tool returns a tool with one fault.
func (s *storm) tool(name string) toolFunc {
	return func(ctx context.Context, c tools.Call) (tools.Result, error) {
		c.Progress("working")
		switch name {
		case "deny":
			s.fired["denial"]++
			return tools.Result{ForModel: "declined", Denied: &tools.Denied{Tool: name}, Stop: true}, nil
		case "comment":
			s.fired["denial with comment"]++
			return tools.Result{ForModel: "declined: " + c.ID, Denied: &tools.Denied{Tool: name}}, nil
		case "fail":
			s.fired["tool error"]++
			return tools.Result{}, errors.New("no space left on device")
		case "crack":
			s.fired["tool panic"]++
			panic("index out of range")
		case "cancelled":
			s.fired["cancel in a tool"]++
			s.cancel()
			return tools.Result{}, ctx.Err()
		case "late":
			s.fired["cancel between calls"]++
			s.cancel()
			return tools.Result{ForModel: "done " + c.ID}, nil
		case "die":
			s.fired["crash in a tool"]++
			s.crash()
		case "stuck":
			return tools.Result{ForModel: "the same"}, nil
		}
		return tools.Result{ForModel: "done " + c.ID + strings.Repeat(" and on", s.rnd.IntN(300))}, nil
	}
}

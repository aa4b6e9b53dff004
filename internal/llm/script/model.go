package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

const (
	defaultChunk  = 24 // runes
	bytesPerToken = 3.8
)

// errStopped ends an answer whose caller stopped reading.
var errStopped = errors.New("the caller stopped reading")

// Model answers each request with the next turn of a script. Several goroutines may use
// it.
type Model struct {
	name   string
	script file

	mu   sync.Mutex
	next int // index of the next turn
}

var _ llm.Model = (*Model)(nil)

// Info implements llm.Model.
func (m *Model) Info() llm.Info {
	return llm.Info{Name: "script:" + m.name, ContextWindow: m.script.ContextWindow, Free: true, NoEffort: true}
}

// Stream implements llm.Model. Its errors are *llm.Error, or ctx's.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		t, err := m.choose(req)
		if err == nil {
			err = t.play(ctx, req, func(d llm.Delta) bool { return yield(d, nil) })
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(llm.Delta{}, err)
		}
	}
}

// choose returns the turn for req and advances to the one after it.
func (m *Model) choose(req llm.Request) (*turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range len(m.script.Turns) {
		if m.next == len(m.script.Turns) {
			if !m.script.Loop {
				break
			}
			m.next = 0
		}
		t := &m.script.Turns[m.next]
		m.next++
		if t.When.unmet(req) == "" {
			return t, m.check(t, req)
		}
	}
	return nil, m.fail(0, "the script has no turn left for this request; the last message is "+shown(lastText(req)))
}

// check compares req with what t expects.
func (m *Model) check(t *turn, req llm.Request) error {
	for i := range t.Expect {
		if unmet := t.Expect[i].unmet(req); unmet != "" {
			line := t.at.line
			if i < len(t.at.expect) {
				line = t.at.expect[i]
			}
			return m.fail(line, fmt.Sprintf("turn %d of the script expects %s", t.at.number, unmet))
		}
	}
	return nil
}

func (m *Model) fail(line int, message string) error {
	where := m.name
	if line > 0 {
		where = fmt.Sprintf("%s:%d", m.name, line)
	}
	return &llm.Error{Kind: llm.Refused, Message: where + ": " + message}
}

func lastText(req llm.Request) string {
	if n := len(req.Messages); n > 0 {
		return req.Messages[n-1].Text()
	}
	return ""
}

// play delivers the answer of t.
func (t *turn) play(ctx context.Context, req llm.Request, emit func(llm.Delta) bool) error {
	if err := wait(ctx, t.Delay); err != nil {
		return err
	}
	for _, d := range t.deltas() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !emit(d) {
			return errStopped
		}
		if err := wait(ctx, t.Pace); err != nil {
			return err
		}
	}
	if t.Error != nil {
		message := t.Error.Message
		if message == "" {
			message = "The script fails this request."
		}
		return &llm.Error{Kind: kinds[t.Error.Kind], Status: t.Error.Status, Message: message}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !emit(llm.Delta{End: t.end(req)}) {
		return errStopped
	}
	return nil
}

// deltas returns the steps of the answer before its end.
func (t *turn) deltas() []llm.Delta {
	var out []llm.Delta
	for _, piece := range pieces(t.Reasoning, t.Chunk) {
		out = append(out, llm.Delta{Reasoning: piece})
	}
	for _, piece := range pieces(t.Text, t.Chunk) {
		out = append(out, llm.Delta{Text: piece})
	}
	for _, c := range t.Calls {
		out = append(out, llm.Delta{Pending: &llm.Pending{Name: c.Tool, Bytes: len(c.args)}})
	}
	return out
}

func (t *turn) end(req llm.Request) *llm.End {
	end := &llm.End{Stop: stops[t.Stop]}
	for i, c := range t.Calls {
		tc := llm.ToolCall{
			// Unique in the conversation, even in a continued one.
			ID:   fmt.Sprintf("call_%d_%d", len(req.Messages), i),
			Name: c.Tool, Args: c.args,
		}
		if tc.Problem = t.problem(c); tc.Problem != "" {
			tc.Args = "{}"
		}
		end.Calls = append(end.Calls, tc)
	}
	switch {
	case end.Stop != "":
	case len(end.Calls) > 0:
		end.Stop = llm.StopTools
	default:
		end.Stop = llm.StopEnd
	}
	end.Usage = t.count(req)
	return end
}

// problem explains why a call cannot run, as a real provider does.
func (t *turn) problem(c call) string {
	if t.Stop == string(llm.StopLength) || t.Stop == string(llm.StopFilter) {
		return "your answer was cut off, so this call may be incomplete and was not run; send it again, in smaller pieces"
	}
	if !strings.HasPrefix(strings.TrimSpace(c.args), "{") || !json.Valid([]byte(c.args)) {
		return "the arguments are not one complete JSON object; send the whole call again"
	}
	return ""
}

// count returns the turn's usage, or an estimate from the sizes.
func (t *turn) count(req llm.Request) llm.Usage {
	if u := t.Usage; u != nil {
		return llm.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, CostUSD: u.CostUSD}
	}
	in := len(req.System)
	for _, m := range req.Messages {
		in += len(m.Text())
		for _, c := range m.Calls {
			in += len(c.Name) + len(c.Args)
		}
	}
	out := len(t.Text) + len(t.Reasoning)
	for _, c := range t.Calls {
		out += len(c.Tool) + len(c.args)
	}
	return llm.Usage{
		Input: int64(float64(in)/bytesPerToken) + 1, Output: int64(float64(out)/bytesPerToken) + 1, Estimated: true,
	}
}

// wait waits for a number of milliseconds, or returns ctx's error.
func wait(ctx context.Context, milliseconds int) error {
	if milliseconds <= 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pieces cuts s into pieces of n runes.
func pieces(s string, n int) []string {
	var out []string
	count, start := 0, 0
	for i := range s {
		if count == n {
			out = append(out, s[start:i])
			count, start = 0, i
		}
		count++
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

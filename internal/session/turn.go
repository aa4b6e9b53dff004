package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Marks that the loop puts in the place of what a model did not say.
const (
	markCancelled = "[interrupted by the user]"
	markBroken    = "[the answer broke off here]"
	markEmpty     = "(empty answer)"
	markNoAnswer  = "[no answer]"
)

// turn is the work on one prompt.
type turn struct {
	*Loop
	id     string
	rounds int // requests so far
	again  repeats
	shrunk int // requests that were made since one did not fit
}

// answer is what the model said to one request.
type answer struct {
	text, reasoning strings.Builder
	end             *llm.End // nil if the stream broke off
}

// run asks the model and runs its calls, until it makes none.
func (t *turn) run(ctx context.Context) (Stop, error) {
	for {
		if err := ctx.Err(); err != nil {
			return StopCancelled, err
		}
		if err := t.opt.Limits.check(t.rounds, t.used, t.unpriced); err != nil {
			return t.limited(err)
		}
		if t.rounds > 0 {
			t.deliverQueued(ctx)
		}
		system := t.opt.System(ctx)
		if made, err := t.makeRoom(ctx, system); err != nil {
			return t.broken(ctx, &answer{}, err)
		} else if made {
			system = t.opt.System(ctx) // the summary took its time
		}
		t.rounds++
		t.opt.Emit(RequestStarted{Round: t.rounds})
		a, err := t.ask(ctx, system)
		if err != nil {
			if err = t.recover(ctx, a, err); err == nil {
				continue
			}
			return t.broken(ctx, a, err)
		}
		t.shrunk = 0
		if more, stop, err := t.take(ctx, a); !more {
			return stop, err
		}
	}
}

// ask sends the conversation and receives the answer, showing it as it comes.
func (t *turn) ask(ctx context.Context, system string) (*answer, error) {
	req := llm.Request{System: system, Messages: t.chat.Sent(), Tools: t.opt.Tools.Specs()}
	t.room.meter.Frame(system, req.Tools)
	t.room.meter.Sends(t.weigh())
	a := &answer{}
	for d, err := range t.opt.Model.Stream(ctx, req) {
		if err != nil {
			return a, err
		}
		t.receive(a, d)
		if a.end != nil {
			return a, nil
		}
	}
	return a, &llm.Error{Kind: llm.Truncated, Message: "the answer ended before it was complete"}
}

func (t *turn) receive(a *answer, d llm.Delta) {
	switch {
	case d.End != nil:
		a.end = d.End
	case d.Text != "":
		a.text.WriteString(d.Text)
		t.opt.Emit(TextDelta{Text: d.Text})
	case d.Reasoning != "":
		a.reasoning.WriteString(d.Reasoning)
		t.opt.Emit(ReasoningDelta{Text: d.Reasoning})
	case d.Pending != nil:
		t.opt.Emit(CallPending{Pending: *d.Pending})
	case d.Retry != nil:
		t.opt.Emit(Retrying{Retry: *d.Retry})
	}
}

// broken ends the turn after a request that gave no whole answer. What came of
// it stays, marked; of calls nothing stays. Why it broke is the user's to know,
// not the model's.
func (t *turn) broken(ctx context.Context, a *answer, err error) (Stop, error) {
	stop, mark := StopFailed, markBroken
	if ctx.Err() != nil {
		stop, mark, err = StopCancelled, markCancelled, ctx.Err()
		if ended(ctx) {
			mark = history.CutShort
		}
	}
	if a.text.Len() > 0 {
		a.text.WriteString(" " + mark)
		t.append(history.Item{Message: a.message(nil)})
	}
	return stop, err
}

// take appends a whole answer and runs its calls. more is false if the turn
// ends with it.
func (t *turn) take(ctx context.Context, a *answer) (more bool, stop Stop, err error) {
	calls, dropped := t.chat.Admissible(a.end.Calls)
	if dropped > 0 {
		t.opt.Emit(Notice{Text: fmt.Sprintf("The model made %d call(s) twice; they run once.", dropped)})
	}
	if a.end.Stop == llm.StopLength || a.end.Stop == llm.StopFilter {
		refuseAll(calls, a.end.Stop)
	}
	if len(calls) == 0 && strings.TrimSpace(a.text.String()) == "" {
		t.opt.Emit(Notice{Text: "The model's answer was empty."})
		a.text.WriteString(markEmpty)
	}
	t.append(history.Item{Message: a.message(calls)})
	t.count(a.end.Usage)
	f := t.counted(a.end.Usage)
	t.opt.Emit(AnswerEnded{Usage: a.end.Usage, Total: t.used, Context: f.Context, Window: f.Window})
	if len(calls) > 0 {
		return t.runCalls(ctx, calls, a.text.String())
	}
	switch a.end.Stop {
	case llm.StopLength:
		stop, err = t.limited(&LimitError{"the answer was cut off by the model's limit of output tokens; say \"go on\", or raise the limit"})
		return false, stop, err
	case llm.StopFilter:
		return false, StopFailed, errors.New("the provider's content filter ended the answer; put the request in other words")
	}
	return false, StopDone, nil
}

// refuseAll marks the calls of an answer that was cut off: that their arguments
// look whole does not mean that they are.
func refuseAll(calls []llm.ToolCall, why llm.StopReason) {
	for i := range calls {
		if calls[i].Problem != "" {
			continue
		}
		calls[i].Problem = "the answer was cut off by the token limit; send less in one call"
		if why == llm.StopFilter {
			calls[i].Problem = "the answer was cut off by the provider's content filter"
		}
	}
}

// limited ends the turn at a limit.
func (t *turn) limited(err error) (Stop, error) {
	t.opt.Emit(Notice{Text: sentence(err)})
	return StopLimit, err
}

// deliverQueued gives the model what the user has typed meanwhile.
func (t *turn) deliverQueued(ctx context.Context) {
	queued := strings.Join(t.opt.Queued(), "\n\n")
	if strings.TrimSpace(queued) == "" {
		return
	}
	t.append(history.Item{Message: t.opt.Compose(ctx, queued)})
	t.again = repeats{}
	t.opt.Emit(Queued{Text: queued})
}

// closeCalls gives the calls that have no result yet the same one.
func (t *turn) closeCalls(why string) {
	t.disk.add(t.chat.Close(why)...)
	t.publish()
}

// count adds what a request has used.
func (l *talk) count(u llm.Usage) {
	l.used = l.used.Add(u)
	l.unpriced = u.CostUSD == 0 && u.Input+u.Output > 0 && !l.opt.Model.Info().Free
	l.disk.usage(u)
}

// message returns the answer as it is kept.
func (a *answer) message(calls []llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.Assistant, Calls: calls}
	if a.reasoning.Len() > 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.ReasoningPart, Text: history.Valid(a.reasoning.String())})
	}
	if a.text.Len() > 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: history.Valid(strings.Clone(a.text.String()))}) // kept: without the room it grew into
	}
	if a.end != nil {
		m.Extra = a.end.Extra
	}
	return m
}

// sentence returns err's message as a sentence of its own.
func sentence(err error) string {
	s := err.Error()
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/compact"
	"github.com/bb2d0cf4/agent/internal/session/meter"
)

// room is what a loop knows of the room in the model's context.
type room struct {
	meter meter.Meter
	tally meter.Tally
	kept  int64 // tokens in the context of a session that was resumed
	retry int   // messages that weigh no more than this cannot be made lighter
	fill  atomic.Pointer[meter.Fill]
}

// changed forgets what was counted: the next request does not continue the last.
func (r *room) changed() {
	r.meter.Begin()
	r.tally, r.retry, r.kept = meter.Tally{}, 0, 0
}

// counted is told what a provider has counted for the last request. It returns
// how full the context is.
func (l *talk) counted(u llm.Usage) meter.Fill {
	model := l.opt.Model.Info()
	if l.room.meter.Counted(model, u) {
		l.opt.Emit(Notice{Text: fmt.Sprintf("The server has dropped the beginning of the conversation: it seems to take about %d tokens. "+
			"From now on the conversation is compacted before that. Set its context_window, or let it take more.", l.room.meter.Window(model))})
	}
	l.room.kept = 0
	f := l.fill()
	f.Context = f.Used()
	if !u.Estimated {
		f.Context = u.Input + u.Output
	}
	l.room.fill.Store(&f)
	return f
}

// weigh is what the conversation weighs in a request, in bytes.
func (l *talk) weigh() int {
	l.room.tally.Take(l.chat.Sent(), l.chat.Compaction() != nil)
	return l.room.tally.Sum()
}

// fill weighs what is in the context.
func (l *talk) fill() meter.Fill {
	l.weigh()
	return l.room.meter.Fill(l.opt.Model.Info(), l.opt.Tools.Specs(), l.room.tally)
}

// Fill is what is in the model's context, as it was last told of. It may be called at any time, from any
// goroutine. The system prompt is not known before the first request.
func (l *Loop) Fill() meter.Fill { return *l.room.fill.Load() }

// filled says how full the context is.
func (l *talk) filled() {
	f := l.fill()
	switch {
	case len(l.chat.Items()) == 0:
	case l.room.kept > 0:
		f.Context = l.room.kept
	default:
		f.Context = f.Used()
	}
	l.room.fill.Store(&f)
	l.opt.Emit(Filled{Context: f.Context, Window: f.Window, Total: l.used})
}

// errNoGain says that a compaction would gain nothing.
var errNoGain = errors.New("there is too little to compact yet")

// squeeze is how hard a conversation is compacted.
type squeeze struct {
	share   float64 // of the room, that the conversation may take afterwards
	tight   bool    // see compact.Room
	running bool
	matters string // what the user wants kept
	model   bool   // the model writes the summary
}

// makeRoom compacts the conversation if the next request would come near the
// limit of the model.
func (t *turn) makeRoom(ctx context.Context, system string) (made bool, err error) {
	r := &t.room
	r.meter.Frame(system, t.opt.Tools.Specs())
	window := r.meter.Window(t.opt.Model.Info())
	if window == 0 || t.opt.CompactAt == 0 {
		return false, nil
	}
	weight := t.weigh()
	if r.meter.Request(weight)*100 <= window*int64(t.opt.CompactAt) || weight <= r.retry {
		return false, nil
	}
	err = t.squeeze(ctx, squeeze{share: 0.5, running: true, model: true})
	r.retry = t.weigh() + r.meter.Bytes(window)/20
	if errors.Is(err, errNoGain) {
		return false, nil // the request is tried as it is
	}
	return err == nil, err
}

// maxShrinks is how many requests may follow one that did not fit before the
// turn ends: the summary counts as one.
const maxShrinks = 2

// recover makes the conversation smaller after a request that did not fit, or
// returns the error that ends the turn.
func (t *turn) recover(ctx context.Context, a *answer, err error) error {
	e := unfit(err)
	if e == nil || a.text.Len() > 0 || ctx.Err() != nil {
		return err
	}
	exact := t.room.meter.TooLong(t.opt.Model.Info(), e)
	var hard squeeze
	switch {
	case t.shrunk == 0 && exact:
		hard = squeeze{share: 0.4, running: true, model: true}
		t.shrunk = maxShrinks
	case t.shrunk == 0:
		hard = squeeze{share: 0.3, running: true}
		t.shrunk = 1
	case t.shrunk == 1:
		hard = squeeze{share: 0.12, running: true, tight: true}
		t.shrunk = maxShrinks
	default:
		return tooLong(e, "not even after it was compacted")
	}
	if err := t.squeeze(ctx, hard); errors.Is(err, errNoGain) {
		return tooLong(e, "and nothing of it can be left out")
	} else if err != nil {
		return err
	}
	return nil
}

func tooLong(e *llm.Error, what string) error {
	return &llm.Error{Kind: llm.TooLong, Status: e.Status, Err: e, Message: "The conversation does not fit the model, " + what +
		": shorten the prompt, begin anew with /clear, or choose a model with a larger context with /model. The server said: " + e.Message}
}

// squeeze compacts the conversation. Its errors are errNoGain and ctx's.
func (l *talk) squeeze(ctx context.Context, s squeeze) error {
	before := l.fill().Used()
	plan, ok := l.plan(s)
	if !ok {
		return errNoGain
	}
	l.opt.Emit(Compacting{})
	summary := ""
	if s.model {
		var err error
		summary, err = l.summarise(ctx, plan.Request(s.matters, l.summaryBytes()))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e := unfit(err); e != nil {
			l.room.meter.TooLong(l.opt.Model.Info(), e)
			plan, _ = l.plan(s) // in what is really there
		}
		if err != nil {
			l.opt.Emit(Notice{Text: "The model wrote no summary (" + err.Error() + "). What was asked and answered stands in its place, cut short."})
		}
	}
	if summary == "" {
		summary = plan.Digest()
	}
	whole := ""
	if plan.Shortens() {
		whole = l.keepWhole()
	}
	l.disk.add(l.chat.Compact(plan.Compose(summary, whole)))
	l.room.changed()
	l.filled()
	if s.running {
		l.opt.Emit(Notice{Text: fmt.Sprintf("The conversation was compacted, from about %d to %d tokens. /compact show shows the summary.", before, l.fill().Used())})
	}
	return nil
}

// keepWhole keeps what a compaction shortens where the model can read it, and
// returns the file; empty if there is none.
func (l *talk) keepWhole() string {
	if l.opt.Keep == nil {
		return ""
	}
	file, err := l.opt.Keep(l.id, compact.Whole(l.chat.Items()))
	if err != nil {
		l.opt.Emit(Notice{Text: "What does not fit into the compaction could not be kept for the model (" + err.Error() + "): it has the shortened form only."})
		return ""
	}
	return file
}

// keepAgain keeps what the compaction in force shortens, where the session is
// continued: the file of before may be gone, or be another session's.
func (l *talk) keepAgain() {
	c := l.chat.Compaction()
	if c == nil || c.Whole == "" {
		return
	}
	if file := l.keepWhole(); file != c.Whole {
		l.disk.add(l.chat.Compact(compact.Moved(*c, file)))
	}
}

func (l *talk) plan(s squeeze) (compact.Plan, bool) {
	return compact.New(l.chat.Items(), l.chat.Compaction(), compact.Room{
		Total: max(int(float64(l.most())*s.share), 1200), Most: l.most(), Running: s.running, Tight: s.tight,
	})
}

// most is how many bytes of the conversation fit.
func (l *talk) most() int {
	room := l.weigh()
	if w := l.room.meter.Window(l.opt.Model.Info()); w > 0 {
		at := int64(l.opt.CompactAt)
		if at == 0 {
			at = 90
		}
		room = min(room, l.room.meter.Room(w*at/100))
	}
	return room
}

// summaryBytes is what a request for a summary may weigh.
func (l *talk) summaryBytes() int {
	bytes := 200 << 10
	if w := l.room.meter.Window(l.opt.Model.Info()); w > 0 {
		bytes = min(bytes, l.room.meter.Bytes(w)*6/10)
	}
	return bytes
}

// summarise lets the model write a summary.
func (l *talk) summarise(ctx context.Context, req llm.Request) (string, error) {
	l.room.meter.Apart(len(req.System) + len(req.Messages[0].Text()))
	var b strings.Builder
	for d, err := range l.opt.Model.Stream(ctx, req) {
		switch {
		case err != nil:
			return "", err
		case d.Retry != nil:
			l.opt.Emit(Retrying{Retry: *d.Retry})
		case d.End != nil:
			l.count(d.End.Usage)
			if s := strings.TrimSpace(b.String()); s != "" && d.End.Stop != llm.StopFilter {
				return s, nil
			}
			return "", errors.New("its answer was empty")
		}
		b.WriteString(d.Text)
	}
	return "", errors.New("its answer broke off")
}

// unfit returns err if it says that a request did not fit, else nil.
func unfit(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.TooLong {
		return e
	}
	return nil
}

// Compact compacts the conversation now and returns what came of it. matters is
// what the user wants kept; it may be empty.
func (l *Loop) Compact(ctx context.Context, matters string) error {
	err := l.squeeze(ctx, squeeze{share: 0.3, matters: matters, model: true})
	l.settle()
	return err
}

// Summary is the summary that stands for what was compacted; empty if nothing was.
func (l *Loop) Summary() string {
	if c := l.chat.Compaction(); c != nil {
		return c.Summary
	}
	return ""
}

// Compacted is the text that the model is told in the place of what was compacted:
// the summary, and what is kept word for word; empty if nothing was.
func (l *Loop) Compacted() string {
	if c := l.chat.Compaction(); c != nil {
		return c.Text
	}
	return ""
}

// SetSummary puts the user's own text in the place of the summary.
func (l *Loop) SetSummary(text string) error {
	c := l.chat.Compaction()
	if c == nil {
		return errors.New("nothing was compacted yet: there is no summary")
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("an empty summary was not taken")
	}
	l.disk.add(l.chat.Compact(compact.Rewrite(*c, text)))
	l.settle()
	l.room.changed()
	l.filled()
	return nil
}

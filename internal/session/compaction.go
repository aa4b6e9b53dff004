package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/compact"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// errNoGain is returned by compact if a compaction would gain nothing.
var errNoGain = errors.New("there is too little to compact yet")

// compaction configures how the conversation is compacted.
type compaction struct {
	share   float64 // of the available room, for the compacted conversation
	tight   bool    // see compact.Room
	running bool    // a turn is running: see compact.Room
	matters string  // the user's wishes for the summary
	ask     int     // the model writes the summary, in at most as many requests; zero: it does not
}

// mostNotes is the number of requests for a summary if the conversation is longer than the
// model's context.
const mostNotes = 4

// makeRoom compacts the conversation if the next request would come near the model's
// limit, and reports whether it did.
func (t *turn) makeRoom(ctx context.Context, system string) (compacted bool, err error) {
	l := t.loop
	if !l.room.crowded(system, l.load(), l.opt.CompactAt) {
		return false, nil
	}
	c := compaction{share: 0.5, running: true, ask: mostNotes}
	if !l.shorten(c) {
		err = l.compact(ctx, c)
	}
	l.room.setFloor(l.load())
	if errors.Is(err, errNoGain) {
		return false, nil // send the request as it is
	}
	return err == nil, err
}

// maxShrinks is how many requests may follow a request that did not fit before the turn
// ends. A request for a summary counts.
const maxShrinks = 2

// recover compacts the conversation after a request that did not fit, or returns the
// error that ends the turn.
func (t *turn) recover(ctx context.Context, a *answer, err error) error {
	e := asTooLong(err)
	switch {
	case e == nil || ctx.Err() != nil:
		return err
	case a.text.Len() > 0:
		return tooLong(e, ", and its answer broke off")
	}
	exact := t.loop.room.meter.TooLong(t.loop.opt.Model.Info(), e)
	var c compaction
	switch {
	case t.shrunk == 0 && exact:
		c = compaction{share: 0.4, running: true, ask: 1}
		t.shrunk = maxShrinks
	case t.shrunk == 0:
		c = compaction{share: 0.3, running: true}
		t.shrunk = 1
	case t.shrunk == 1:
		c = compaction{share: 0.12, running: true, tight: true}
		t.shrunk = maxShrinks
	default:
		return tooLong(e, ", even after it was compacted")
	}
	if !c.tight && t.loop.shorten(c) {
		t.shrunk = 1
		return nil
	}
	if err := t.loop.compact(ctx, c); errors.Is(err, errNoGain) {
		return tooLong(e, " and cannot be shortened further")
	} else if err != nil {
		return err
	}
	return nil
}

func tooLong(e *llm.Error, detail string) error {
	return &llm.Error{Kind: llm.TooLong, Status: e.Status, Err: e, Message: "The conversation is too long for this model" + detail +
		". Shorten the prompt, start over with /clear, or choose a model with a larger context with /model. The server said: " + e.Message}
}

// compact compacts the conversation. Its errors are errNoGain and ctx's.
func (l *Loop) compact(ctx context.Context, c compaction) error {
	before := l.room.fill(l.load()).Used()
	plan, ok := l.plan(c)
	if !ok {
		return errNoGain
	}
	l.opt.Emit(Compacting{})
	summary := ""
	if c.ask > 0 {
		var err error
		summary, err = l.summarize(ctx, &plan, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e := asTooLong(err); e != nil {
			l.room.meter.TooLong(l.opt.Model.Info(), e)
			plan, _ = l.plan(c) // now that the window is known
		}
		if err != nil {
			l.opt.Emit(Notice{Text: "The model wrote no summary (" + err.Error() + "), so shortened prompts and answers are used instead."})
		}
	}
	if summary == "" {
		summary = plan.Digest()
	}
	done := plan.Finish(summary, "")
	if plan.Shortens() {
		done = compact.WithFullFile(done, l.saveFull(done))
	}
	after := l.enforce(done)
	if c.running {
		note := fmt.Sprintf("The conversation was compacted, from about %d to %d tokens.", before, after)
		if l.opt.Store != nil { // else it is that of a sub-agent, which has no commands
			note += " /compact show shows the summary."
		}
		l.opt.Emit(Notice{Text: note})
	}
	return nil
}

// shorten cuts the results of older rounds, and reports whether that makes enough room
// without a summary.
func (l *Loop) shorten(c compaction) bool {
	cut, ok := compact.Shorten(l.chat.Items(), l.chat.Compaction(), l.roomFor(c))
	if !ok {
		return false
	}
	before := l.room.fill(l.load()).Used()
	l.opt.Emit(Compacting{})
	after := l.enforce(compact.WithFullFile(cut, l.saveFull(cut)))
	l.opt.Emit(Notice{Text: fmt.Sprintf("Old results of tools were shortened to make room, from about %d to %d tokens; the session keeps them whole.", before, after)})
	return true
}

// enforce puts c in force and returns the estimated tokens of the conversation.
func (l *Loop) enforce(c history.Compaction) (tokens int64) {
	l.saver.add(l.chat.Compact(c))
	l.publish()
	l.room.reset()
	l.emitFilled()
	return l.room.fill(l.load()).Used()
}

// saveFull saves the full text of the parts that c shortens for the model, and returns
// the file's path; empty if the text was not saved.
func (l *Loop) saveFull(c history.Compaction) string {
	if l.opt.SaveFull == nil {
		return ""
	}
	file, err := l.opt.SaveFull(l.id, compact.FullText(l.chat.Items(), c))
	if err != nil {
		l.opt.Emit(Notice{Text: "The full text of what the compaction shortens could not be saved (" + err.Error() + "); the model only has the shortened form."})
		return ""
	}
	return file
}

// resaveFull saves the full text for the compaction in force again when a session is
// continued: the previous file may be gone, or belong to another session.
func (l *Loop) resaveFull() {
	c := l.chat.Compaction()
	if c == nil || c.FullFile == "" {
		return
	}
	if file := l.saveFull(*c); file != c.FullFile {
		l.saver.add(l.chat.Compact(compact.WithFullFile(*c, file)))
		l.publish()
	}
}

func (l *Loop) plan(c compaction) (compact.Plan, bool) {
	return compact.New(l.chat.Items(), l.chat.Compaction(), l.roomFor(c))
}

// roomFor returns the room that c leaves to the conversation.
func (l *Loop) roomFor(c compaction) compact.Room {
	capacity := l.room.capacity(l.load(), l.opt.CompactAt)
	return compact.Room{
		Total: max(int(float64(capacity)*c.share), 1200), Capacity: capacity, Running: c.running, Tight: c.tight,
		Window: l.room.window(l.load()),
	}
}

// summarize asks the model for a summary, piece by piece of a long conversation.
func (l *Loop) summarize(ctx context.Context, plan *compact.Plan, c compaction) (string, error) {
	notes, summary := plan.Notes(c.matters, l.room.summaryRequest(l.load()), c.ask), plan.Before
	set, low := l.summaryEffort()
	for i := range notes.Len() {
		req := notes.Request(i, summary)
		req.Effort = low
		text, err := l.takeNotes(ctx, req)
		var refused *llm.Error
		if low != set && errors.As(err, &refused) && refused.Kind == llm.Refused {
			low, req.Effort = set, set // the model does not know that level
			text, err = l.takeNotes(ctx, req)
		}
		if err != nil {
			return "", err
		}
		summary = text
	}
	return summary, nil
}

// summaryEffort returns the effort in force and the one for a summary: a summary is no
// reason to think for long, but a level that nobody has set may not be known to the model.
func (l *Loop) summaryEffort() (set, low string) {
	info := l.opt.Model.Info()
	set = cmp.Or(l.opt.Effort(), info.Effort)
	switch {
	case info.NoEffort:
		return "", ""
	case slices.Contains([]string{"medium", "high", "xhigh", "max"}, set):
		return set, "low"
	}
	return set, set
}

// takeNotes sends a request for a summary.
func (l *Loop) takeNotes(ctx context.Context, req llm.Request) (string, error) {
	l.room.meter.SendOther(len(req.System) + len(req.Messages[0].Text()))
	var b strings.Builder
	for d, err := range l.opt.Model.Stream(ctx, req) {
		switch {
		case err != nil:
			return "", err
		case d.Retry != nil:
			b.Reset()
			l.opt.Emit(Retrying{Retry: *d.Retry})
		case d.End != nil:
			l.addUsage(ctx, d.End.Usage)
			if s := strings.TrimSpace(b.String()); s != "" && d.End.Stop != llm.StopFilter {
				return s, nil
			}
			return "", errors.New("its answer was empty")
		}
		b.WriteString(d.Text)
	}
	return "", errors.New("its answer broke off")
}

// asTooLong returns err as an *llm.Error if it means that a request did not fit,
// else nil.
func asTooLong(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.TooLong {
		return e
	}
	return nil
}

// Compact compacts the conversation now. matters are the user's wishes for the summary;
// it may be empty.
func (l *Loop) Compact(ctx context.Context, matters string) error {
	err := l.compact(ctx, compaction{share: 0.3, matters: matters, ask: mostNotes})
	l.sync()
	return err
}

// Summary returns the summary of the compacted messages; empty if nothing was
// compacted.
func (l *Loop) Summary() string {
	if c := l.chat.Compaction(); c != nil {
		return c.Summary
	}
	return ""
}

// Compacted returns the text that replaces the compacted messages for the model: the
// summary and the parts kept word for word; empty if nothing was compacted.
func (l *Loop) Compacted() string {
	if c := l.chat.Compaction(); c != nil {
		return c.Text
	}
	return ""
}

// SetSummary replaces the summary by the user's own text.
func (l *Loop) SetSummary(text string) error {
	c := l.chat.Compaction()
	if !c.Replaces() {
		return errors.New("there is no summary: no messages were replaced by one yet")
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("the new summary is empty; the old one stays")
	}
	l.saver.add(l.chat.Compact(compact.WithSummary(*c, text)))
	l.publish()
	l.sync()
	l.room.reset()
	l.emitFilled()
	return nil
}

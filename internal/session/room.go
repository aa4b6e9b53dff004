package session

import (
	"sync/atomic"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/session/meter"
)

// room counts how much of the model's context a conversation fills, and how much is
// left. It belongs to the goroutine of its Loop, except latest.
type room struct {
	meter   meter.Meter
	tally   meter.Tally
	resumed int64 // tokens in the context of a resumed session, until something is counted
	floor   int   // bytes; compacting a conversation of this weight gains nothing
	latest  atomic.Pointer[meter.Fill]
}

// load is the content of a request: the conversation and the tools, with the model that
// gets it.
type load struct {
	model llm.Info
	tools []llm.ToolSpec
	chat  *history.Transcript
}

// load returns the content of the next request.
func (l *Loop) load() load {
	return load{model: l.opt.Model.Info(), tools: l.opt.Tools.Specs(), chat: l.chat}
}

// reset drops the counts; the next request does not extend the previous one.
func (r *room) reset() {
	r.meter.Restart()
	r.tally, r.floor, r.resumed = meter.Tally{}, 0, 0
}

// resume begins to count a saved conversation that filled the context with tokens.
func (r *room) resume(tokens int64) {
	r.reset()
	r.resumed = tokens
}

// weigh returns the size of the conversation in a request, in bytes.
func (r *room) weigh(l load) int {
	r.tally.Add(l.chat.Sent(), l.chat.Compaction().Replaces())
	return r.tally.Sum(l.model)
}

// fill estimates the content of the context.
func (r *room) fill(l load) meter.Fill {
	r.weigh(l)
	return r.meter.Fill(l.model, l.tools, r.tally)
}

// estimate publishes how full the context is without a count of the provider.
func (r *room) estimate(l load) meter.Fill {
	f := r.fill(l)
	switch {
	case len(l.chat.Items()) == 0:
	case r.resumed > 0:
		f.Context = r.resumed
	default:
		f.Context = f.Used()
	}
	r.latest.Store(&f)
	return f
}

// count takes the provider's count for the last request and publishes how full the
// context is. cut reports whether the server dropped a part of the request silently.
func (r *room) count(l load, u llm.Usage) (f meter.Fill, cut bool) {
	cut = r.meter.Count(l.model, u)
	r.resumed = 0
	f = r.fill(l)
	f.Context = f.Used()
	if !u.Estimated {
		f.Context = u.Input + u.Output
	}
	r.latest.Store(&f)
	return f, cut
}

// sending notes the request that is about to be sent.
func (r *room) sending(system string, l load) {
	r.meter.Frame(system, l.tools)
	r.meter.Send(r.weigh(l))
}

// crowded reports whether a request with the system prompt would fill more than
// percent of the window, and compacting could help.
func (r *room) crowded(system string, l load, percent int) bool {
	r.meter.Frame(system, l.tools)
	window := r.meter.Window(l.model)
	if window == 0 || percent == 0 {
		return false
	}
	weight := r.weigh(l)
	return r.meter.Request(weight)*100 > window*int64(percent) && weight > r.floor
}

// setFloor keeps a conversation from being compacted again before it has grown by
// a twentieth of the window.
func (r *room) setFloor(l load) {
	r.floor = r.weigh(l) + r.meter.Bytes(r.meter.Window(l.model))/20
}

// capacity returns how many bytes of the conversation fit if it may fill percent of
// the window; zero means 90 percent.
func (r *room) capacity(l load, percent int) int {
	bytes := r.weigh(l)
	if w := r.meter.Window(l.model); w > 0 {
		if percent == 0 {
			percent = 90
		}
		bytes = min(bytes, r.meter.Room(w*int64(percent)/100))
	}
	return bytes
}

// window returns the size of the model's context in bytes; zero if unknown.
func (r *room) window(l load) int {
	if w := r.meter.Window(l.model); w > 0 {
		return r.meter.Bytes(w)
	}
	return 0
}

// summaryRequest returns how many bytes a request for a summary may have: a fifth of the
// window is for the answer, and a tenth of the rest for errors of the estimate.
func (r *room) summaryRequest(l load) int {
	if w := r.meter.Window(l.model); w > 0 {
		return r.meter.Bytes(w-w/5) * 9 / 10
	}
	return 200 << 10
}

// Fill returns the content of the model's context, as of the last event about it. Any
// goroutine may call it at any time. The size of the system prompt is unknown before
// the first request.
func (l *Loop) Fill() meter.Fill { return *l.room.latest.Load() }

// emitFilled publishes and emits how full the context is.
func (l *Loop) emitFilled() {
	f := l.room.estimate(l.load())
	l.account.tell(func(total llm.Usage) { l.opt.Emit(Filled{Context: f.Context, Window: f.Window, Total: total}) })
}

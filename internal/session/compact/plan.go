package compact

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/session/meter"
)

// Room is the room for the compacted conversation.
type Room struct {
	Total    int  // bytes for the compacted conversation
	Capacity int  // bytes that fit at all; zero means Total
	Window   int  // bytes of the model's context; zero if unknown
	Running  bool // the newest prompt is being answered: keep its last round
	Tight    bool // keep only that, with its results cut short
}

// The sizes of the parts of the text, in bytes: a share of the room, but a useful
// minimum. The user's words count most: they may take half of the room.
func (r Room) ledger() int { return max(r.Total/3, 1000) }
func (r Room) words() int  { return max(r.Total/2, r.Capacity/2, 2000) }

// summary is at most 8,000 bytes, or the fortieth part of a large context: the model has
// more to remember there.
func (r Room) summary() int {
	share := max(r.Total/5, 400)
	return min(share, max(8000, r.Window/40))
}

// tightClip is the size of a result if there is very little room, minClip the minimum
// size of a result otherwise, in bytes.
const (
	tightClip = 240
	minClip   = 600
)

// leastGain is the minimum to remove, in bytes: the replacing text takes some room
// itself.
const leastGain = 1000

// Plan is a compaction without its summary.
type Plan struct {
	Gone   []history.Item // the messages to summarize
	Before string         // the summary in force, to be continued
	room   Room
	from   int // the number of the first message that stays
	last   int
	clip   int
	keeps  verbatim
}

// New plans a compaction of items; inForce is the compaction in force, or nil. It
// returns false if nothing can be gained.
func New(items []history.Item, inForce *history.Compaction, room Room) (Plan, bool) {
	if len(items) == 0 {
		return Plan{}, false
	}
	p := Plan{room: room, last: items[len(items)-1].N}
	start := 0
	if inForce != nil {
		start, p.Before = history.At(items, inForce.Before), inForce.Summary
	}
	latest := len(items)
	if room.Running {
		latest = lastRound(items)
	}
	p.keeps = room.verbatim(items[:latest], currentPrompt(items, latest, room.Running))
	i := latest
	if !room.Tight {
		i = cut(items, start, latest, room.Total-p.headSize())
	}
	p.Gone, p.from = items[min(start, i):i], p.last+1
	if i < len(items) {
		p.from = items[i].N
	}
	prompt := currentPrompt(items, i, room.Running)
	p.keeps = room.verbatim(items[:i], prompt)
	if p.clip = p.clipFor(items[i:], room.Total-p.headSize()); p.clip > 0 {
		p.keeps = room.verbatim(items[:i], prompt, deedsOf(wordless(items[i:], p.clipping(p.clip)))...)
	}
	return p, p.gains(inForce)
}

// clipping returns the compaction that does nothing but cut results to clip bytes.
func (p *Plan) clipping(clip int) *history.Compaction {
	return &history.Compaction{Last: p.last, Clip: clip}
}

// gains reports whether the plan is worth it: it removes messages, cuts results
// shorter, or shortens the replacing text.
func (p *Plan) gains(inForce *history.Compaction) bool {
	gone := 0
	for _, it := range p.Gone {
		gone += meter.Size(it.Message)
	}
	switch {
	case gone > leastGain:
		return true
	case inForce == nil:
		return p.clip > 0
	}
	return p.clip > 0 && (inForce.Clip == 0 || p.clip < inForce.Clip || p.last > inForce.Last) ||
		len(inForce.Text) > p.headSize()+leastGain
}

// headSize returns the size of everything before the messages that stay, in about
// bytes.
func (p *Plan) headSize() int {
	return p.keeps.size() + p.room.summary() + len(opening) + len(endOfSummary) + 200
}

// lastRound returns the index of the beginning of a turn's newest round: its prompt, or
// the newest answer with its results and text typed in between.
func lastRound(items []history.Item) int {
	i := len(items) - 1
	for i > 0 && items[i].Message.Role == llm.User && items[i].Turn == "" && items[i-1].Message.Role == llm.ToolReply {
		i--
	}
	for i > 0 && items[i].Message.Role == llm.ToolReply {
		i--
	}
	return i
}

// cut returns the first index between start and latest from which the items weigh at
// most room bytes and at which a request may begin. It prefers a prompt, unless that
// loses much more than necessary.
func cut(items []history.Item, start, latest, room int) int {
	weigh, first, prompt, atPrompt := 0, latest, -1, 0
	for i := len(items) - 1; i > start; i-- {
		weigh += meter.Size(items[i].Message)
		if weigh > room {
			break
		}
		if i > latest || items[i].Message.Role == llm.ToolReply {
			continue
		}
		first = i
		if items[i].Message.Role == llm.User {
			prompt, atPrompt = i, weigh
		}
	}
	if prompt >= 0 && atPrompt*2 >= min(weigh, room) {
		return prompt
	}
	return first
}

// clipFor returns the size to cut the results of items to, so that they weigh at most
// bytes; zero if they need no cut, or if no result is longer.
func (p *Plan) clipFor(items []history.Item, bytes int) int {
	clip := tightClip
	if !p.room.Tight {
		clip = fitting(items, bytes)
	}
	if slices.ContainsFunc(items, p.clipping(clip).Cuts) {
		return clip
	}
	return 0
}

// fitting returns the largest size of results with which items weigh at most bytes.
func fitting(items []history.Item, bytes int) int {
	fits := func(clip int) bool {
		n := 0
		for _, it := range items {
			size := meter.Size(it.Message)
			if clip > 0 && it.Message.Role == llm.ToolReply {
				size = min(size, clip+history.ResultNote)
			}
			n += size
		}
		return n <= bytes
	}
	if fits(0) {
		return 0
	}
	clip := 64 << 10
	for clip > minClip && !fits(clip) {
		clip = max(clip*3/4, minClip)
	}
	return clip
}

// currentPrompt returns the prompt that is being answered and text typed since, as far
// as a cut at index i removes them.
func currentPrompt(items []history.Item, i int, running bool) string {
	if !running {
		return ""
	}
	var said []string
	for j := len(items) - 1; j >= 0; j-- {
		m := items[j].Message
		if !items[j].Prompts() {
			continue
		}
		if j < i {
			said = append([]string{m.UserText()}, said...)
		}
		if j == 0 || items[j-1].Message.Role != llm.ToolReply || items[j].Turn != "" {
			break
		}
	}
	return strings.Join(said, "\n\n(and, typed while you worked:)\n\n")
}

// Package compact makes room in a model's context. It decides which messages of
// a conversation stay as they are, and writes the text that stands for the
// others. It guarantees that this text holds the list of what was changed, run
// and refused, the pinned messages and the prompt at hand word for word; none of
// that is ever left to a model. What does not fit is marked, and the text says in
// which file it is whole.
package compact

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/session/meter"
)

// Room says how much there is.
type Room struct {
	Total    int  // bytes that the conversation may weigh afterwards
	Capacity int  // bytes that fit at all; zero: as Total
	Running  bool // the newest prompt is being answered: its last round stays
	Tight    bool // nothing stays but that, and its results are cut short
}

// What each part of the text may take, in bytes: a share of all that there is
// room for, but never less than is of use.
// What the user said counts more than that: it may take half of all that fits.
func (r Room) ledger() int  { return max(r.Total/3, 1000) }
func (r Room) words() int   { return max(r.Total/2, r.Capacity/2, 2000) }
func (r Room) summary() int { return min(max(r.Total/5, 400), 8000) }

// tightClip is what stays of a result where there is hardly any room, minClip
// the least that a result is cut to elsewhere, in bytes.
const (
	tightClip = 240
	minClip   = 600
)

// leastGain is what has to go at least, in bytes: the text that stands for it
// takes some room itself.
const leastGain = 1000

// Plan is a compaction whose summary is not written yet.
type Plan struct {
	Gone   []history.Item // what the summary is about
	Before string         // the summary in force, which goes on in the new one
	room   Room
	from   int // the number of the first message that stays
	last   int
	clip   int
	keeps  exact
}

// New plans a compaction of items, where inForce, if not nil, is in force. It
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
	p.keeps = room.exact(items[:latest], atHand(items, latest, room.Running))
	i := latest
	if !room.Tight {
		i = cut(items, start, latest, room.Total-p.head())
	}
	p.Gone, p.from = items[min(start, i):i], p.last+1
	if i < len(items) {
		p.from = items[i].N
	}
	prompt := atHand(items, i, room.Running)
	p.keeps = room.exact(items[:i], prompt)
	if p.clip = clipFor(items[i:], room, room.Total-p.head()); p.clip > 0 {
		p.keeps = room.exact(items[:i], prompt, cutOff(items[i:], p.clip)...)
	}
	return p, p.gains(inForce)
}

// cutOff returns what was done in those of items whose results, cut to clip bytes,
// no longer have all that was said of it.
func cutOff(items []history.Item, clip int) []history.Deed {
	var cut []history.Item
	for _, it := range items {
		if it.Message.Role != llm.ToolReply {
			continue
		}
		left := history.Clip(it.Message.Text(), clip)
		if it.Did != nil && !strings.Contains(left, it.Did.Words) {
			cut = append(cut, it)
		}
	}
	return deedsOf(cut)
}

// gains says whether the plan is worth it: it takes something away, cuts results
// shorter, or says what is gone in fewer words.
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
		len(inForce.Text) > p.head()+leastGain
}

// head is what stands before the messages that stay, in bytes about.
func (p *Plan) head() int {
	return p.keeps.size() + p.room.summary() + len(opening) + len(endOfSummary) + 200
}

// lastRound returns the index at which the newest round of a turn begins: its
// prompt, or the newest answer with its results and what was typed meanwhile.
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

// cut returns the first index from which on the items weigh at most room bytes:
// one between start and latest at which a request may go on. That is a prompt
// if not much more than necessary is lost by it.
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

// clipFor returns what the results among items are to be cut to so that they
// weigh at most bytes; zero if they do as they are, or none is longer.
func clipFor(items []history.Item, room Room, bytes int) int {
	clip := tightClip
	if !room.Tight {
		clip = fitting(items, bytes)
	}
	for _, it := range items {
		if it.Message.Role == llm.ToolReply && len(it.Message.Text()) > clip+clipNote {
			return clip
		}
	}
	return 0
}

// clipNote is what stands in the place of what was cut out, in bytes about.
const clipNote = 60

// fitting returns the largest cut of results with which items weigh at most bytes.
func fitting(items []history.Item, bytes int) int {
	fits := func(clip int) bool {
		n := 0
		for _, it := range items {
			size := meter.Size(it.Message)
			if clip > 0 && it.Message.Role == llm.ToolReply {
				size = min(size, clip+clipNote+40)
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

// atHand returns the prompt that is being answered, with what was typed since, as
// far as the cut at index i takes it away.
func atHand(items []history.Item, i int, running bool) string {
	if !running {
		return ""
	}
	var said []string
	for j := len(items) - 1; j >= 0; j-- {
		m := items[j].Message
		if m.Role != llm.User {
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

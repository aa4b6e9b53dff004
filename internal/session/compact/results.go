package compact

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/session/meter"
)

// resultClip is the size to which Shorten cuts results, in bytes.
const resultClip = 1200

// Shorten cuts the results of a running turn's older rounds and of the turns before it to
// their head and tail. All other messages stay, so no summary is needed. It returns false
// if that does not make enough room, or loses the user's words. FullText holds the cut parts.
func Shorten(items []history.Item, inForce *history.Compaction, room Room) (history.Compaction, bool) {
	if len(items) == 0 {
		return history.Compaction{}, false
	}
	c := history.Compaction{Before: items[0].N}
	if inForce != nil {
		c = *inForce
	}
	start := history.At(items, c.Before)
	old := cut(items, start, lastRound(items), room.Total/2)
	if old <= start {
		return history.Compaction{}, false
	}
	if last := items[old-1].N; c.Clip == 0 {
		c.Last, c.Clip = last, resultClip
	} else {
		c.Last, c.Clip = max(c.Last, last), min(c.Clip, resultClip)
	}
	before, after := weight(items[start:], inForce), weight(items[start:], &c)
	enough := after <= room.Total && before-after > leastGain
	return c, enough && len(wordless(items[start:], &c)) == len(wordless(items[start:], inForce))
}

// weight returns the size of items in a request, with c in force, in bytes.
func weight(items []history.Item, c *history.Compaction) int {
	n := 0
	if c.Replaces() {
		n = len(c.Text)
	}
	for _, it := range items {
		n += meter.Size(c.Message(it))
	}
	return n
}

// wordless returns the results that, as sent with c in force, do not have the user's words.
func wordless(items []history.Item, c *history.Compaction) []history.Item {
	var without []history.Item
	for _, it := range items {
		if it.Deed != nil && !strings.Contains(c.Message(it).Text(), it.Deed.Words) {
			without = append(without, it)
		}
	}
	return without
}

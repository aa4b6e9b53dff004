package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// understood is said between a compaction and a prompt: two messages of the
// user in a row are more than many models take.
const understood = "Understood."

// Compaction returns the compaction in force; nil if there is none.
func (t *Transcript) Compaction() *Compaction {
	if len(t.made) == 0 {
		return nil
	}
	return &t.made[len(t.made)-1]
}

// Compact puts c in force. Nothing that was said is lost: only what is sent
// changes.
func (t *Transcript) Compact(c Compaction) Entry {
	t.made = append(t.made, c)
	t.sent = view(t.items, &c)
	return Entry{Compaction: &c}
}

// Pin pins the message with number n, or lets it go.
func (t *Transcript) Pin(n int, on bool) (Entry, error) {
	p := Pin{N: n, On: on}
	t.items = slices.Clone(t.items) // others may be reading them
	if !pin(t.items, p) {
		return Entry{}, fmt.Errorf("there is no message with number %d", n)
	}
	return Entry{Pin: &p}, nil
}

// Act keeps what was done without the model, after the newest message; there has
// to be one.
func (t *Transcript) Act(d Deed) (Entry, error) {
	if len(t.items) == 0 {
		return Entry{}, errors.New("nothing was said yet")
	}
	a := Act{After: t.items[len(t.items)-1].N, Deed: d}
	t.items = slices.Clone(t.items) // others may be reading them
	act(t.items, a)
	return Entry{Act: &a}, nil
}

func act(items []Item, a Act) {
	// Where a damaged file lacks that message, it comes after the one before.
	if i := At(items, a.After+1) - 1; i >= 0 {
		items[i].Then = append(items[i].Then, a.Deed)
	}
}

func pin(items []Item, p Pin) bool {
	i := At(items, p.N)
	if i == len(items) || items[i].N != p.N {
		return false
	}
	items[i].Pinned = p.On
	return true
}

// view is what a model is sent of items, where c is in force.
func view(items []Item, c *Compaction) []llm.Message {
	sent := make([]llm.Message, 0, len(items)+16)
	if c != nil {
		items = items[At(items, c.Before):]
		for len(items) > 0 && items[0].Message.Role == llm.ToolReply {
			items = items[1:] // its call is not sent; only a damaged file comes here
		}
		sent = append(sent, Text(llm.User, c.Text))
		if len(items) == 0 || items[0].Message.Role == llm.User {
			sent = append(sent, Text(llm.Assistant, understood))
		}
	}
	for _, it := range items {
		sent = append(sent, clipped(it, c))
	}
	return sent
}

// clipped is the message of it, cut if c says so.
func clipped(it Item, c *Compaction) llm.Message {
	if c == nil || c.Clip == 0 || it.N > c.Last || it.Message.Role != llm.ToolReply {
		return it.Message
	}
	return Result(it.Message.CallID, Clip(it.Message.Text(), c.Clip))
}

// Clip keeps the head and the tail of s, in n bytes about; in between it says
// how much was left out.
func Clip(s string, n int) string {
	if len(s) <= n+60 {
		return s
	}
	head := strings.ToValidUTF8(s[:n*2/3], "")
	tail := strings.ToValidUTF8(s[len(s)-n/3:], "")
	return fmt.Sprintf("%s\n[… %d bytes left out to save room …]\n%s", head, len(s)-len(head)-len(tail), tail)
}

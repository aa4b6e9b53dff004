package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// understood is the answer between a compaction and a prompt: many models do not accept
// two messages of the user in a row.
const understood = "Understood."

// Compaction returns the compaction in force, or nil.
func (t *Transcript) Compaction() *Compaction {
	if len(t.compactions) == 0 {
		return nil
	}
	return &t.compactions[len(t.compactions)-1]
}

// Compact puts c in force. No message is lost: only the sent messages change.
func (t *Transcript) Compact(c Compaction) Entry {
	t.compactions = append(t.compactions, c)
	t.resend()
	return Entry{Compaction: &c}
}

// Pin pins message n, or unpins it.
func (t *Transcript) Pin(n int, on bool) (Entry, error) {
	p := Pin{N: n, On: on}
	t.items = slices.Clone(t.items) // others may be reading them
	if !pin(t.items, p) {
		return Entry{}, fmt.Errorf("there is no message with number %d", n)
	}
	return Entry{Pin: &p}, nil
}

// Act records a deed without the model after the newest message, which must exist.
func (t *Transcript) Act(d Deed) (Entry, error) {
	if len(t.items) == 0 {
		return Entry{}, errors.New("nothing was said yet")
	}
	a := Act{After: t.items[len(t.items)-1].N, Deed: d}
	t.items = slices.Clone(t.items) // others may be reading them
	act(t.items, a)
	return Entry{Act: &a}, nil
}

// resend sets the messages that a model is sent, and loads those that are not.
func (t *Transcript) resend() {
	c := t.Compaction()
	if t.rebuilding {
		return
	}
	from := 0
	if c != nil {
		from = At(t.items, c.Before)
	}
	if i := slices.IndexFunc(t.items[from:], func(it Item) bool { return it.Stored != nil }); i >= 0 {
		t.items = slices.Clone(t.items) // others may be reading them
		for i += from; i < len(t.items); i++ {
			t.items[i] = t.items[i].Whole()
		}
	}
	t.sent = view(t.items, c)
}

func act(items []Item, a Act) {
	// If a damaged file lacks that message, the deed follows the one before.
	if i := At(items, a.After+1) - 1; i >= 0 {
		items[i].DeedsAfter = append(items[i].DeedsAfter, a.Deed)
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

// view returns the messages that a model is sent of items, with c in force.
func view(items []Item, c *Compaction) []llm.Message {
	sent := make([]llm.Message, 0, len(items)+16)
	if c != nil {
		items = items[At(items, c.Before):]
		for len(items) > 0 && items[0].Message.Role == llm.ToolReply {
			items = items[1:] // its call is not sent; only a damaged file comes here
		}
	}
	if c.Replaces() {
		sent = append(sent, Text(llm.User, c.Text))
		if len(items) == 0 || items[0].Message.Role == llm.User {
			sent = append(sent, Text(llm.Assistant, understood))
		}
	}
	for _, it := range items {
		sent = append(sent, c.Message(it))
	}
	return sent
}

// Replaces reports whether c has a text in the place of messages. One without only cuts
// results.
func (c *Compaction) Replaces() bool { return c != nil && c.Text != "" }

// Cuts reports whether the result in it is sent without its middle or its images.
func (c *Compaction) Cuts(it Item) bool {
	return c != nil && c.Clip > 0 && it.N <= c.Last && it.Message.Role == llm.ToolReply && (c.shortens(it.Message.Text()) || it.Message.Shows())
}

// shortens reports whether the text of a result is sent without its middle. It does not
// depend on FullFile, which is not known yet when a compaction is planned.
func (c *Compaction) shortens(text string) bool { return len(text) > c.Clip+ResultNote }

// ResultNote is the approximate size of the note in a cut result, which names a file, in
// bytes.
const ResultNote = 200

// Message returns the message of it as it is sent with c in force. A result that is cut
// names the file with all of it.
func (c *Compaction) Message(it Item) llm.Message {
	if !c.Cuts(it) {
		return it.Message
	}
	text, where := it.Message.Text(), ""
	if c.FullFile != "" {
		where = fmt.Sprintf("; %q in %s has all of it", ResultTitle(it), c.FullFile)
	}
	if c.shortens(text) {
		text = clip(text, c.Clip, where)
	}
	if it.Message.Shows() {
		text += "\n[Its images are left out to save room; repeat the call to see them.]"
	}
	return Result(it.Message.CallID, text)
}

// ResultTitle returns the title of a result in a file with full texts.
func ResultTitle(it Item) string { return fmt.Sprint("Result ", it.N) }

// clipNote is the approximate size of the note in a text that Clip shortens.
const clipNote = 60

// Clip shortens s to about n bytes: its head and its tail, with the number of bytes
// left out in between.
func Clip(s string, n int) string {
	if len(s) <= n+clipNote {
		return s
	}
	return clip(s, n, "")
}

// clip is Clip of a longer s; where ends the note.
func clip(s string, n int, where string) string {
	head := strings.ToValidUTF8(s[:n*2/3], "")
	tail := strings.ToValidUTF8(s[len(s)-n/3:], "")
	return fmt.Sprintf("%s\n[… %d bytes left out to save room%s …]\n%s", head, len(s)-len(head)-len(tail), where, tail)
}

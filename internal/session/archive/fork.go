package archive

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Fork makes a new session that holds all that the one with the given id does,
// and opens it. Its title is title or, if that is empty, the old one's. What the
// old session has used is not counted again; the old one is left as it is.
func (a *Archive) Fork(id, title string) (*Store, error) {
	path, err := a.find(id)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	l, err := load(data)
	if err != nil {
		return nil, err
	}
	s := a.Create(l.info.Dir, l.info.Model)
	s.info.From, s.info.Title = idOf(path), orElse(titleOf(title), l.info.Title)
	s.info.Branch, s.info.Prompts = l.info.Branch, l.info.Prompts
	scanFrames(data, func(body []byte) {
		if r, err := decodeRecord(body); err == nil {
			if _, said := r.entry(); said {
				s.out.pending = appendFrame(s.out.pending, body)
			}
		}
	})
	s.conversation = Conversation{Entries: l.conversation.Entries, Notes: l.conversation.Notes}
	s.prompted = l.prompted()
	st := State{Branch: s.info.Branch, Prompts: s.info.Prompts}
	if err := s.append(record{Kind: kindTitle, Title: s.info.Title}); err != nil {
		return nil, err
	}
	if err := s.State(st); err != nil {
		return nil, err
	}
	return s, s.Sync()
}

// previewSize is how much of the end of a file Preview reads.
const previewSize = 128 << 10

// Preview returns the last things that were said in a session, as far as they
// stand at the end of its file: it may miss long ones, and what was taken back.
func (a *Archive) Preview(id string) ([]llm.Message, error) {
	path, err := a.find(id)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	data, err := readEnd(path, st.Size(), previewSize)
	if err != nil {
		return nil, err
	}
	return saidIn(data), nil
}

// saidIn returns the prompts and answers that stand whole in a part of a file.
func saidIn(data []byte) []llm.Message {
	var said []llm.Message
	scanFrames(data, func(body []byte) {
		r, err := decodeRecord(body)
		if err == nil && r.Message != nil && r.Message.Role != llm.ToolReply && r.Message.UserText() != "" {
			said = append(said, *r.Message)
		}
	})
	return said
}

// How much Said reads and returns, in bytes.
const (
	saidEnd   = 64 << 10 // of each end of a file
	saidEach  = 32 << 10 // of a session
	saidInAll = 8 << 20
)

// Said returns, by the ids of the sessions of dir, what was said in them, to be
// searched: the beginnings and the ends of long ones, and of so many sessions, the
// newest first, as a bound on the whole allows.
func (a *Archive) Said(ctx context.Context, dir string) (map[string]string, error) {
	files, err := sessionFiles(a.project(dir))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(x, y sessionFile) int { return byTime(y, x) })
	texts, total := map[string]string{}, 0
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if total >= saidInAll {
			break
		}
		text := f.said()
		texts[idOf(f.path)] = text
		total += len(text)
	}
	return texts, nil
}

// said is what Said returns of a session; a file that cannot be read says nothing.
func (f sessionFile) said() string {
	data, err := readEnd(f.path, f.size, 2*saidEnd)
	if err != nil {
		return ""
	}
	if f.size > 2*saidEnd {
		head, err := readEnd(f.path, saidEnd, saidEnd)
		if err != nil {
			return ""
		}
		data = slices.Concat(head, data[saidEnd:])
	}
	var b strings.Builder
	for _, m := range saidIn(data) {
		b.WriteString(m.UserText() + "\n")
	}
	text := b.String()
	if len(text) > saidEach {
		text = text[:saidEach/2] + "\n" + text[len(text)-saidEach/2:]
	}
	return strings.ToValidUTF8(text, "")
}

package archive

import (
	"fmt"
	"os"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/frame"
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
	frame.Scan(data, func(body []byte) {
		if r, err := decodeRecord(body); err == nil {
			if _, said := r.entry(); said {
				s.out.pending = frame.Append(s.out.pending, body)
			}
		}
	})
	s.kept = Conversation{Entries: l.conversation.Entries, Notes: l.conversation.Notes}
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
	var said []llm.Message
	frame.Scan(data, func(body []byte) {
		r, err := decodeRecord(body)
		if err == nil && r.Message != nil && r.Message.Role != llm.ToolReply && r.Message.Said() != "" {
			said = append(said, *r.Message)
		}
	})
	return said, nil
}

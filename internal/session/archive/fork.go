package archive

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Fork creates and opens a new session with the content of the one with the given id.
// Its title is title or, if that is empty, the old one's. The usage of the old session
// is not counted again; the old session does not change.
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
	s.info.From, s.info.Title = idOf(path), cmp.Or(titleOf(title), l.info.Title)
	s.info.Branch, s.info.Prompts = l.info.Branch, l.info.Prompts
	scanFrames(data, func(body []byte) {
		if r, err := decodeRecord(body); err == nil {
			if _, said := r.entry(); said {
				s.out.pending = appendFrame(s.out.pending, body)
			}
		}
	})
	s.conversation = Conversation{Entries: l.conversation.Entries, Efforts: l.conversation.Efforts, Notes: l.conversation.Notes}
	s.prompted = l.promptTitle()
	st := State{Branch: s.info.Branch, Prompts: s.info.Prompts}
	if err := s.append(record{Kind: kindTitle, Title: s.info.Title}); err != nil {
		return nil, err
	}
	if err := s.State(st); err != nil {
		return nil, err
	}
	return s, s.Sync()
}

// previewSize is how much of the end of a file Preview reads, in bytes.
const previewSize = 128 << 10

// Preview returns the last prompts and answers at the end of a session's file. It may
// miss long ones, and include rewound ones.
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
	return messagesIn(data), nil
}

// messagesIn returns the prompts and answers in a part of a file.
func messagesIn(data []byte) []llm.Message {
	var said []llm.Message
	scanFrames(data, func(body []byte) {
		r, err := decodeRecord(body)
		if err == nil && r.Message != nil && r.Message.Role != llm.ToolReply && r.Message.UserText() != "" {
			said = append(said, *r.Message)
		}
	})
	return said
}

// The sizes of what Texts reads and returns, in bytes.
const (
	textEnd   = 64 << 10 // of each end of a file
	textEach  = 32 << 10 // of a session
	textTotal = 8 << 20
)

// Texts returns, by session id, the prompts and answers of the sessions of dir, for
// searching: the beginning and the end of long ones, newest sessions first, up to a
// total size.
func (a *Archive) Texts(ctx context.Context, dir string) (map[string]string, error) {
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
		if total >= textTotal {
			break
		}
		text := f.text()
		texts[idOf(f.path)] = text
		total += len(text)
	}
	return texts, nil
}

// text returns the session's prompts and answers, shortened; empty if the file cannot
// be read.
func (f sessionFile) text() string {
	data, err := readEnd(f.path, f.size, 2*textEnd)
	if err != nil {
		return ""
	}
	if f.size > 2*textEnd {
		head, err := readEnd(f.path, textEnd, textEnd)
		if err != nil {
			return ""
		}
		data = slices.Concat(head, data[textEnd:])
	}
	var b strings.Builder
	for _, m := range messagesIn(data) {
		b.WriteString(m.UserText() + "\n")
	}
	text := b.String()
	if len(text) > textEach {
		text = text[:textEach/2] + "\n" + text[len(text)-textEach/2:]
	}
	return strings.ToValidUTF8(text, "")
}

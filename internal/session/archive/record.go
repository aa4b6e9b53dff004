package archive

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// version is the version of the format, written into the meta record.
const version = 1

// kind is the type of a record. Readers skip unknown kinds.
type kind string

const (
	kindMeta    kind = "meta"
	kindTitle   kind = "title"
	kindState   kind = "state"
	kindStart   kind = "start"
	kindMessage kind = "message"
	kindUsage   kind = "usage"
	kindSpent   kind = "spent"
	kindRewind  kind = "rewind"
	kindPin     kind = "pin"
	kindAct     kind = "act"
	kindCompact kind = "compaction"
)

// record is an entry of a session's file; the field for Kind is set.
type record struct {
	Kind    kind            `json:"kind"`
	Meta    *meta           `json:"meta,omitzero"`
	Title   string          `json:"title,omitzero"`
	State   *State          `json:"state,omitzero"`
	Start   *Start          `json:"start,omitzero"`
	N       int             `json:"n,omitzero"`
	Message *llm.Message    `json:"message,omitzero"`
	Note    *history.Meta   `json:"note,omitzero"`
	Usage   *llm.Usage      `json:"usage,omitzero"`
	Spent   *llm.Usage      `json:"spent,omitzero"` // by a sub-agent
	Rewind  *history.Rewind `json:"rewind,omitzero"`
	Pin     *history.Pin    `json:"pin,omitzero"`
	Act     *history.Act    `json:"act,omitzero"`

	Compaction *history.Compaction `json:"compaction,omitzero"`
}

// recordOf returns the record of an entry of the conversation.
func recordOf(e history.Entry) record {
	switch {
	case e.Rewind != nil:
		return record{Kind: kindRewind, Rewind: e.Rewind}
	case e.Pin != nil:
		return record{Kind: kindPin, Pin: e.Pin}
	case e.Act != nil:
		return record{Kind: kindAct, Act: e.Act}
	case e.Compaction != nil:
		return record{Kind: kindCompact, Compaction: e.Compaction}
	}
	r := record{Kind: kindMessage, N: e.Item.N, Message: &e.Item.Message}
	if e.Item.Meta != (history.Meta{}) {
		r.Note = &e.Item.Meta
	}
	return r
}

// entry returns the entry of the conversation in r, and whether there is one.
func (r record) entry() (history.Entry, bool) {
	switch {
	case r.Message != nil:
		it := history.Item{N: r.N, Message: *r.Message}
		if r.Note != nil {
			it.Meta = *r.Note
		}
		return history.Entry{Item: &it}, true
	}
	e := history.Entry{Rewind: r.Rewind, Pin: r.Pin, Act: r.Act, Compaction: r.Compaction}
	return e, e != history.Entry{}
}

// State is the state of a session at the end of a turn. The newest one is near the end
// of the file, where List finds it.
type State struct {
	Title   string `json:"title,omitzero"`
	Branch  string `json:"branch,omitzero"` // checked out
	Prompts int    `json:"prompts"`         // answered and not rewound
	// Effort is the user's choice of how much Model thinks; empty for the default.
	Model  string `json:"model,omitzero"`
	Effort string `json:"effort,omitzero"`
}

// Start describes the beginning of a session in its system prompt, which does not change
// when another process continues the session.
type Start struct {
	Day      string `json:"day"`
	Branch   string `json:"branch,omitzero"`
	Overview string `json:"overview,omitzero"`
	Editor   string `json:"editor,omitzero"`
}

type meta struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	From    string    `json:"from,omitzero"` // the session that this one was forked from
	Dir     string    `json:"dir"`
	Model   string    `json:"model"`
	Created time.Time `json:"created"`
}

// appendRecord appends r's line to buf.
func appendRecord(buf []byte, r record) ([]byte, error) {
	body, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // a provider's own fields go back as they came
	if err != nil {
		return buf, fmt.Errorf("encode a %s record: %w", r.Kind, err)
	}
	return appendFrame(buf, body), nil
}

func decodeRecord(body []byte) (record, error) {
	var r record
	err := json.Unmarshal(body, &r, jsontext.AllowDuplicateNames(true))
	return r, err
}

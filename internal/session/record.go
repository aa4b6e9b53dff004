package session

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// A session's file has a record a line:
//
//	{"sum":"e3069283","len":41,"rec":{"kind":"title","title":"…"}}
//
// sum is the CRC-32C of rec as written, len its length in bytes. The line is
// JSON for other programs; this one trusts nothing in it before sum and len
// agree.
const (
	recordStart = `{"sum":"`
	recordLen   = `","len":`
	recordBody  = `,"rec":`
	recordEnd   = "}\n"
)

// version is that of the format, written into the meta record.
const version = 1

// kind names what a record holds. Readers skip kinds that they don't know.
type kind string

const (
	kindMeta    kind = "meta"
	kindTitle   kind = "title"
	kindMessage kind = "message"
	kindUsage   kind = "usage"
	kindRewind  kind = "rewind"
)

// record is one entry of a session's file; what belongs to Kind is set.
type record struct {
	Kind    kind            `json:"kind"`
	Meta    *meta           `json:"meta,omitzero"`
	Title   string          `json:"title,omitzero"`
	N       int             `json:"n,omitzero"`
	Message *llm.Message    `json:"message,omitzero"`
	Note    *history.Note   `json:"note,omitzero"`
	Usage   *llm.Usage      `json:"usage,omitzero"`
	Rewind  *history.Rewind `json:"rewind,omitzero"`
}

// recordOf is how an entry of the conversation is kept.
func recordOf(e history.Entry) record {
	if e.Rewind != nil {
		return record{Kind: kindRewind, Rewind: e.Rewind}
	}
	r := record{Kind: kindMessage, N: e.Item.N, Message: &e.Item.Message}
	if e.Item.Note != (history.Note{}) {
		r.Note = &e.Item.Note
	}
	return r
}

// entry is the entry of the conversation that r holds; false if it holds none.
func (r record) entry() (history.Entry, bool) {
	switch {
	case r.Message != nil:
		it := history.Item{N: r.N, Message: *r.Message}
		if r.Note != nil {
			it.Note = *r.Note
		}
		return history.Entry{Item: &it}, true
	case r.Rewind != nil:
		return history.Entry{Rewind: r.Rewind}, true
	}
	return history.Entry{}, false
}

type meta struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Model   string    `json:"model"`
	Created time.Time `json:"created"`
}

// appendRecord appends r's line to buf.
func appendRecord(buf []byte, r record) ([]byte, error) {
	body, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return buf, fmt.Errorf("encode a %s record: %w", r.Kind, err)
	}
	buf = fmt.Appendf(buf, `%s%08x%s%d%s`, recordStart, checksum(body), recordLen, len(body), recordBody)
	buf = append(buf, body...)
	return append(buf, recordEnd...), nil
}

// scan is what a session's file holds.
type scan struct {
	good  int64 // bytes up to the end of the last intact record
	torn  int64 // bytes after it
	bad   int   // damaged places before it
	ended bool  // the last intact record has its line ending
}

// scanRecords calls each with the body of every intact record in data. Bytes
// that are no intact record are stepped over: the next record is looked for
// inside them too, as a torn record may have another one glued to it. (Within
// a body the start of a record cannot occur: JSON escapes its quotes.)
func scanRecords(data []byte, each func(body []byte)) scan {
	s := scan{ended: true}
	damaged := false
	for pos := 0; pos < len(data); {
		body, size, ended := intact(data[pos:])
		if size == 0 {
			damaged = true
			pos += nextStart(data[pos:])
			continue
		}
		if damaged {
			s.bad++
			damaged = false
		}
		each(body)
		pos += size
		s.good, s.ended = int64(pos), ended
	}
	s.torn = int64(len(data)) - s.good
	return s
}

// nextStart returns the distance to the next place in data, after its first
// byte, at which a record may start, or len(data).
func nextStart(data []byte) int {
	if i := bytes.Index(data[1:], []byte(recordStart)); i >= 0 {
		return i + 1
	}
	return len(data)
}

// intact returns the body of the record that data begins with and the size of
// its line; size is zero if there is no intact record. ended is false if only
// the line ending is missing.
func intact(data []byte) (body []byte, size int, ended bool) {
	rest, ok := bytes.CutPrefix(data, []byte(recordStart))
	if !ok || len(rest) < 8 {
		return nil, 0, false
	}
	sum, err := strconv.ParseUint(string(rest[:8]), 16, 32)
	if err != nil {
		return nil, 0, false
	}
	rest, ok = bytes.CutPrefix(rest[8:], []byte(recordLen))
	digits := bytes.IndexByte(rest[:min(len(rest), 20)], ',')
	if !ok || digits < 0 {
		return nil, 0, false
	}
	n, err := strconv.Atoi(string(rest[:digits]))
	rest, ok = bytes.CutPrefix(rest[digits:], []byte(recordBody))
	if err != nil || !ok || n < 0 || n >= len(rest) || rest[n] != '}' {
		return nil, 0, false
	}
	body = rest[:n]
	if checksum(body) != uint32(sum) {
		return nil, 0, false
	}
	size = len(data) - len(rest) + n + 1
	if ended = bytes.HasPrefix(rest[n+1:], []byte("\n")); ended {
		size++
	}
	return body, size, ended
}

func decodeRecord(body []byte) (record, error) {
	var r record
	err := json.Unmarshal(body, &r)
	return r, err
}

func checksum(body []byte) uint32 {
	return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
}

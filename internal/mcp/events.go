package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// events reads a stream of server-sent events for the SDK, which ends the connection at one that is
// no message. events skips it, and reports it to stray.
type events struct {
	io.Closer
	from  *bufio.Reader
	stray func(data []byte)

	fields map[string][]byte // of the event that is not complete
	size   int               // of its lines
	ready  []byte            // events that were not read yet
	begun  bool
}

func newEvents(body io.ReadCloser, stray func(data []byte)) *events {
	return &events{Closer: body, from: bufio.NewReaderSize(body, 64<<10), stray: stray, fields: map[string][]byte{}}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		line, err := e.line()
		if len(line) > 0 {
			e.field(bytes.TrimRight(line, "\r\n"))
		}
		if errors.Is(err, io.EOF) {
			e.dispatch() // not in the standard, but the SDK does the same
		}
		if err != nil && len(e.ready) == 0 {
			return 0, err
		}
	}
	n := copy(p, e.ready)
	if e.ready = e.ready[n:]; len(e.ready) == 0 {
		e.ready = nil // a large message is not kept
	}
	return n, nil
}

// line reads a line of an event, which has up to maxMessage bytes.
func (e *events) line() (line []byte, err error) {
	for {
		piece, err := e.from.ReadSlice('\n')
		if e.size += len(piece); e.size > maxMessage {
			return nil, fmt.Errorf("the answer is larger than %d MB", maxMessage>>20)
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// field takes a line of an event: a field, a comment, or its end.
func (e *events) field(line []byte) {
	if !e.begun {
		line, e.begun = bytes.TrimPrefix(line, []byte("\ufeff")), true
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case len(line) == 0:
		e.dispatch()
	case len(name) == 0: // a comment
	case string(name) == "data" && e.fields["data"] != nil:
		e.fields["data"] = slices.Concat(e.fields["data"], []byte("\n"), value)
	case slices.Contains([]string{"data", "event", "id", "retry"}, string(name)):
		e.fields[string(name)] = append([]byte{}, value...)
	case name[0] == '{' || name[0] == '[': // data without its name
		e.stray(line)
	}
}

// alive are the names of events that only show that the server is there.
var alive = []string{"ping", "heartbeat", "keepalive", "keep-alive"}

// dispatch makes the messages of an event ready, with its id.
func (e *events) dispatch() {
	f := e.fields
	e.fields, e.size = map[string][]byte{}, 0
	var all []json.RawMessage
	rest := trimmed(f["data"])
	switch name := string(trimmed(f["event"])); name {
	case "", "message":
		var text []byte
		var ok bool
		if text, rest, ok = cutMessage(rest); !ok {
			rest = trimmed(f["data"])
		}
		in := json.NewDecoder(bytes.NewReader(text))
		for one := json.RawMessage(nil); ok && in.Decode(&one) == nil; one = nil {
			all = append(all, one)
		}
	default:
		if slices.Contains(alive, name) {
			rest = nil
		}
	}
	if len(trimmed(rest)) > 0 {
		e.stray(rest)
	}
	for _, field := range []string{"id", "retry"} {
		if value := trimmed(f[field]); len(value) > 0 {
			e.ready = fmt.Appendf(e.ready, "%s: %s\n", field, value)
		}
	}
	for _, one := range all {
		e.ready = fmt.Appendf(e.ready, "data: %s\n\n", bytes.ReplaceAll(one, []byte("\n"), []byte("\ndata: ")))
	}
	if len(all) == 0 && len(e.ready) > 0 {
		e.ready = append(e.ready, '\n')
	}
}

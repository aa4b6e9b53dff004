package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	maxTail   = 512 // bytes of the end of a message that is too long, where its id may be
	maxBegins = 16  // places on a line at which an answer may begin
)

// output reads the messages of a program from its standard output, each on a line of its own for
// the SDK, which ends the connection at anything else. A package runner, a banner or a forgotten
// print writes there too: output skips it, and reports it to stray.
type output struct {
	from  *bufio.Reader
	stray func(line []byte)

	held  []byte  // the first lines of a value that has several
	open  nesting // of held
	ready []byte  // messages that were not read yet
}

func newOutput(from io.Reader, stray func(line []byte)) *output {
	return &output{from: bufio.NewReaderSize(from, 64<<10), stray: stray}
}

// Read implements io.Reader.
func (o *output) Read(p []byte) (int, error) {
	for len(o.ready) == 0 {
		line, tail, err := o.line()
		switch {
		case tail != nil:
			o.tooLong(line, tail)
		case len(line) > 0:
			o.take(line)
		}
		if err != nil && len(o.ready) == 0 {
			o.drop()
			return 0, err
		}
	}
	n := copy(p, o.ready)
	if o.ready = o.ready[n:]; len(o.ready) == 0 {
		o.ready = nil // a large message is not kept
	}
	return n, nil
}

// line reads a line of up to maxMessage bytes. Of a longer one it returns the beginning, and the
// last bytes as tail.
func (o *output) line() (line, tail []byte, err error) {
	for {
		piece, err := o.from.ReadSlice('\n')
		if tail == nil && len(line)+len(piece) <= maxMessage {
			line = append(line, piece...)
		} else {
			tail = append(tail, piece...)
			tail = slices.Clone(tail[max(0, len(tail)-maxTail):])
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tail, err
		}
	}
}

// take handles a line.
func (o *output) take(line []byte) {
	if rest, ok := o.messages(line); ok {
		o.drop()
		o.report(rest)
		return
	}
	if len(o.held) == 0 && bytes.IndexAny(trimmed(line), "{[") != 0 {
		o.report(line)
		return
	}
	o.held = append(o.held, line...)
	switch state := o.open.add(line); {
	case state == open && len(o.held) <= maxMessage:
		return
	case state == closed:
		if rest, ok := o.messages(o.held); ok {
			o.held = rest
		}
	}
	o.drop()
}

// drop gives up the value that is not complete.
func (o *output) drop() {
	o.report(o.held)
	o.held, o.open = nil, nesting{}
}

// report reports a text that is no message, unless nothing of it can be seen.
func (o *output) report(text []byte) {
	if len(trimmed([]byte(sanitize.Plain(string(text))))) > 0 {
		o.stray(text)
	}
}

// messages makes those ready that text begins with, and returns the rest; false without one.
func (o *output) messages(text []byte) (rest []byte, ok bool) {
	for rest = trimmed(text); ; ok = true {
		one, after, found := cutMessage(rest)
		if !found {
			break
		}
		o.ready, rest = append(append(o.ready, one...), '\n'), trimmed(after)
	}
	if ok {
		return rest, true
	}
	if plain := []byte(sanitize.Plain(string(rest))); !bytes.Equal(plain, rest) {
		return o.messages(plain) // it begins with colours, or a line that is written over
	}
	return o.answer(rest)
}

// answer makes an answer ready that follows text without an end of line, and returns the rest.
// A request there does not count: a program that prints its input would send it back.
func (o *output) answer(text []byte) (rest []byte, ok bool) {
	from := 0
	for range maxBegins {
		at := bytes.IndexByte(text[from:], '{')
		if at < 0 {
			break
		}
		from += at
		if one, after, ok := cutMessage(text[from:]); ok && isResponse(one) {
			o.ready = append(append(o.ready, one...), '\n')
			return slices.Concat(text[:from], after), true
		}
		from++
	}
	return nil, false
}

// cutMessage cuts a message from the start of text, or a list of messages, which becomes one
// on each line.
func cutMessage(text []byte) (message, after []byte, ok bool) {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil, nil, false
	}
	in := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	if in.Decode(&raw) != nil {
		return nil, nil, false
	}
	all := []json.RawMessage{raw}
	if raw[0] == '[' {
		all = nil
		if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
			return nil, nil, false
		}
	}
	for i, one := range all {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return nil, nil, false
		}
		if i > 0 {
			message = append(message, '\n')
		}
		message = append(message, one...)
	}
	return message, text[in.InputOffset():], true
}

func isResponse(message []byte) bool {
	msg, err := jsonrpc.DecodeMessage(message)
	_, ok := msg.(*jsonrpc.Response)
	return ok && err == nil
}

// trimmed returns text without the blanks and the byte order mark at its ends.
func trimmed(text []byte) []byte {
	return bytes.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// tooLong handles a line whose last bytes are tail. A call is not left waiting for an answer that
// is too long.
func (o *output) tooLong(line, tail []byte) {
	o.drop()
	if id := idOf(trimmed(line), tail); id != "" {
		o.ready = fmt.Appendf(o.ready, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"its answer is longer than %d MB"}}`+"\n",
			id, jsonrpc.CodeInternalError, maxMessage>>20)
		return
	}
	o.report(line)
}

// idOf returns the id of an answer that begins with head and ends with tail; "" for another text.
func idOf(head, tail []byte) string {
	in := json.NewDecoder(bytes.NewReader(head[:min(len(head), maxTail)]))
	if first, err := in.Token(); err != nil || first != json.Delim('{') {
		return ""
	}
	for {
		key, err := in.Token()
		if err != nil || key == "method" {
			return ""
		}
		if key != "id" && key != "jsonrpc" {
			break
		}
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return ""
		}
		if key == "id" {
			return string(value)
		}
	}
	if m := lastID.FindStringSubmatch(string(tail)); m != nil {
		return m[1]
	}
	return ""
}

// lastID matches the end of an answer whose id comes after its result.
var lastID = lazyregexp.New(`,\s*"id"\s*:\s*([0-9]+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// nesting follows the brackets of JSON that comes line by line.
type nesting struct {
	depth         int
	text, escaped bool // within a string
}

// shape is what nesting knows of a value.
type shape int

const (
	open   shape = iota // it goes on with the next line
	closed              // its last bracket was closed
	broken              // it is no JSON
)

func (n *nesting) add(line []byte) shape {
	for _, c := range line {
		switch {
		case n.text && c == '\n':
			return broken
		case n.escaped:
			n.escaped = false
		case n.text && c == '\\':
			n.escaped = true
		case c == '"':
			n.text = !n.text
		case n.text:
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			n.depth--
		}
	}
	if n.depth > 0 {
		return open
	}
	return closed
}

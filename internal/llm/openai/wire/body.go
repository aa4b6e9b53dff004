// Package wire reads what servers of chat completions really send. It guarantees
// that a stream yields the same events however the network splits it, that an
// event is delivered as soon as it is whole, that an error is found wherever a
// server hides it, and that the cost of an event does not depend on the length
// of the answer.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

const (
	inBuffer  = 32 << 10
	separator = 0x1e // before each event of a line; a raw 0x1e is no valid JSON
	// MaxEvent is the most bytes that one event may have.
	MaxEvent = 64 << 20
)

var (
	// ErrUnfinished is returned where a stream ends without its end mark.
	ErrUnfinished = errors.New("the stream ended before its end mark")
	// ErrTooLarge is returned for an event of more than MaxEvent bytes.
	ErrTooLarge = errors.New("an event of the stream is too large")

	done = []byte("[DONE]")
	data = []byte("data: ")
)

// Body is a stream of server-sent events, rewritten: each line it yields is
// "data: " followed by all the events that were whole when it was read (see
// Split). Comments, event names and keep-alives are left out; an event that is
// an error by its name or its field is yielded as {"error":…}. It ends with
// ErrUnfinished unless the stream said [DONE].
type Body struct {
	src   *bufio.Reader
	out   []byte // the line being read from, or being built
	off   int    // what of out has been read
	event []byte // data of the event that is not whole yet
	name  string // its name
	lines int    // data lines in event
	done  bool
	err   error // held back until out has been read
}

// NewBody returns the rewritten events of r.
func NewBody(r *bufio.Reader) *Body { return &Body{src: r} }

// NewReader returns a reader of the size that Body works well with. Lines may end in
// LF, CRLF or CR; it yields LF.
func NewReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(&lineEnds{src: r}, inBuffer) }

// lineEnds yields LF for CR and CRLF.
type lineEnds struct {
	src   io.Reader
	after bool // a CR, whose LF is still to be left out
}

// Read implements io.Reader.
func (l *lineEnds) Read(p []byte) (int, error) {
	for {
		n, err := l.src.Read(p)
		if n = l.translate(p[:n]); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// translate rewrites p in place and returns how much of it is left.
func (l *lineEnds) translate(p []byte) int {
	if !l.after && bytes.IndexByte(p, '\r') < 0 {
		return len(p)
	}
	n := 0
	for _, c := range p {
		leave := l.after && c == '\n'
		l.after = c == '\r'
		if l.after {
			c = '\n'
		}
		if !leave {
			p[n] = c
			n++
		}
	}
	return n
}

// Whole returns a body that yields one event and the end mark: what a server
// that does not stream has answered.
func Whole(event []byte) *Body {
	b := &Body{src: bufio.NewReader(bytes.NewReader(nil)), done: true}
	b.add(event)
	b.endLine()
	b.out = append(append(append(b.out, data...), done...), '\n')
	return b
}

// Done says whether the end mark has been seen.
func (b *Body) Done() bool { return b.done }

// Read implements io.Reader. It returns with the first whole event.
func (b *Body) Read(p []byte) (int, error) {
	for b.off == len(b.out) {
		if b.err != nil {
			return 0, b.err
		}
		if b.done {
			return 0, io.EOF
		}
		b.out, b.off = b.out[:0], 0
		b.err = b.fill()
	}
	n := copy(p, b.out[b.off:])
	b.off += n
	return n, nil
}

// fill builds the next line from what has been received, and waits for more
// only while there is no event at all.
func (b *Body) fill() error {
	var err error
	for err == nil && !b.done && (len(b.out) == 0 || b.lineReady()) {
		if len(b.out) == 0 && !b.lineReady() && b.eventWhole() {
			b.dispatch() // the server leaves out the blank line
			continue
		}
		var line []byte
		line, err = b.readLine()
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			b.field(line)
		}
	}
	if errors.Is(err, io.EOF) {
		b.endWhole()
		err = ErrUnfinished
	}
	if len(b.out) > 0 {
		b.endLine()
	}
	if b.done {
		b.out = append(append(append(b.out, data...), done...), '\n')
		return nil
	}
	return err
}

// lineReady says whether a line can be read without waiting.
func (b *Body) lineReady() bool {
	buffered, err := b.src.Peek(b.src.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}

// readLine returns a line without its end. The slice is valid until the next
// read.
func (b *Body) readLine() ([]byte, error) {
	line, err := b.src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = b.longLine(line)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func (b *Body) longLine(start []byte) ([]byte, error) {
	line := bytes.Clone(start)
	for {
		more, err := b.src.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > MaxEvent {
			return nil, ErrTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// field takes one line of the stream.
func (b *Body) field(line []byte) {
	if len(line) == 0 {
		b.dispatch()
		return
	}
	key, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(key) {
	case "data":
		b.addData(value)
	case "event":
		b.endWhole()
		b.name = string(value)
	case "error":
		b.addData(value)
		b.name = "error"
	}
}

func (b *Body) addData(value []byte) {
	b.endWhole()
	if b.lines > 0 {
		b.event = append(b.event, ' ') // a line end inside JSON is white space
	}
	b.event = append(b.event, value...)
	b.lines++
}

// endWhole ends an event that is whole although no blank line has come: some
// servers leave it out. It has to be done whatever is at hand by then, so that
// the events do not depend on how the stream was split.
func (b *Body) endWhole() {
	if b.eventWhole() {
		b.dispatch()
	}
}

// eventWhole says whether the data so far are an event, blank line or not.
func (b *Body) eventWhole() bool {
	return b.lines > 0 && (bytes.Equal(b.event, done) || json.Valid(b.event))
}

// dispatch ends the event and adds it to the line.
func (b *Body) dispatch() {
	event, name := bytes.TrimSpace(b.event), b.name
	b.event, b.name, b.lines = b.event[:0], "", 0
	switch {
	case len(event) == 0:
	case bytes.Equal(event, done):
		b.done = true
	case name == "error" && !bytes.Contains(event, []byte(`"error"`)):
		b.add(wrapError(event))
	default:
		b.add(event)
	}
}

func wrapError(event []byte) []byte {
	if !json.Valid(event) {
		quoted, err := json.Marshal(string(event))
		if err != nil {
			return event
		}
		event = quoted
	}
	return append(append([]byte(`{"error":`), event...), '}')
}

func (b *Body) add(event []byte) {
	if len(b.out) == 0 {
		b.out = append(b.out, data...)
	}
	// Before the first event too: go-openai takes a line that begins with an
	// error for itself and loses what it says.
	b.out = append(b.out, separator)
	at := len(b.out)
	b.out = append(b.out, event...)
	for i, c := range b.out[at:] {
		if c == '\n' || c == '\r' {
			b.out[at+i] = ' '
		}
	}
}

func (b *Body) endLine() { b.out = append(b.out, '\n') }

// Split returns the events of a line of Body, without its "data: ".
func Split(line []byte) iter.Seq[[]byte] {
	return bytes.SplitSeq(bytes.TrimPrefix(line, []byte{separator}), []byte{separator})
}

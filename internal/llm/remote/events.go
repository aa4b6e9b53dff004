package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

const (
	inBuffer = 32 << 10
	// MaxEvent is the maximum size of an event in bytes.
	MaxEvent = 64 << 20
)

var (
	// ErrUnfinished is returned if a stream ends without its end mark.
	ErrUnfinished = errors.New("the stream ended before its end mark")
	// ErrTooLarge is returned for an event of more than MaxEvent bytes.
	ErrTooLarge = errors.New("an event of the stream is too large")

	endMark = []byte("[DONE]")
)

// Events reads server-sent events. It yields the same events however the network
// splits the stream, each as soon as it is complete, at a cost that does not depend on
// the length of the answer. It skips comments, event names and keep-alives,
// and yields an event that is an error by its name or its field as {"error":…}.
type Events struct {
	src   *bufio.Reader
	event []byte // data of the event that is not complete yet
	name  string // its name
	lines int    // data lines in event
	each  func(event []byte) error
	count int  // events that each got from this call of Receive
	done  bool // the end mark was read
	err   error
}

// NewEvents returns the events of r.
func NewEvents(r *bufio.Reader) *Events { return &Events{src: r} }

// SingleEvent returns a stream of one event, which is JSON: the answer of a server that
// does not stream.
func SingleEvent(event []byte) *Events {
	return &Events{src: bufio.NewReader(strings.NewReader("data: [DONE]\n")), event: event, lines: 1}
}

// NewReader returns a reader of the size that suits Events. It turns the line ends
// CRLF and CR into LF.
func NewReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(&lineEnds{src: r}, inBuffer) }

// lineEnds yields LF for CR and CRLF.
type lineEnds struct {
	src   io.Reader
	after bool // the last byte was a CR; skip an LF after it
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

// translate rewrites p in place and returns its new length.
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

// Done reports whether the end mark was read.
func (e *Events) Done() bool { return e.done }

// Receive waits for an event and calls each with it and with every further event that
// can be read without waiting. The slice is valid during the call only. Receive returns
// io.EOF with the end mark, ErrUnfinished if the stream ends without one, and each's
// error, which ends the stream; io.EOF is an end mark.
func (e *Events) Receive(each func(event []byte) error) error {
	e.each, e.count = each, 0
	for e.err == nil && (e.count == 0 || e.lineReady()) {
		if e.count == 0 && !e.lineReady() && e.complete() {
			e.dispatch() // the server leaves out the blank line
			continue
		}
		line, err := e.readLine()
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			e.field(line)
		}
		if errors.Is(err, io.EOF) {
			e.endComplete()
			err = ErrUnfinished
		}
		if e.err == nil {
			e.err = err
		}
	}
	return e.err
}

// lineReady reports whether a line can be read without waiting.
func (e *Events) lineReady() bool {
	buffered, err := e.src.Peek(e.src.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}

// readLine returns a line without its end. The slice is valid until the next
// read.
func (e *Events) readLine() ([]byte, error) {
	line, err := e.src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = e.longLine(line)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func (e *Events) longLine(start []byte) ([]byte, error) {
	line := bytes.Clone(start)
	for {
		more, err := e.src.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > MaxEvent {
			return nil, ErrTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// field reads one line of the stream.
func (e *Events) field(line []byte) {
	if len(line) == 0 {
		e.dispatch()
		return
	}
	key, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(key) {
	case "data":
		e.addData(value)
	case "event":
		e.endComplete()
		e.name = string(value)
	case "error":
		e.addData(value)
		e.name = "error"
	}
}

func (e *Events) addData(value []byte) {
	e.endComplete()
	if e.lines > 0 {
		e.event = append(e.event, ' ') // a line end inside JSON is white space
	}
	e.event = append(e.event, value...)
	e.lines++
}

// endComplete ends an event that is complete without a blank line, which some servers
// leave out. It does so whatever has been received by then, so that the events do not
// depend on how the stream was split.
func (e *Events) endComplete() {
	if e.complete() {
		e.dispatch()
	}
}

// complete reports whether the data so far are an event, even without a blank line.
func (e *Events) complete() bool {
	return e.lines > 0 && (bytes.Equal(e.event, endMark) || json.Valid(e.event))
}

// dispatch ends the event and delivers it.
func (e *Events) dispatch() {
	event, name := bytes.TrimSpace(e.event), e.name
	e.event, e.name, e.lines = e.event[:0], "", 0
	switch {
	case len(event) == 0 || e.err != nil:
		return
	case bytes.Equal(event, endMark):
		e.done, e.err = true, io.EOF
		return
	case name == "error" && !bytes.Contains(event, []byte(`"error"`)):
		event = wrapError(event)
	}
	e.count++
	if e.err = e.each(event); errors.Is(e.err, io.EOF) {
		e.done = true
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

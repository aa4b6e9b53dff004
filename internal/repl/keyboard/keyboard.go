// Package keyboard reads the keyboard. It guarantees that a paste costs little more than its
// bytes and stays in order with the keys around it; that nothing in it counts as a key,
// however the terminal splits it; that it holds at most MaxPaste bytes; and that a paste
// without an end does not block the keyboard.
//
// Bubble Tea looks for keys in pasted text, too, which takes seconds for some megabytes.
// Keyboard therefore passes it a number in place of the text, and Filter restores the text.
// On Windows Bubble Tea reads the console itself, including pastes.
package keyboard

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// MaxPaste is the maximum size of a paste in bytes: several times what any model reads.
const MaxPaste = 64 << 20

// Burst is the longest time between the first keys of a text. A letter that is followed by another
// key in less is typed; alone, it may be a command.
const Burst = 150 * time.Millisecond

// TooLarge is the message for a paste of more than MaxPaste bytes, which is dropped.
type TooLarge struct{}

// Unfinished is the message for text that comes after a silence inside of a paste: the terminal may
// have lost the end of the paste, and the person may be typing.
type Unfinished struct{}

// Keyboard is the input of a terminal. One goroutine may call Read, another the other methods.
type Keyboard struct {
	*os.File
	gone  func()
	keys  splitter
	in    []byte       // buffer for reads
	out   []byte       // not yet read by Bubble Tea
	last  atomic.Int64 // time of the last input, in nanoseconds since started
	size  int          // of the last read
	typed time.Time    // time of the last text

	mu    sync.Mutex // guards the following
	count int
	held  map[string]paste // by number
}

// paste is a pasted text; text is empty if size exceeds MaxPaste. An unfinished one is only a sign
// that a paste has no end yet.
type paste struct {
	text       string
	size       int
	unfinished bool
}

// New returns the keyboard of a terminal. It calls gone when in ends.
func New(in *os.File, gone func()) *Keyboard {
	k := &Keyboard{File: in, gone: gone, in: make([]byte, 4<<10), held: map[string]paste{}}
	k.keys.hold, k.keys.waited = k.hold, true
	return k
}

// growth bounds the ratio of Read's output to its input, which is largest for empty
// pastes. Everything read must be returned at once, because Bubble Tea waits for the
// terminal before it calls Read again.
const growth = 3

// Read reads keys, with a number in place of each paste. It returns nothing in the middle of
// a paste or of a terminal's report, so that the program can end there.
func (k *Keyboard) Read(p []byte) (int, error) {
	if len(k.out) == 0 {
		in := k.in[:min(len(k.in), max(1, len(p)/growth))]
		n, err := k.File.Read(in)
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				k.gone()
			}
			return 0, err
		}
		k.out = k.out[:0]
		sudden := k.sudden(n)
		in = k.complete(in, n, sudden)
		if before := silent(in); sudden && lines(in[before:]) > 0 && !k.keys.open && len(k.keys.held) == 0 {
			k.out = k.keys.next(k.out, in[:before], time.Now())
			text, rest := k.pasted(in[before:])
			k.out, in = k.keys.paste(k.out, text), rest
		}
		k.last.Store(int64(time.Since(started)))
		if silent(in) < len(in) {
			k.typed = time.Now()
		}
		k.out = k.keys.next(k.out, in, time.Now())
	}
	n := copy(p, k.out)
	k.out = k.out[n:]
	return n, nil
}

// sudden reports whether n bytes that were read may be the beginning of a paste: they come after a
// silence, or after many others. Keys that wait for a slow program follow other keys.
func (k *Keyboard) sudden(n int) bool {
	const many = 256
	after := k.size >= many
	k.size = n
	return after || time.Since(k.typed) >= pasting
}

// complete returns the n bytes at the start of in, with the bytes that follow at once if these end in
// the middle of a key.
func (k *Keyboard) complete(in []byte, n int, sudden bool) []byte {
	for n < len(in) && !k.keys.open {
		wait := unfinished(in[:n])
		if wait == pasting && !sudden {
			return in[:n]
		}
		if wait == 0 || !readable(k.File, wait) {
			break
		}
		more, err := k.File.Read(in[n:])
		if err != nil {
			break // the next Read returns it
		}
		n += more
	}
	return in[:n]
}

// pasted returns the text at the start of in, which was pasted by a terminal without brackets, to its end,
// and the keys after it. Nobody types lines at once.
func (k *Keyboard) pasted(in []byte) (text, rest []byte) {
	n := lines(in)
	text = bytes.Clone(in[:n])
	for n == len(in) && len(text) <= MaxPaste && readable(k.File, pasting) {
		more, err := k.File.Read(k.in)
		if err != nil {
			break // the next Read returns it
		}
		in = k.in[:more]
		n = plain(in)
		text = append(text, in[:n]...)
	}
	return text, in[n:]
}

// started is a time that the clock of the system does not move.
var started = time.Now()

// Silent reports whether no input has come for d, and none waits to be read. A program that is
// slow to read must not take that for the silence of its user.
func (k *Keyboard) Silent(d time.Duration) bool {
	return time.Since(started)-time.Duration(k.last.Load()) >= d && !readable(k.File, 0)
}

// hold keeps a paste for Filter and returns its number.
func (k *Keyboard) hold(p paste) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	name := strconv.Itoa(k.count)
	k.held[name] = p
	return name
}

// Filter is a filter for Bubble Tea (tea.WithFilter) that restores the text of a
// tea.PasteMsg, and gives the keys of commands the same names in each layout.
func (k *Keyboard) Filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		return latin(key)
	}
	m, ok := msg.(tea.PasteMsg)
	if !ok {
		return msg
	}
	k.mu.Lock()
	p, ok := k.held[m.Content]
	delete(k.held, m.Content)
	k.mu.Unlock()
	switch {
	case !ok:
		return msg
	case p.unfinished:
		return Unfinished{}
	case p.size > MaxPaste:
		return TooLarge{}
	}
	return tea.PasteMsg{Content: strings.ToValidUTF8(p.text, "")}
}

// Package keyboard reads what is typed. It guarantees that a paste costs little more
// than its bytes and stays in order with the keys around it, that nothing in it is taken
// for a key however the terminal cuts it, that no more than MaxPaste bytes of it are held,
// and that a paste whose end never comes does not take the keyboard with it.
//
// Bubble Tea looks for keys in pasted text too, which takes seconds for some megabytes.
// So it is handed a number in the place of the text, and Filter puts the text back. The
// console of Windows is read without us: there a paste comes as Bubble Tea finds it.
package keyboard

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// MaxPaste is the most bytes that a paste may have: several times what any model reads.
const MaxPaste = 64 << 20

// TooLarge is the message for a paste of more than MaxPaste bytes, of which nothing is
// left.
type TooLarge struct{}

// Keyboard is a terminal's input. Read belongs to one goroutine, Filter to another.
type Keyboard struct {
	*os.File
	gone func()
	keys splitter
	in   []byte // room for what is read
	out  []byte // for Bubble Tea, and not read yet

	mu    sync.Mutex // guards what follows
	count int
	held  map[string]paste // by the number that stands for them
}

// paste is a text that was pasted; the text is empty if size is more than MaxPaste.
type paste struct {
	text string
	size int
}

// New returns the keyboard of a terminal. It calls gone when in ends: nobody is there
// any more.
func New(in *os.File, gone func()) *Keyboard {
	k := &Keyboard{File: in, gone: gone, in: make([]byte, 4<<10), held: map[string]paste{}}
	k.keys.hold = k.hold
	return k
}

// growth is how much more Bubble Tea may be handed than was read, as a factor: what
// stands for an empty paste is that much longer. What was read is handed on at once, as
// Bubble Tea waits for the terminal before it reads on.
const growth = 3

// Read reads what was typed, with a number in the place of each paste. It returns
// nothing where a paste goes on, so that whoever has to can stop in the middle of one.
func (k *Keyboard) Read(p []byte) (int, error) {
	if len(k.out) == 0 {
		n, err := k.File.Read(k.in[:min(len(k.in), max(1, len(p)/growth))])
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				k.gone()
			}
			return 0, err
		}
		k.out = k.keys.next(k.out[:0], k.in[:n], time.Now())
	}
	n := copy(p, k.out)
	k.out = k.out[n:]
	return n, nil
}

// hold keeps a paste until Filter asks for it, and returns the number that stands for it.
func (k *Keyboard) hold(p paste) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	name := strconv.Itoa(k.count)
	k.held[name] = p
	return name
}

// Filter is Bubble Tea's: it puts the text into a tea.PasteMsg.
func (k *Keyboard) Filter(_ tea.Model, msg tea.Msg) tea.Msg {
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
	case p.size > MaxPaste:
		return TooLarge{}
	}
	return tea.PasteMsg{Content: strings.ToValidUTF8(p.text, "")}
}

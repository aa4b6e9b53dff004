package vt

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parser splits the stream into text, controls and sequences, across writes.
type parser struct {
	state byte // 0 text, '[' CSI, ']' OSC, 'P' other strings, 0x1b escape
	buf   []byte
}

// Write handles a program's output. It never fails.
func (t *Terminal) Write(b []byte) (int, error) {
	t.stats.Bytes += len(b)
	for i := 0; i < len(b); {
		if t.parser.state == 0 {
			i += t.text(b[i:])
			continue
		}
		t.sequence(b[i])
		i++
	}
	return len(b), nil
}

// text handles characters and controls, and returns how much of b it has used.
func (t *Terminal) text(b []byte) int {
	if c := b[0]; c < 0x20 || c == 0x7f {
		t.control(c)
		return 1
	}
	n := 0
	for n < len(b) && b[n] >= 0x20 && b[n] != 0x7f {
		n++
	}
	run := slices.Concat(t.parser.buf, b[:n])
	t.parser.buf = nil
	if keep := incomplete(run); keep > 0 && n == len(b) {
		t.parser.buf = append([]byte(nil), run[len(run)-keep:]...)
		run = run[:len(run)-keep]
	}
	t.print(string([]rune(string(run)))) // each broken byte counts
	return n
}

// incomplete returns the length of the unfinished character at the end of b.
func incomplete(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		if utf8.RuneStart(b[len(b)-n]) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (t *Terminal) control(c byte) {
	p := t.page()
	switch c {
	case 0x1b:
		t.parser.state, t.parser.buf = 0x1b, nil
		return
	case '\r':
		p.x, p.wrap = 0, false
	case '\n', '\v', '\f':
		p.wrap = false
		t.lineFeed()
	case '\b':
		p.x, p.wrap = max(0, p.x-1), false
	case '\t':
		p.x = min(t.opt.Width-1, p.x/8*8+8)
	case 0x07:
		t.stats.Bells++
	case 0x00, 0x7f:
	default:
		t.unknown(string(rune(c)))
	}
	t.last = ""
}

// sequence handles one byte inside an escape sequence.
func (t *Terminal) sequence(c byte) {
	ps := &t.parser
	switch ps.state {
	case 0x1b:
		t.escape(c)
	case '[':
		ps.buf = append(ps.buf, c)
		if c >= 0x40 && c <= 0x7e {
			body := string(ps.buf)
			ps.state, ps.buf = 0, nil
			t.csi(body)
		}
	default: // strings, which end in BEL or ST
		ps.buf = append(ps.buf, c)
		body, done := strings.CutSuffix(string(ps.buf), "\a")
		if !done {
			body, done = strings.CutSuffix(string(ps.buf), "\x1b\\")
		}
		if ps.state == 'P' && strings.HasSuffix(body, "\x1b") {
			done = false // an escape for tmux to pass on
		}
		if done {
			kind := ps.state
			ps.state, ps.buf = 0, nil
			t.osc(kind, body)
		}
	}
}

// escape handles the byte after ESC.
func (t *Terminal) escape(c byte) {
	p := t.page()
	t.parser.state = 0
	t.last = ""
	switch c {
	case '[', ']', 'P', '_', '^', 'X':
		t.parser.state = c
	case '7':
		p.saved = [2]int{p.x, p.y}
	case '8':
		p.x, p.y, p.wrap = min(p.saved[0], t.opt.Width-1), min(p.saved[1], t.opt.Height-1), false
	case 'c':
		*t = *New(t.opt)
	case '=', '>', '\\':
	default:
		t.unknown("\x1b" + string(rune(c)))
	}
}

func (t *Terminal) unknown(seq string) { t.stats.Unknown = append(t.stats.Unknown, seq) }

func (t *Terminal) reply(s string) {
	if t.opt.Reply != nil {
		t.opt.Reply([]byte(s))
	}
}

// askedColor answers a query for the color of text or background.
func (t *Terminal) askedColor(code, body string) {
	switch code {
	case "10":
		t.reply("\x1b]10;rgb:ffff/ffff/ffff\x1b\\")
	case "11":
		t.reply("\x1b]11;" + t.opt.Background + "\x1b\\")
	default:
		t.unknown("OSC " + body)
	}
}

// osc handles an operating system command.
func (t *Terminal) osc(kind byte, body string) {
	code, arg, _ := strings.Cut(body, ";")
	switch {
	case kind == 'P' && strings.HasPrefix(body, "tmux;"):
		_, _ = t.Write([]byte(strings.ReplaceAll(body[len("tmux;"):], "\x1b\x1b", "\x1b"))) // never fails
	case kind != ']':
		t.unknown(string(rune(kind)) + body)
	case code == "0" || code == "2":
		t.stats.Title = arg
	case code == "9" && strings.HasPrefix(arg, "4;"):
		t.modes.Progress = strings.TrimPrefix(arg[2:], "0")
	case code == "9" || code == "777":
		t.stats.Notices = append(t.stats.Notices, arg)
	case arg == "?":
		t.askedColor(code, body)
	case code == "52":
		t.stats.Clipboard = arg
	case code == "7777":
		t.stats.Fences = append(t.stats.Fences, arg)
	default:
		t.unknown("OSC " + body)
	}
}

package vt

import (
	"fmt"
	"strconv"
	"strings"
)

// csi handles a control sequence; body is the part after ESC [.
func (t *Terminal) csi(body string) {
	t.last = ""
	final := body[len(body)-1]
	args := body[:len(body)-1]
	prefix := strings.TrimRight(args, "0123456789;:$ !\"")
	inter := strings.TrimLeft(args[len(prefix):], "0123456789;:")
	args = strings.TrimSuffix(args[len(prefix):], inter)
	var known bool
	switch prefix + inter + string(rune(final)) {
	case "m":
		known = t.style.set(args)
	case "?h", "?l":
		known = t.setModes(args, final == 'h')
	case "?$p":
		known = t.reportMode(args)
	case ">m":
		known = t.modifyKeys(args)
	case "?u", "=u", ">u", "<u":
		known = t.kittyKeys(prefix, args)
	case "t":
		known = t.titleStack(args)
	case "c", "n", ">q", "?n":
		known = t.report(string(rune(final)), strings.TrimPrefix(prefix, ">")+args)
	default:
		known = prefix == "" && inter == "" && (t.move(final, args) || t.erase(final, args))
	}
	if !known {
		t.unknown("CSI " + body)
	}
}

// arg returns the i-th parameter, or def if it is missing or zero.
func arg(args string, i, def int) int {
	parts := strings.Split(args, ";")
	if i >= len(parts) {
		return def
	}
	if n, err := strconv.Atoi(parts[i]); err == nil && n > 0 {
		return n
	}
	return def
}

// move handles the movements of the cursor.
func (t *Terminal) move(final byte, args string) bool {
	p := t.page()
	n := arg(args, 0, 1)
	switch final {
	case 'A':
		p.y = max(0, p.y-n)
	case 'B':
		p.y = min(t.opt.Height-1, p.y+n)
	case 'C':
		p.x = min(t.opt.Width-1, p.x+n)
	case 'D':
		p.x = max(0, p.x-n)
	case 'G':
		p.x = min(t.opt.Width, n) - 1
	case 'd':
		p.y = min(t.opt.Height, n) - 1
	case 'H', 'f':
		p.y, p.x = min(t.opt.Height, n)-1, min(t.opt.Width, arg(args, 1, 1))-1
	default:
		return false
	}
	p.wrap = false
	return true
}

// erase handles erasing in line and display. Erased cells count as never written.
func (t *Terminal) erase(final byte, args string) bool {
	p := t.page()
	mode := arg(args, 0, 0)
	switch {
	case final == 'K' && mode == 0:
		t.touch(p.y, "erased")
		t.line(p.y).cut(p.x)
	case final == 'K' && mode == 2:
		t.blankRows(p.y, p.y+1)
	case final == 'J' && mode == 0:
		t.touch(p.y, "erased")
		t.line(p.y).cut(p.x)
		t.blankRows(p.y+1, t.opt.Height)
	case final == 'J' && mode == 2:
		t.blankRows(0, t.opt.Height)
	case final == 'J' && mode == 3:
		p.lines = p.lines[t.top():]
	default:
		return false
	}
	p.wrap = false
	return true
}

func (t *Terminal) blankRows(from, to int) {
	for y := from; y < to; y++ {
		t.touch(y, "erased")
		*t.line(y) = line{}
	}
}

// setModes handles DECSET and DECRST.
func (t *Terminal) setModes(args string, on bool) bool {
	known := true
	for mode := range strings.SplitSeq(args, ";") {
		switch mode {
		case "7":
			t.modes.NoWrap = !on
		case "25":
			t.modes.CursorHidden = !on
		case "1000", "1002", "1003", "1006":
			t.modes.Mouse = on
		case "1004":
			t.modes.Focus = on
		case "1049":
			t.alternate(on)
		case "2004":
			t.modes.BracketedPaste = on
		case "2026":
			if on && !t.modes.Sync {
				t.stats.Frames++
			}
			t.modes.Sync = on && !t.opt.NoSync
		default:
			known = false
		}
	}
	return known
}

// alternate changes to the alternate screen and back.
func (t *Terminal) alternate(on bool) {
	if on == t.modes.AltScreen {
		return
	}
	t.modes.AltScreen = on
	if on {
		t.alt = page{lines: make([]line, t.opt.Height), x: t.main.x, y: t.main.y}
		t.kitty[1] = kitty{}
	}
}

// titleStack handles the pushing and popping of the window's title.
func (t *Terminal) titleStack(args string) bool {
	switch args {
	case "22;2", "22;0":
		t.titles = append(t.titles, t.stats.Title)
	case "23;2", "23;0":
		if n := len(t.titles); n > 0 {
			t.stats.Title, t.titles = t.titles[n-1], t.titles[:n-1]
		}
	default:
		return false
	}
	return true
}

// reportMode answers DECRQM.
func (t *Terminal) reportMode(args string) bool {
	value := 0
	switch {
	case args == "2026" && !t.opt.NoSync:
		value = 2
		if t.modes.Sync {
			value = 1
		}
	case args == "25":
		value = 1
		if t.modes.CursorHidden {
			value = 2
		}
	}
	t.reply(fmt.Sprintf("\x1b[?%s;%d$y", args, value))
	return true
}

// report answers the queries about device and cursor.
func (t *Terminal) report(final, args string) bool {
	p := t.page()
	switch {
	case final == "c" && (args == "" || args == "0"):
		t.reply("\x1b[?62;22c")
	case final == "n" && args == "5":
		t.reply("\x1b[0n")
	case final == "n" && args == "6":
		t.reply(fmt.Sprintf("\x1b[%d;%dR", p.y+1, p.x+1))
	case final == "n" && args == "?6":
		t.reply(fmt.Sprintf("\x1b[?%d;%dR", p.y+1, p.x+1))
	case final == "q":
		t.reply("\x1bP>|vt model\x1b\\")
	default:
		return false
	}
	return true
}

func (t *Terminal) modifyKeys(args string) bool {
	resource, value, _ := strings.Cut(args, ";")
	t.modes.ModifyKeys = 0
	if value != "" {
		t.modes.ModifyKeys = arg(value, 0, 0)
	}
	return resource == "4"
}

// kitty is the state of the Kitty keyboard protocol on one screen.
type kitty struct {
	flags int
	stack []int
}

func (t *Terminal) kittyKeys(prefix, args string) bool {
	if t.opt.NoKitty {
		return true
	}
	k := &t.kitty[t.screenIndex()]
	flags := arg(args, 0, 0)
	switch prefix {
	case "?":
		t.reply(fmt.Sprintf("\x1b[?%du", k.flags))
	case ">":
		k.stack = append(k.stack, k.flags)
		k.flags = flags
	case "<":
		for n := arg(args, 0, 1); n > 0; n-- {
			k.pop()
		}
	case "=":
		switch arg(args, 1, 1) {
		case 2:
			k.flags |= flags
		case 3:
			k.flags &^= flags
		default:
			k.flags = flags
		}
	}
	return true
}

func (k *kitty) pop() {
	if len(k.stack) == 0 {
		k.flags = 0
		return
	}
	k.flags = k.stack[len(k.stack)-1]
	k.stack = k.stack[:len(k.stack)-1]
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// probes are letters that occur nowhere else on the screen, so an echo is unmistakable.
var probes = strings.Split("абвгдежзийклмнопрстуфхцчшщъыьэюяαβγδεζηθικλμνξπρστυφχψωბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ", "")

// screen measures the interactive program: start, idleness and a long answer.
func (b *bench) screen() error {
	b.section("In the terminal", "On a pseudoterminal of 120×40. Shown is the prompt's glyph; echoed is the first key, typed from the start on.")
	version, err := b.version(b.agent, 2*b.n)
	if err != nil {
		return err
	}
	b.under("`--version`", "ms", version, 0, 30)
	if err := b.startup(); err != nil {
		return err
	}
	if err := b.idle(); err != nil {
		return err
	}
	if err := b.flood(); err != nil {
		return err
	}
	if err := b.paste(); err != nil {
		return err
	}
	info, err := os.Stat(b.agent.path)
	if err != nil {
		return err
	}
	b.under("size on disk", "MiB", float64(info.Size())/(1<<20), 0, 32)
	return nil
}

// open starts the program in a fresh place and waits for its prompt.
func (b *bench) open(sc scenario) (*terminal, error) {
	home, tree, err := b.fresh()
	if err != nil {
		return nil, err
	}
	b.server.load(sc)
	t, err := b.start(append([]string{b.agent.path}, b.agent.tui...), home, tree)
	if err != nil {
		return nil, err
	}
	if _, err := t.expect(glyph)(); err != nil {
		return nil, errorsFirst(err, t.close())
	}
	t.quiet(300 * time.Millisecond)
	return t, nil
}

// drawn measures the time until a long session appears.
func (b *bench) drawn(prog program, n int) (float64, error) {
	var v []float64
	for range n {
		argv := append(append([]string{prog.path}, prog.tui...), "-c")
		t, err := b.start(argv, b.root+"/home", b.root+"/tree")
		if err != nil {
			return 0, err
		}
		at, err := t.expect("bypass mode")() // the status line, drawn with the prompt
		if err != nil {
			return 0, errorsFirst(err, t.close())
		}
		v = append(v, ms(at.Sub(t.begin)))
		if err := t.close(); err != nil {
			return 0, err
		}
	}
	return percentile(v, 50), nil
}

func (b *bench) startup() error {
	var shown, echoed, served []float64
	for range b.n {
		home, tree, err := b.fresh()
		if err != nil {
			return err
		}
		t, err := b.start(append([]string{b.agent.path}, b.agent.tui...), home, tree)
		if err != nil {
			return err
		}
		at, err := t.expect(glyph)()
		if err != nil {
			return errorsFirst(err, t.close())
		}
		shown = append(shown, ms(at.Sub(t.begin)))
		if err := t.close(); err != nil {
			return err
		}
		echo, err := b.firstEcho(home, tree)
		if err != nil {
			return err
		}
		echoed = append(echoed, echo)
		ten, err := b.served()
		if err != nil {
			return err
		}
		served = append(served, ten)
	}
	b.under("prompt shown", "ms", percentile(shown, 50), 0, 35)
	b.under(fmt.Sprintf("prompt shown, with %d MCP servers", mcpServers), "ms", percentile(served, 50), 0, 35)
	b.under("first typed key echoed", "ms", percentile(echoed, 50), 0, 45)
	return nil
}

// firstEcho types one key before the program can be ready.
func (b *bench) firstEcho(home, tree string) (float64, error) {
	t, err := b.start(append([]string{b.agent.path}, b.agent.tui...), home, tree)
	if err != nil {
		return 0, err
	}
	wait := t.expect(probes[0]) // without the terminal's own echo
	if _, err := t.key(probes[0]); err != nil {
		return 0, errorsFirst(err, t.close())
	}
	at, err := wait()
	return ms(at.Sub(t.begin)), errorsFirst(err, t.close())
}

func (b *bench) idle() error {
	const span = 20 * time.Second
	t, err := b.open(noop())
	if err != nil {
		return err
	}
	t.quiet(time.Second)
	before, _, _, err := t.proc()
	if err != nil {
		return err
	}
	<-time.After(span)
	after, rss, _, err := t.proc()
	if err != nil {
		return err
	}
	b.under("idle memory", "MiB", rss, 0, 35)
	b.under("idle CPU in 20 s", "ms", after-before, 0, 40)
	return t.close()
}

// flood measures an answer of 100,000 characters in one piece.
func (b *bench) flood() error {
	var wall, cpu, kib, peak []float64
	for range b.n {
		f, err := b.flooded()
		if err != nil {
			return err
		}
		wall, cpu, kib, peak = append(wall, f.wall), append(cpu, f.cpu), append(kib, f.kib), append(peak, f.peak)
	}
	b.more = []string{"AGENT_INTERFACE_THEME=ansi"}
	own, err := b.flooded()
	b.more = nil
	if err != nil {
		return err
	}
	b.under("100,000 characters: Enter to last word", "ms", percentile(wall, 50), 0, 500)
	b.under("… CPU", "ms", percentile(cpu, 50), 0, 700)
	b.under("… written to the terminal in its own colors", "KiB", own.kib, 0, 140)
	b.under("… in those of a theme, which are longer to name", "KiB", percentile(kib, 50), 0, 210)
	b.under("… peak memory", "MiB", percentile(peak, 50), 0, 60)
	return nil
}

// torrent is the cost of a long answer: milliseconds, KiB written, MiB.
type torrent struct{ wall, cpu, kib, peak float64 }

func (b *bench) flooded() (f torrent, err error) {
	t, err := b.open(stream(100_000))
	if err != nil {
		return f, err
	}
	defer func() { err = errorsFirst(err, t.close()) }()
	before, _, _, err := t.proc()
	if err != nil {
		return f, err
	}
	written := t.written()
	wait := t.expect(endMark)
	at, err := t.key("go\r")
	if err != nil {
		return f, err
	}
	end, err := wait()
	if err != nil {
		return f, err
	}
	t.quiet(500 * time.Millisecond)
	after, _, most, err := t.proc()
	return torrent{ms(end.Sub(at)), after - before, float64(t.written()-written) / 1024, most}, err
}

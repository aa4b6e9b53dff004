//go:build linux

// Command bench measures the whole program, next to a minimal client that does the same
// work, and writes docs/performance.md. It needs Linux and ripgrep.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == mcpArgument {
		if err := serveMCP(); err != nil {
			os.Exit(1)
		}
		return
	}
	out := flag.String("o", "docs/performance.md", "the report's file; - for standard output only")
	runs := flag.Int("n", 5, "counted runs of each figure")
	only := flag.String("only", "", "one part: headless, wires, session, screen, typing, turns, effects, trials or checks")
	flag.Parse()
	// The model server in this process must not delay the terminal's reader.
	runtime.GOMAXPROCS(max(4, runtime.NumCPU()))
	if err := run(*out, *runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(out string, n int, only string) error {
	root, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root) // temporary; left to the system if it fails
	agent, floor, err := build(root)
	if err != nil {
		return err
	}
	srv, err := newServer()
	if err != nil {
		return err
	}
	b := &bench{place: place{root: root, server: srv}, agent: agent, floor: floor, n: n}
	parts := []struct {
		name string
		run  func() error
	}{{"headless", b.headless}, {"wires", b.wires}, {"session", b.session}, {"screen", b.screen}, {"typing", b.typing}, {"turns", b.turns}, {"effects", b.effects}, {"trials", b.trials}, {"checks", b.checks}}
	for _, p := range parts {
		if only != "" && only != p.name {
			continue
		}
		begin := time.Now()
		if err := p.run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %s\n", p.name, time.Since(begin).Round(time.Second))
	}
	return b.finish(out, only)
}

// bench is one run of all measurements.
type bench struct {
	place
	report
	agent, floor program
	n            int
}

func (b *bench) finish(out, only string) error {
	if err := b.write(os.Stdout); err != nil || out == "-" || only != "" {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := b.write(f); err != nil {
		return err
	}
	return f.Close()
}

// build compiles both programs as they are released.
func build(root string) (agent, floor program, err error) {
	agent = program{
		name: "agent", path: filepath.Join(root, "agent"),
		headless: []string{"--permission-mode", "bypass", "--output-format", "json", "-p"},
		resume:   []string{"--permission-mode", "bypass", "--output-format", "json", "-c", "-p"},
		tui:      []string{"--permission-mode", "bypass"},
	}
	floor = program{name: "floor", path: filepath.Join(root, "floor"), headless: []string{"-p"}}
	for path, pkg := range map[string]string{agent.path: "./cmd/agent", floor.path: "./tools/bench/floor"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, pkg) //nolint:gosec // fixed words
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return agent, floor, err
		}
	}
	return agent, floor, nil
}

// starts is how many times more often than others a run is counted that hardly does more than start: to
// join a control group takes a few milliseconds or a few more.
const starts = 4

// headless measures one prompt, answered without questions.
func (b *bench) headless() error {
	b.section("One prompt, headless", "Start to exit, median. An edit round is a read or an edit; every edit is on disk (fsync) before the next request.")
	goals := []struct {
		sc   scenario
		most float64
		runs int
	}{{noop(), 3, starts * b.n}, {edits(50), 2.5, b.n}, {shells(20), 2.5, b.n}, {greps(10), 1.2, b.n}, {stream(100_000), 2, b.n}}
	ours, floor := map[string]figures{}, map[string]figures{}
	for _, g := range goals {
		f, a, err := b.medians(g.sc, g.runs)
		if err != nil {
			return err
		}
		ours[g.sc.name], floor[g.sc.name] = a, f
		b.times(g.sc.name, "ms", a.wall, f.wall, g.most)
	}
	edit, shell := ours["edit-50"], ours["shell-20"]
	b.under("own cost of an edit round", "ms", percentile(edit.rounds, 50), percentile(floor["edit-50"].rounds, 50), 1.5)
	b.under("own cost of a shell round", "ms", percentile(shell.rounds, 50), percentile(floor["shell-20"].rounds, 50), 3)
	b.under("CPU of edit-50", "ms", edit.cpu, floor["edit-50"].cpu, 120)
	for _, name := range []string{"noop", "edit-50", "stream-100k"} {
		b.under("peak memory of "+name, "MiB", ours[name].peakMiB, floor[name].peakMiB, 40)
	}
	b.under("first request", "KiB", edit.firstKiB, floor["edit-50"].firstKiB, 8)
	b.under("requests beside the turns' own", "", float64(edit.otherReqs), 0, 0)
	return nil
}

// wires measures the protocols beside chat completions. The floor speaks only that one,
// as its work is the same in all of them.
func (b *bench) wires() error {
	b.section("The other protocols, headless",
		"As above, by Anthropic's Messages API and OpenAI's Responses API. The floor speaks chat completions.")
	defer func() { b.wire = "" }()
	for _, w := range []struct{ wire, name string }{{"anthropic", "Messages"}, {"responses", "Responses"}} {
		b.wire = w.wire
		if err := b.wireRows(w.name); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// wireRows measures the protocol in use beside the floor's figures.
func (b *bench) wireRows(name string) error {
	idle, start, err := b.medians(noop(), starts*b.n/2) // the start itself is the same by each protocol
	if err != nil {
		return err
	}
	busy, edit, err := b.medians(edits(50), b.n)
	if err != nil {
		return err
	}
	b.times("noop by "+name, "ms", start.wall, idle.wall, 3)
	b.times("edit-50 by "+name, "ms", edit.wall, busy.wall, 2.5)
	b.under("own cost of an edit round by "+name, "ms", percentile(edit.rounds, 50), percentile(busy.rounds, 50), 1.5)
	b.under("first request by "+name, "KiB", edit.firstKiB, busy.firstKiB, 8)
	b.under("requests beside the turns' own by "+name, "", float64(edit.otherReqs), 0, 0)
	return nil
}

// session measures one long session and resuming it.
func (b *bench) session() error {
	b.section(fmt.Sprintf("A session of %d rounds", growthRounds),
		"Reads and edits in turn; a round's cost is from the last byte of an answer to the whole of the next request. The request grows to about a megabyte.")
	f, err := b.grow(b.floor, 3)
	if err != nil {
		return err
	}
	a, err := b.grow(b.agent, 3)
	if err != nil {
		return err
	}
	b.under("wall", "s", a.wall/1000, f.wall/1000, 2)
	b.under("CPU", "s", a.cpu/1000, f.cpu/1000, 2)
	b.under("round 10", "ms", a.early, f.early, 1.5)
	b.under("round 490", "ms", a.late, f.late, 3.2)
	b.under("peak memory", "MiB", a.peakMiB, f.peakMiB, 70)
	again, err := b.again(b.agent, b.n)
	if err != nil {
		return err
	}
	b.under("one more turn (-c -p)", "ms", again.wall, 0, 80)
	b.under("… start to its request", "ms", again.firstReq, 0, 60)
	drawn, err := b.drawn(b.agent, b.n)
	if err != nil {
		return err
	}
	b.under("continued in the terminal (-c), start to prompt", "ms", drawn, 0, 100)
	return nil
}

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// place is the scene of the measured programs: a home and a tree for each run.
type place struct {
	root   string
	server *server
	wire   string   // of the model, as the configuration names it; empty for chat completions
	more   []string // environment
}

// program is one measured program.
type program struct {
	name     string
	path     string
	headless []string // before the prompt
	resume   []string
	tui      []string
}

// env is the whole environment of a run, without our own variables. Like a person's it
// names the shell: without that, bash looks it up in the list of users for each command.
func (p *place) env(home string) []string {
	model := "openai/bench"
	if p.wire != "" {
		model = p.wire + "/bench"
	}
	return append([]string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/bash", "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8",
		"OPENAI_BASE_URL=" + p.server.url, "OPENAI_API_KEY=x", "AGENT_MODEL=" + model,
	}, p.more...)
}

// fresh makes an empty home and a new tree.
func (p *place) fresh() (home, tree string, err error) {
	home, tree = filepath.Join(p.root, "home"), filepath.Join(p.root, "tree")
	if err := os.RemoveAll(home); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(filepath.Join(home, ".agent"), 0o700); err != nil {
		return "", "", err
	}
	if p.wire != "" {
		provider := fmt.Sprintf("providers:\n  %s: {base_url: %q, api_key_env: OPENAI_API_KEY, wire: %[1]s}\n", p.wire, p.server.url)
		if err := os.WriteFile(filepath.Join(home, ".agent", "config.yaml"), []byte(provider), 0o600); err != nil {
			return "", "", err
		}
	}
	if _, err := os.Stat(tree); err != nil {
		return home, tree, makeTree(tree, 2000)
	}
	return home, tree, os.WriteFile(filepath.Join(tree, counterFile), []byte(source(0)), 0o644)
}

// figures are the measurements of one run; all but size in milliseconds.
type figures struct {
	wall, cpu   float64
	peakMiB     float64
	rounds      []float64 // own cost of each round: from answer sent to next request received
	firstKiB    float64
	firstReq    float64 // start to first request
	otherReqs   int
	lastBodyKiB float64
}

// measure runs a program over a scenario and checks that it did the work.
func (p *place) measure(argv []string, sc scenario, home, tree string) (figures, error) {
	rest()
	p.server.load(sc)
	g := newGroup()
	joined := g.wrap(argv)
	cmd := exec.Command(joined[0], joined[1:]...) //nolint:gosec // the programs under measurement
	cmd.Dir, cmd.Env = tree, p.env(home)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return figures{}, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out.String())
	}
	f := figures{wall: ms(time.Since(begin))}
	f.cpu = ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	if cpu, ok := g.cpu(); ok {
		f.cpu = cpu
	}
	if err := g.close(); err != nil {
		return figures{}, fmt.Errorf("%s left processes behind: %w", argv[0], err)
	}
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.peakMiB = float64(ru.Maxrss) / 1024
	}
	f.requests(p.server, begin)
	return f, p.check(sc, tree, out.Bytes(), f)
}

func (f *figures) requests(s *server, begin time.Time) {
	reqs, other := s.requests()
	f.otherReqs = other
	for i, r := range reqs {
		if i == 0 {
			f.firstKiB, f.firstReq = float64(r.size)/1024, ms(r.got.Sub(begin))
			continue
		}
		f.rounds = append(f.rounds, ms(r.got.Sub(reqs[i-1].end)))
	}
	if len(reqs) > 0 {
		f.lastBodyKiB = float64(reqs[len(reqs)-1].size) / 1024
	}
}

// check fails if a run was fast because it did nothing.
func (p *place) check(sc scenario, tree string, out []byte, f figures) error {
	if got, want := len(f.rounds)+1, len(sc.steps); got != want {
		return fmt.Errorf("%s: %d of %d requests\n%s", sc.name, got, want, out)
	}
	if strings.HasPrefix(sc.name, "stream-") && !bytes.Contains(out, []byte(endMark)) {
		return fmt.Errorf("%s: the answer did not arrive whole", sc.name)
	}
	if n, ok := strings.CutPrefix(sc.name, "edit-"); ok {
		var rounds int
		if _, err := fmt.Sscan(n, &rounds); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(tree, counterFile))
		if err != nil {
			return err
		}
		if !bytes.Contains(text, fmt.Appendf(nil, "const Counter = %d\n", rounds/2)) {
			return fmt.Errorf("%s: the edits did not land\n%s", sc.name, out)
		}
	}
	return nil
}

// medians measures n runs of the floor and of the program in turn, each in a fresh place,
// after a warm-up run.
func (b *bench) medians(sc scenario, n int) (floor, ours figures, err error) {
	var runs [2][]figures
	for i := range n + 1 {
		for k, prog := range []program{b.floor, b.agent} {
			home, tree, err := b.fresh()
			if err != nil {
				return floor, ours, err
			}
			f, err := b.measure(append(append([]string{prog.path}, prog.headless...), "do the work"), sc, home, tree)
			if err != nil {
				return floor, ours, err
			}
			if i > 0 {
				runs[k] = append(runs[k], f)
			}
		}
	}
	return middle(runs[0]), middle(runs[1]), nil
}

// middle takes the median of each figure.
func middle(runs []figures) figures {
	of := func(pick func(figures) float64) float64 {
		var v []float64
		for _, r := range runs {
			v = append(v, pick(r))
		}
		return percentile(v, 50)
	}
	out := runs[0]
	out.wall = of(func(f figures) float64 { return f.wall })
	out.cpu = of(func(f figures) float64 { return f.cpu })
	out.peakMiB = of(func(f figures) float64 { return f.peakMiB })
	out.firstReq = of(func(f figures) float64 { return f.firstReq })
	out.rounds = nil
	for _, r := range runs {
		out.rounds = append(out.rounds, percentile(r.rounds, 50))
	}
	return out
}

// rest pauses between runs, since a run right after another finds everything warm,
// unlike a person who starts a program.
func rest() { <-time.After(100 * time.Millisecond) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// percentile returns the p-th percentile of v, zero if v is empty.
func percentile(v []float64, p int) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, len(s)*p/100)]
}

// version measures `prog --version`.
func (p *place) version(prog program, n int) (float64, error) {
	var v []float64
	for range n {
		cmd := exec.Command(prog.path, "--version") //nolint:gosec // the program under measurement
		cmd.Stdout = io.Discard
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		v = append(v, ms(time.Since(begin)))
	}
	return percentile(v, 50), nil
}

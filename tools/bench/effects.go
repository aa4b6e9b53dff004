//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// commandRounds is the number of commands in each folder; the first one is not measured.
const commandRounds = 61

// effects measures the cost of knowing the effects of a command.
func (b *bench) effects() error {
	b.section("A command in a large folder", fmt.Sprintf(
		"A round with a command that may change files: the time beyond the model's, p95 of %d. Beforehand and afterwards the program\n"+
			"looks at each file. The first command of a session, which copies them, is not among these.", commandRounds-1))
	for _, size := range []struct {
		files int
		most  float64
	}{{2_000, 30}, {50_000, 150}} {
		if err := b.commandRows(size.files, size.most); err != nil {
			return err
		}
	}
	return nil
}

// commandRows measures commands in a folder with so many files.
func (b *bench) commandRows(files int, most float64) error {
	p, err := b.large(files)
	if err != nil {
		return err
	}
	for _, changed := range []int{0, 4} {
		ours, err := p.commands(b.agent, changed)
		if err != nil {
			return err
		}
		floor, err := p.commands(b.floor, changed)
		if err != nil {
			return err
		}
		b.under(fmt.Sprintf("%d files, %d changed", files, changed), "ms", ours, floor, most)
	}
	return nil
}

// large returns a place whose tree has so many files. Each is made once.
func (b *bench) large(files int) (place, error) {
	p := place{root: filepath.Join(b.root, fmt.Sprintf("files-%d", files)), server: b.server}
	tree := filepath.Join(p.root, "tree")
	if _, err := os.Stat(tree); err == nil {
		return p, nil
	}
	if err := makeTree(tree, files); err != nil {
		return p, err
	}
	syscall.Sync() // else the journal waits for these files
	return p, nil
}

// commands returns the 95th percentile of the rounds with a command that changes files.
func (p *place) commands(prog program, changed int) (float64, error) {
	home, tree, err := p.fresh()
	if err != nil {
		return 0, err
	}
	sc := scenario{name: "commands"}
	for i := range commandRounds {
		line := fmt.Sprintf("touch -c absent%d", i)
		if changed > 0 {
			line = fmt.Sprintf("for i in {1..%d}; do echo %d > pkg00/changed$i; done", changed, i)
		}
		sc.steps = append(sc.steps, step{tool: "execute_command", args: map[string]any{"command": line}})
	}
	sc.steps = append(sc.steps, step{text: "ok"})
	argv := append(append([]string{prog.path}, prog.headless...), "do the work")
	f, err := p.measure(argv, sc, home, tree)
	if err != nil {
		return 0, err
	}
	return percentile(f.rounds[1:], 95), nil
}

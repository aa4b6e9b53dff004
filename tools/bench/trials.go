//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// trials measures commands that first run in a copy of the folder.
func (b *bench) trials() error {
	b.section("A command in a copy of a large folder", fmt.Sprintf(
		"A round with a command that runs in a copy and changes nothing: the time beyond the model's, p95 of %d. Nothing is copied, with and\n"+
			"without reflinks. The first command also tries whether the system can, and looks at all names. Kept is the space on the disk that stays used for the next session.", commandRounds-1))
	for _, size := range []struct {
		files       int
		first, most float64
	}{{2_000, 300, 40}, {50_000, 1_000, 180}} {
		if err := b.trialRows(size.files, size.first, size.most); err != nil {
			return err
		}
	}
	return nil
}

// trialRows measures commands in a copy of a folder with so many files.
func (b *bench) trialRows(files int, first, most float64) error {
	p, err := b.large(files)
	if err != nil {
		return err
	}
	home, tree, err := p.fresh()
	if err != nil {
		return err
	}
	sc := scenario{name: "trials"}
	for i := range commandRounds {
		sc.steps = append(sc.steps, step{tool: "execute_command", args: map[string]any{"command": fmt.Sprintf("touch -c absent%d", i)}})
	}
	sc.steps = append(sc.steps, step{text: "ok"})
	ours, err := p.measure([]string{b.agent.path, "--trust", "--permission-mode", "default", "--output-format", "json", "-p", "do the work"}, sc, home, tree)
	if err != nil {
		return err
	}
	state := filepath.Join(home, ".agent", "trials")
	if marks, err := filepath.Glob(filepath.Join(state, "*", "*", "in-use")); err != nil || len(marks) == 0 {
		return errors.Join(errors.New("no command ran in a copy"), err)
	}
	kept, err := sizeOf(state)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("a copy of %d files", files)
	b.under(name+", the first command", "ms", ours.rounds[0], 0, first)
	b.under(name+", a later one", "ms", percentile(ours.rounds[1:], 95), 0, most)
	b.under(name+", peak memory", "MiB", ours.peakMiB, 0, 60)
	b.under(name+", kept", "KiB", kept/1024, 0, 64)
	return nil
}

// sizeOf returns the bytes that the files of a folder take on the disk.
func sizeOf(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if st, ok := info.Sys().(*syscall.Stat_t); err == nil && ok {
			bytes += float64(st.Blocks) * 512
		}
		return err
	})
	return bytes, err
}

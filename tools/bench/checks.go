//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// checkRounds is the number of checked proposals; the first one is not measured.
const checkRounds = 8

// checks measures the cost of trying a proposal before its question.
func (b *bench) checks() (err error) {
	b.section("A check of a proposal", fmt.Sprintf(
		"With `check: true`, a command that does nothing, in a folder of 2,000 files: from the end of the model's answer to the result in the\n"+
			"question on the screen, median of %d. It holds the sandbox, the shell and a look at each file. The first check of a session copies the files.", checkRounds-1))
	home, tree, err := b.fresh()
	if err != nil {
		return err
	}
	config := []byte("check: \"true\"\npermission_mode: default\n")
	if err := os.WriteFile(filepath.Join(home, ".agent", "config.yaml"), config, 0o600); err != nil {
		return err
	}
	b.server.load(edits(2 * checkRounds))
	t, err := b.start([]string{b.agent.path}, home, tree)
	if err != nil {
		return err
	}
	defer func() { err = errorsFirst(err, t.close()) }()
	if _, err := t.expect(glyph)(); err != nil {
		return err
	}
	t.quiet(300 * time.Millisecond)
	first, err := b.checked(t, "go\r")
	if err != nil {
		return err
	}
	t.quiet(3 * time.Second) // the question accepts no key so soon after text
	var later []float64
	for range checkRounds - 1 {
		took, err := b.checked(t, "y")
		if err != nil {
			return err
		}
		later = append(later, took)
		t.quiet(time.Second)
	}
	b.under("the first check", "ms", first, 0, 500)
	b.under("a later check", "ms", percentile(later, 50), 0, 50)
	return nil
}

// checked presses a key that leads to a question, and returns the time from the answer of
// the model to the result of its check.
func (b *bench) checked(t *terminal, key string) (float64, error) {
	green := t.expect("true ✔")
	if _, err := t.key(key); err != nil {
		return 0, err
	}
	at, err := green()
	if err != nil {
		return 0, err
	}
	reqs, _ := b.server.requests()
	took := at.Sub(reqs[len(reqs)-1].end)
	if took < 0 {
		return 0, fmt.Errorf("the result of a check came %s before its proposal", -took)
	}
	return ms(took), nil
}

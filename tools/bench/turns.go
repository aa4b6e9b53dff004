//go:build linux

package main

import (
	"fmt"
	"time"
)

// longTurns is the length of the long conversation.
const longTurns = 500

// slowTurns is the number of turns measured at a point; their answers are slow, so that
// they are drawn frame by frame.
const slowTurns = 3

// stage is the cost of the screen at one point of a conversation.
type stage struct {
	keyBytes, keyCPU     float64 // of a key; µs
	frameBytes, frameCPU float64 // of a frame of an answer; µs
	memory               float64 // MiB
}

// turns measures whether the screen costs more as a conversation grows.
func (b *bench) turns() error {
	b.beside("turn 10", fmt.Sprintf("A conversation of %d turns in the terminal", longTurns),
		"One run; each turn reads a file and answers with 2,000 characters. Compared are turn 10 and the last one: 60 keys\n"+
			"typed at rest, and the frames of answers that come at 800 characters a second. Memory includes the conversation itself,\n"+
			"1.5 MB of text, which is kept three times: as said, as sent with each request, and as shown.")
	t, err := b.open(long(longTurns, func(turn int) bool {
		return turn > 10-slowTurns && turn <= 10 || turn > longTurns-slowTurns
	}))
	if err != nil {
		return err
	}
	early, err := t.talk(1, 10)
	if err != nil {
		return errorsFirst(err, t.close())
	}
	late, err := t.talk(11, longTurns)
	if err != nil {
		return errorsFirst(err, t.close())
	}
	b.times("a key, written", "bytes", late.keyBytes, early.keyBytes, 1.05)
	b.times("… CPU", "µs", late.keyCPU, early.keyCPU, 1.5)
	b.times("a frame of an answer, written", "bytes", late.frameBytes, early.frameBytes, 1.1)
	b.times("… CPU", "µs", late.frameCPU, early.frameCPU, 1.5)
	b.times("memory", "MiB", late.memory, early.memory, 1.5)
	return t.close()
}

// talk runs the turns from first to last, and measures the last ones.
func (t *terminal) talk(first, last int) (stage, error) {
	var frameBytes, frameCPU []float64
	for turn := first; turn <= last-slowTurns; turn++ {
		if err := t.quickTurn(turn); err != nil {
			return stage{}, err
		}
	}
	for turn := last - slowTurns + 1; turn <= last; turn++ {
		written, cpu, err := t.slowTurn(turn)
		if err != nil {
			return stage{}, err
		}
		frameBytes, frameCPU = append(frameBytes, written), append(frameCPU, cpu)
	}
	t.quiet(time.Second)
	s := stage{frameBytes: percentile(frameBytes, 50), frameCPU: percentile(frameCPU, 50)}
	if err := t.type60(&s); err != nil {
		return s, err
	}
	var err error
	_, s.memory, _, err = t.proc()
	return s, err
}

// quickTurn sends a prompt and waits for the end of its answer.
func (t *terminal) quickTurn(n int) error {
	ended := t.expect(fmt.Sprintf("end%04d", n))
	if _, err := t.key("go\r"); err != nil {
		return err
	}
	_, err := ended()
	t.quiet(20 * time.Millisecond) // the turn has ended: the next prompt is not queued
	return err
}

// slowTurn is quickTurn with a slow answer: it returns the bytes and the CPU time (µs)
// of a frame, on average from the first word to the last.
func (t *terminal) slowTurn(n int) (written, cpu float64, err error) {
	begun := t.expect(fmt.Sprintf("begin%04d", n))
	if _, err := t.key("go\r"); err != nil {
		return 0, 0, err
	}
	if _, err := begun(); err != nil {
		return 0, 0, err
	}
	ended := t.expect(fmt.Sprintf("end%04d", n))
	from, frames := t.written(), t.reads()
	before, err := t.spent()
	if err != nil {
		return 0, 0, err
	}
	if _, err := ended(); err != nil {
		return 0, 0, err
	}
	written, frames = float64(t.written()-from), t.reads()-frames
	after, err := t.spent()
	t.quiet(20 * time.Millisecond)
	return written / float64(frames), (after - before) / float64(frames), err
}

// type60 types 60 keys at rest and takes them back.
func (t *terminal) type60(s *stage) error {
	const keys = 60
	from := t.written()
	before, err := t.spent()
	if err != nil {
		return err
	}
	for i := range keys {
		if _, err := t.echo(probes[i]); err != nil {
			return err
		}
		<-time.After(10 * time.Millisecond)
	}
	after, err := t.spent()
	if err != nil {
		return err
	}
	s.keyBytes, s.keyCPU = float64(t.written()-from)/keys, (after-before)/keys
	for range keys {
		if _, err := t.key("\x7f"); err != nil {
			return err
		}
	}
	t.quiet(300 * time.Millisecond)
	return nil
}

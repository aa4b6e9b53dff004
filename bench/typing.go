//go:build linux

package main

import (
	"strings"
	"time"
)

// typing measures key to echo: at rest, while the model talks, under a flood.
func (b *bench) typing() error {
	b.section("Typing while the model streams", "One key after the other, each from its write to its echo.")
	rest, slow, err := b.typeDuring(paced(12_000), 140, 97*time.Millisecond)
	if err != nil {
		return err
	}
	b.under("at rest, p50", "ms", percentile(rest, 50), 0, 3)
	b.under("800 characters a second, p50", "ms", percentile(slow, 50), 0, 4)
	b.under("800 characters a second, p99", "ms", percentile(slow, 99), 0, 10)
	var flood []float64
	for range b.n {
		_, v, err := b.typeDuring(stream(100_000), 12, 40*time.Millisecond)
		if err != nil {
			return err
		}
		flood = append(flood, v...)
	}
	b.under("100,000 characters at once, p99", "ms", percentile(flood, 99), 0, 30)
	return nil
}

// typeDuring types 15 keys at rest and n while the scenario streams, every so often.
func (b *bench) typeDuring(sc scenario, n int, every time.Duration) (rest, during []float64, err error) {
	t, err := b.open(sc)
	if err != nil {
		return nil, nil, err
	}
	next := 0
	echo := func(into *[]float64) error {
		wait := t.expect(probes[next%len(probes)])
		at, err := t.key(probes[next%len(probes)])
		if err != nil {
			return err
		}
		next++
		seen, err := wait()
		*into = append(*into, ms(seen.Sub(at)))
		return err
	}
	for range 15 {
		if err := echo(&rest); err != nil {
			return nil, nil, errorsFirst(err, t.close())
		}
		<-time.After(80 * time.Millisecond)
	}
	if _, err := t.key(strings.Repeat("\x7f", 15) + "go\r"); err != nil {
		return nil, nil, err
	}
	for range n {
		<-time.After(every)
		if err := echo(&during); err != nil {
			return nil, nil, errorsFirst(err, t.close())
		}
	}
	return rest, during, t.close()
}

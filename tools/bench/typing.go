//go:build linux

package main

import (
	"fmt"
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
	for range 4 * b.n { // a flood is over in a tenth of a second
		v, err := b.typeInto(stream(100_000))
		if err != nil {
			return err
		}
		flood = append(flood, v...)
	}
	b.under("100,000 characters at once, p50", "ms", percentile(flood, 50), 0, 10)
	b.under(fmt.Sprintf("100,000 characters at once, p99 of %d keys", len(flood)), "ms", percentile(flood, 99), 0, 20)
	return nil
}

// typeInto types from the first words of the answer until the last one is on the screen. With a key right behind Enter, both
// would count as pasted.
func (b *bench) typeInto(sc scenario) (keys []float64, err error) {
	t, err := b.open(sc)
	if err != nil {
		return nil, err
	}
	t.note(endMark)
	begun := t.expect("part 1")
	if _, err := t.key("go\r"); err != nil {
		return nil, errorsFirst(err, t.close())
	}
	begin, err := begun()
	if err != nil {
		return nil, errorsFirst(err, t.close())
	}
	for i := 0; !t.noted(); i++ {
		took, err := t.echo(probes[i%len(probes)])
		if time.Since(begin) > patience {
			err = errorsFirst(err, fmt.Errorf("no %q within %s", endMark, patience))
		}
		if err != nil {
			return nil, errorsFirst(err, t.close())
		}
		keys = append(keys, took)
		<-time.After(2 * time.Millisecond)
	}
	return keys, t.close()
}

// echo types a key and waits for it to be shown.
func (t *terminal) echo(key string) (float64, error) {
	wait := t.expect(key)
	at, err := t.key(key)
	if err != nil {
		return 0, err
	}
	seen, err := wait()
	return ms(seen.Sub(at)), err
}

// typeDuring types 15 keys at rest and n while the scenario streams, every so often.
func (b *bench) typeDuring(sc scenario, n int, every time.Duration) (rest, during []float64, err error) {
	t, err := b.open(sc)
	if err != nil {
		return nil, nil, err
	}
	next := 0
	echo := func(into *[]float64) error {
		took, err := t.echo(probes[next%len(probes)])
		*into = append(*into, took)
		next++
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
	if sent, _ := b.server.requests(); len(sent) != 1 {
		err = fmt.Errorf("%d requests while typing", len(sent))
	}
	return rest, during, errorsFirst(err, t.close())
}

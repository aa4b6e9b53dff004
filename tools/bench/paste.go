//go:build linux

package main

import "strings"

// paste measures pasting 10 MB: the time to its placeholder, and to the echo of the
// next key.
func (b *bench) paste() error {
	line := "0123456789 the quick brown fox jumps over it\n"
	text := "\x1b[200~" + strings.Repeat(line, 10<<20/len(line)+1) + "\x1b[201~"
	var wall, peak []float64
	for range b.n {
		t, err := b.open(noop())
		if err != nil {
			return err
		}
		wait := t.expect(probes[0])
		at, err := t.key(text + probes[0])
		if err != nil {
			return errorsFirst(err, t.close())
		}
		seen, err := wait()
		if err != nil {
			return errorsFirst(err, t.close())
		}
		_, _, most, err := t.proc()
		if err := errorsFirst(err, t.close()); err != nil {
			return err
		}
		wall, peak = append(wall, ms(seen.Sub(at))), append(peak, most)
	}
	b.under("10 MB pasted, to the echo of the key behind them", "ms", percentile(wall, 50), 0, 2000)
	b.under("… peak memory", "MiB", percentile(peak, 50), 0, 150)
	return nil
}

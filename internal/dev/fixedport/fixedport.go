// Package fixedport chooses ports that stay free after they were closed: the system gives
// them to nobody who does not name them.
package fixedport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
)

// The range that ports are taken from. Systems choose greater ones for programs that name
// none: Linux from 32768, others from 49152.
const low, high = 12_000, 32_000

// tries is the number of ports that are tried: few of the range are taken.
const tries = 100

// Listen listens on 127.0.0.1, on a port of the range.
func Listen(tb testing.TB) net.Listener {
	tb.Helper()
	var err error
	for range tries {
		var l net.Listener
		if l, err = net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", low+rand.IntN(high-low))); err == nil {
			return l
		}
	}
	tb.Fatalf("none of %d ports is free: %v", tries, err)
	return nil
}

// Silent returns a port on which nothing listens.
func Silent(tb testing.TB) int {
	tb.Helper()
	l := Listen(tb)
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return Of(l)
}

// Of returns the port that a listener of TCP has.
func Of(l net.Listener) int { return int(netip.MustParseAddrPort(l.Addr().String()).Port()) }

// Package stress chooses the size and the seed of random tests. It guarantees that a test
// that fails names its seed and can be repeated with it.
package stress

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Size returns how often a test tries: full if AGENT_TEST_FULL is set, else reduced.
func Size(reduced, full int) int {
	if os.Getenv("AGENT_TEST_FULL") != "" {
		return full
	}
	return reduced
}

// Seed returns AGENT_TEST_SEED if it is set, else a random number, which a test that fails
// logs at its end.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("AGENT_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d (AGENT_TEST_SEED)", seed)
		}
	})
	return seed
}

// Faults counts the faults in a random test, by name.
type Faults map[string]int

// Check reports the counts, and an error for each name that never happened.
func (f Faults) Check(t testing.TB, names ...string) {
	t.Helper()
	t.Log(map[string]int(f))
	for _, name := range names {
		if f[name] == 0 {
			t.Errorf("%q never happened", name)
		}
	}
}

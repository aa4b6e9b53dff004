package repl

import "testing"

func TestOneProcessorIsReserved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ found, want int }{{1, 4}, {2, 4}, {4, 4}, {16, 16}} {
		have := tt.found
		reserveProcessor(func(n int) int {
			was := have
			if n > 0 {
				have = n
			}
			return was
		})
		if have != tt.want {
			t.Errorf("of %d processors there are %d, want %d", tt.found, have, tt.want)
		}
	}
}

package workspace

import (
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// swapPatiently is swap for a file that another program may hold open for a moment. In that time it
// may have changed, so it is looked at again.
func (k *commit) swapPatiently() error {
	if k.hosted || !k.from.Exists() || k.from.IsDir() || k.to.IsDir() {
		return k.swap()
	}
	again := false
	return statefile.Patiently(func() error {
		if again {
			if err := k.checkAgain(); err != nil {
				return err
			}
		}
		again = true
		return k.swap()
	})
}

// swap puts the new state in the place of the old one.
func (k *commit) swap() (err error) {
	switch {
	case k.hosted:
		err = k.swapByHost()
		k.placed = err == nil
	case k.dir == nil: // nothing is there, as intended
		k.placed = true
	default:
		k.placed, err = k.put()
		if errors.Is(err, ErrNotDurable) {
			k.late, err = fmt.Errorf("%s %w", k.change.Name, err), nil
		}
	}
	return err
}

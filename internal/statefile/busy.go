package statefile

import "time"

// How long a file that another program holds open is tried again, as a scanner of Windows does for a
// moment with each new file.
const (
	busyTime  = 2 * time.Second
	busyPause = 10 * time.Millisecond
)

// Patiently calls do until it does not fail because another program holds a file open, for two
// seconds at most. On systems other than Windows that is no reason to fail.
func Patiently(do func() error) error {
	return patiently(do, Busy, time.Now, func(d time.Duration) { <-time.After(d) })
}

func patiently(do func() error, busy func(error) bool, now func() time.Time, sleep func(time.Duration)) error {
	end := now().Add(busyTime)
	for {
		err := do()
		if err == nil || !busy(err) || !now().Before(end) {
			return err
		}
		sleep(busyPause)
	}
}

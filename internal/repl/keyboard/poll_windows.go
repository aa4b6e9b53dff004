package keyboard

import (
	"os"
	"time"
)

// readable returns false: Bubble Tea reads the console itself.
func readable(*os.File, time.Duration) bool { return false }

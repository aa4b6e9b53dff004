//go:build !gc || !go1.26 || go1.28

package early

import "runtime/debug"

// setGCPercent is debug.SetGCPercent, for toolchains that early.go has not been tried with.
func setGCPercent(percent int32) int32 { return int32(debug.SetGCPercent(int(percent))) }

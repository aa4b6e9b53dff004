//go:build amd64 || arm64

package trial

// SetLimits changes the bytes that are kept, and those of memory, until restore is called.
func SetLimits(kept, memory int64) (restore func()) {
	wasKept, wasMemory := maxKept, maxMemory
	maxKept, maxMemory = kept, func() int64 { return memory }
	return func() { maxKept, maxMemory = wasKept, wasMemory }
}

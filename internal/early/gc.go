package early

// rarely is the percentage of new memory at which a collection starts; with it, none starts
// below 12 MiB. The runtime's default is 100, and 4 MiB.
const rarely = 300

var percentBefore = beginRareGC()

// beginRareGC returns the percentage so far. It keeps one that the environment sets.
func beginRareGC() int32 {
	const standard = 100
	percent := setGCPercent(rarely)
	if percent != standard {
		setGCPercent(percent)
	}
	return percent
}

// EndRareGC makes garbage collections as frequent as usual, for a process that will stay or a run that goes on.
func EndRareGC() { setGCPercent(percentBefore) }

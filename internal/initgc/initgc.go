// Package initgc makes garbage collections rare while the program starts: the tables that
// Chroma builds when it initializes leave so much garbage that two or three collections
// would take a sixth of the processor time of a short run, to save a megabyte.
//
// It initializes before the packages that need it, since it imports none and its path
// sorts early (see initenv). TestStartWithoutCollections in cmd/agent checks this. Nothing
// but time and memory depends on it.
package initgc

// rarely is the percentage of new memory at which a collection starts; with it, none starts
// below 12 MiB. The runtime's default is 100, and 4 MiB.
const rarely = 300

var before = begin()

// begin returns the percentage so far. It keeps one that the environment sets.
func begin() int32 {
	const standard = 100
	percent := setGCPercent(rarely)
	if percent != standard {
		setGCPercent(percent)
	}
	return percent
}

// End makes garbage collections as frequent as usual, for a process that will stay.
func End() { setGCPercent(before) }

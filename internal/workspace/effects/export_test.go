package effects

// Follow sets how many files of a folder are followed, instead of maxPaths.
func (t *Tracker) Follow(most int64) { t.most = most }

package diff

// Lines compares a and b.
func Lines(a, b string) *Diff { return &Diff{} }

// Counts returns the number of lines added and removed.
func (d *Diff) Counts() (added, removed int) { return 0, 0 }

// Hunks groups the edits with up to context lines before and after each; groups
// that meet are joined.
func (d *Diff) Hunks(context int) []Hunk { return nil }

// Count returns how many lines b adds to and removes from a.
func Count(a, b string) (added, removed int) { return Lines(a, b).Counts() }

// Unified returns the unified diff (3 lines of context) that turns a into b, or
// "" if they are equal. Names are relative, with forward slashes; an empty
// oldName says that the file is created, an empty newName that it is deleted.
func Unified(oldName, newName, a, b string) string { return "" }

// Words compares two versions of one line and returns the byte ranges that
// changed in each, at word borders. It returns nothing if the lines have so
// little in common that marking words would not help.
func Words(a, b string) (inA, inB []Span) { return nil, nil }

// Pairs returns the indexes in h.Lines of deleted lines and the inserted lines
// that took their place, for Words.
func (h Hunk) Pairs() [][2]int { return nil }

// Classify says what kind of change leads from a to b.
func Classify(a, b string) Class { return Class{} }

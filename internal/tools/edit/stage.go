package edit

// Stage says how strictly a text had to be compared until it was found.
type Stage int

// The stages, in the order in which they are tried.
const (
	Exact       Stage = iota
	LineEndings       // \n where the file has \r\n
	Blanks            // other line endings, blanks at the ends of lines
	Indentation       // every line shifted by the same indentation
	Punctuation       // typographic quotes, dashes and blanks
)

// stageCount is the number of stages.
const stageCount = int(Punctuation) + 1

// String names what a stage ignores, to follow "matched after".
func (s Stage) String() string {
	switch s {
	case Exact:
		return "exact match"
	case LineEndings:
		return "converting line endings"
	case Blanks:
		return "ignoring blanks at line ends"
	case Indentation:
		return "shifting the indentation"
	case Punctuation:
		return "ignoring typographic punctuation"
	}
	return "unknown"
}

// Loose reports whether a person has to look at the match. Line endings are not
// shown to a model, so a difference in them alone is no guess.
func (s Stage) Loose() bool { return s > LineEndings }

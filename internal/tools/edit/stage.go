package edit

// Stage is how strictly a text was compared when it matched.
type Stage int

// The stages, from strict to loose. They are tried in this order, except the two for line
// endings and MissingAnchor, which never prevent a match.
const (
	Exact         Stage = iota
	LineEndings         // the file's line ending differs from the one sent
	MixedEndings        // the file has more than one line ending
	Blanks              // blanks at the ends of lines
	Indentation         // every line shifted by the same indentation
	Tabs                // tabs for blanks as indentation, or blanks for tabs
	Spacing             // the number of blanks between words
	Typographic         // typographic quotes, dashes and blanks, invisible and composed characters
	Uneven              // each line indented in its own way; only in one place
	EdgeLine            // a blank line before or after the text
	Numbers             // the line numbers of a listing
	Escapes             // too many backslashes, or entities
	MissingAnchor       // an @@ line that names nothing in the file
)

// stageCount is the number of stages.
const stageCount = int(MissingAnchor) + 1

// rewrites reports whether s changes both texts before it compares.
func (s Stage) rewrites() bool { return s >= EdgeLine }

// single reports whether s matches in no more than one place, even if all are to be replaced.
func (s Stage) single() bool { return s >= Uneven }

// compared reports whether s is a way to compare texts.
func (s Stage) compared() bool { return s != LineEndings && s != MixedEndings && s != MissingAnchor }

// String describes a stage, to follow "matched after".
func (s Stage) String() string {
	switch s {
	case Exact:
		return "exact match"
	case LineEndings:
		return "converting line endings"
	case MixedEndings:
		return "ignoring that the file mixes line endings"
	case Blanks:
		return "ignoring blanks at line ends"
	case Indentation:
		return "shifting the indentation"
	case Tabs:
		return "converting tabs and blanks in the indentation"
	case Spacing:
		return "ignoring the number of blanks between words"
	case Typographic:
		return "ignoring typographic characters"
	case Uneven:
		return "fitting the indentation of each line"
	case EdgeLine:
		return "ignoring a blank line at the edge"
	case Numbers:
		return "removing line numbers"
	case Escapes:
		return "undoing escapes"
	case MissingAnchor:
		return "ignoring an @@ line that is not in the file"
	}
	return "unknown"
}

// Loose reports whether a person has to look at the match. Models do not see line
// endings: if a file has one kind, there is nothing to guess.
func (s Stage) Loose() bool { return s > LineEndings }

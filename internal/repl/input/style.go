package input

// style is how the prompt is coloured: with the terminal's own colours, which suit
// its background.
type style struct{ dark, noColor bool }

func (s style) dim(text string) string { return "\x1b[2m" + text + "\x1b[22m" }

// hit marks what a search has found.
func (s style) hit(text string) string { return "\x1b[7m" + text + "\x1b[27m" }

// accent marks what is chosen.
func (s style) accent(text string) string {
	switch {
	case s.noColor:
		return "\x1b[1m" + text + "\x1b[22m"
	case s.dark:
		return "\x1b[1;36m" + text + "\x1b[22;39m"
	}
	return "\x1b[1;34m" + text + "\x1b[22;39m"
}

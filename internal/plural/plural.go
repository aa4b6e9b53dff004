// Package plural counts things in words.
package plural

import "strconv"

// Of returns a number with its noun, which takes an s: "1 file", "2 files".
func Of(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

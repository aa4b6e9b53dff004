// Package plural counts things in words.
package plural

import (
	"fmt"
	"strconv"
)

// Of returns a number with its noun, which takes an s: "1 file", "2 files".
func Of(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Grouped formats n, which is not negative, with commas between thousands.
func Grouped[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

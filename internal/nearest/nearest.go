// Package nearest finds the names that a mistyped name may stand for. It guarantees
// that its work is bounded however long a name is.
package nearest

import (
	"slices"
	"strings"
)

// Name returns the candidate that name was probably meant to be, or "". Case does not
// count.
func Name(name string, candidates []string) string {
	best, least := "", min(len(name), maxCompare)/2+1
	low := strings.ToLower(name)
	for _, c := range candidates {
		d := distance(low, strings.ToLower(c))
		if len(c) > 3 && (strings.Contains(low, strings.ToLower(c)) || strings.Contains(strings.ToLower(c), low)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// Alike returns up to n candidates, those nearest to name first.
func Alike(name string, candidates []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	var all []scored
	low := strings.ToLower(name)
	for _, c := range candidates {
		d := distance(low, strings.ToLower(c))
		if d <= max(len(name), len(c))/2 {
			all = append(all, scored{c, d})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.d - b.d })
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, s.name)
	}
	return out
}

// Typo returns the first candidate that differs from name by at most one slip of the
// fingers, or "": one byte missing, added or wrong, or two neighbours swapped. Case
// does not count.
func Typo(name string, candidates []string) string {
	for _, c := range candidates {
		if oneSlip(strings.ToLower(name), strings.ToLower(c)) {
			return c
		}
	}
	return ""
}

func oneSlip(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return len(a) <= 1 && len(b) <= 1 || swapped
}

// maxCompare is the number of bytes of a name that distance compares.
const maxCompare = 100

// distance returns how many bytes to insert, delete or replace to turn a into b.
func distance(a, b string) int {
	a, b = a[:min(len(a), maxCompare)], b[:min(len(b), maxCompare)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Package nearest finds the names that a mistyped one may stand for. It
// guarantees that its work is bounded however long a name is.
package nearest

import (
	"slices"
	"strings"
)

// Name returns the candidate that name was probably meant to be, or "".
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

// maxCompare is the number of bytes of a name that is compared.
const maxCompare = 100

// distance is the number of bytes to insert, delete or replace to turn a into b.
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

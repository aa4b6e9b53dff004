package main

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// stale returns a line for each package that changed, as changed tells the day of, after the
// oldest run of its tests in the report.
func (r results) stale(changed func(pkg string) string) string {
	oldest := map[string]string{}
	for _, part := range goals {
		for _, g := range part.goals {
			for _, n := range g.tests {
				date := r.Tests[n.String()].Date // "" if never
				if n.pkg == extension {
					continue
				}
				if before, known := oldest[n.pkg]; !known || date < before {
					oldest[n.pkg] = date
				}
			}
		}
	}
	var b strings.Builder
	for _, pkg := range slices.Sorted(maps.Keys(oldest)) {
		if day := changed(pkg); day > oldest[pkg] {
			fmt.Fprintf(&b, "%s is older than the code: %s changed on %s, and its tests ran on %s; make security-report runs them\n", report, pkg, day, oldest[pkg])
		}
	}
	return b.String()
}

// lastChange returns the day on which a package was last changed: that of the commit, or today with
// uncommitted files. Outside of a repository it is "".
func lastChange(pkg string) string {
	if out, err := exec.Command("git", "status", "--porcelain", "--", pkg).Output(); err == nil && len(out) > 0 {
		return time.Now().UTC().Format(time.DateOnly)
	}
	out, err := exec.Command("git", "log", "-1", "--format=%cs", "--", pkg).Output()
	if err != nil {
		return "" // not a repository: nothing is known
	}
	return strings.TrimSpace(string(out))
}

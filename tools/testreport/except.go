package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// exceptions are the tests that a system cannot pass, with the reason for each.
type exceptions struct {
	reasons map[string]string // by "PACKAGE TEST"; the package from the module's root
	failed  map[string]bool
}

// readExceptions reads a file with lines of the form "PACKAGE TEST: REASON"; the test is one at the
// top, and all within it may fail with it. Lines that begin with # say more.
func readExceptions(name string) (exceptions, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return exceptions{}, err
	}
	e := exceptions{reasons: map[string]string{}, failed: map[string]bool{}}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		test, reason, ok := strings.Cut(line, ": ")
		if !ok || len(strings.Fields(test)) != 2 || strings.TrimSpace(reason) == "" || e.reasons[test] != "" {
			return exceptions{}, fmt.Errorf("%s: %q is not PACKAGE TEST: REASON, or is there twice", name, line)
		}
		e.reasons[test] = reason
	}
	return e, nil
}

// find returns the entry for a test, or "".
func (e exceptions) find(pkg, test string) string {
	top, _, _ := strings.Cut(test, "/")
	for entry := range e.reasons {
		if in, name, _ := strings.Cut(entry, " "); name == top && (pkg == in || strings.HasSuffix(pkg, "/"+in)) {
			return entry
		}
	}
	return ""
}

// excuses notes that a test failed, and reports whether it may.
func (e exceptions) excuses(pkg, test string) bool {
	entry := e.find(pkg, test)
	if entry == "" {
		return false
	}
	e.failed[entry] = true
	return true
}

// list describes those that failed.
func (e exceptions) list() string {
	var b strings.Builder
	for _, entry := range slices.Sorted(maps.Keys(e.failed)) {
		fmt.Fprintf(&b, "excepted: %s: %s\n", entry, e.reasons[entry])
	}
	return b.String()
}

// stale returns those that did not fail, because they passed, were skipped or are gone.
func (e exceptions) stale() (names []string) {
	for _, entry := range slices.Sorted(maps.Keys(e.reasons)) {
		if !e.failed[entry] {
			names = append(names, entry)
		}
	}
	return names
}

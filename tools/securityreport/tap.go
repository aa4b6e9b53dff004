package main

import (
	"bufio"
	"io"
	"regexp"
	"strings"
)

// tapResult matches the result of a test in TAP. A test's name ends at a comma, before
// its load. A directive, such as SKIP, means that it did not run.
var tapResult = regexp.MustCompile(`^(not )?ok \d+ - ([^,#]*)[^#]*(# [A-Z])?`)

// readTAP adds the tests of the extension that ran on date; a later run replaces an
// earlier one. Skipped tests did not run.
func (r results) readTAP(in io.Reader, date string) error {
	var key string
	var got result
	keep := func() {
		if key != "" {
			r.take(key, got, nil)
		}
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if load, ok := strings.CutPrefix(line, "# load: "); ok {
			got.Load = load
		}
		m := tapResult.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		keep()
		key, got = "", result{Date: date, Passed: m[1] == ""}
		if m[3] == "" {
			key = extension + "." + strings.TrimSpace(m[2])
		}
	}
	keep()
	return lines.Err()
}

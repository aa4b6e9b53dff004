//go:build linux

package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestReasons: a missed figure has the reason with the longest beginning of its name, and
// none ends without one.
func TestReasons(t *testing.T) {
	if got := reason("edit-50 by Messages"); got != editRound {
		t.Errorf("edit-50 by Messages: %s", got)
	}
	if got := reason("round 490"); !strings.Contains(got, "megabyte") {
		t.Errorf("round 490: %s", got)
	}
	var rep report
	rep.section("s", "n")
	rep.under("unknown", "ms", 2, 1, 1)
	var page bytes.Buffer
	if err := rep.write(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(page.String(), "\nMissed: unknown. "+unexplained+"\n") {
		t.Error(page.String())
	}
}

package main

import (
	"fmt"
	"strings"
	"testing"
)

// line renders one line of go test -json.
func line(action, test, output string) string {
	out := `{"Time":"2026-01-02T03:04:05Z","Action":"` + action + `","Package":"` + module + `internal/ide","Test":"` + test + `"`
	if output != "" {
		out += `,"Output":"` + output + `"`
	}
	return out + "}\n"
}

func TestReportIsOfWhatRan(t *testing.T) {
	r, err := load("/nowhere/results.json")
	if err != nil {
		t.Fatal(err)
	}
	first := line("output", "TestInterleavings", "    a_test.go:1: load: 7 interleavings, seed 3\\n") + line("pass", "TestInterleavings", "") +
		line("output", "TestPublishedBypasses/a", "    bypass.go:1: bypass: CVE-1 x | the guard\\n") + line("pass", "TestPublishedBypasses/a", "") +
		line("output", "TestPublishedBypasses/b", "    a_test.go:1: bypass: CVE-2 y | the guard\\n") + line("fail", "TestPublishedBypasses/b", "") +
		line("fail", "TestPublishedBypasses", "")
	if err := r.read(strings.NewReader(first)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `TestInterleavings` in `internal/ide` | 7 interleavings, seed 3 | passed | 2026-01-02 |",
		"| `TestOneOutcome` in `internal/confirm` | | **not run** | |",
		"| CVE-1 x | the guard | `TestPublishedBypasses` in `internal/ide` | passed | 2026-01-02 |",
		"| CVE-2 y | the guard | `TestPublishedBypasses` in `internal/ide` | **failed** | 2026-01-02 |",
	} {
		if page := r.render(); !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	second := line("output", "TestPublishedBypasses/a", "    a_test.go:1: bypass: CVE-1 x | the guard\\n") + line("pass", "TestPublishedBypasses/a", "") +
		line("pass", "TestPublishedBypasses", "") + line("skip", "TestInterleavings", "")
	if err := r.read(strings.NewReader(second)); err != nil {
		t.Fatal(err)
	}
	if page := r.render(); strings.Contains(page, "CVE-2 y") || !strings.Contains(page, "7 interleavings") {
		t.Errorf("a case that is gone, or a test that did not run, changes nothing:\n%s", page)
	}
	if err := r.read(strings.NewReader("noise")); err == nil {
		t.Error("noise is read")
	}
}

func TestTestsOfTheExtension(t *testing.T) {
	r, err := load("/nowhere/results.json")
	if err != nil {
		t.Fatal(err)
	}
	tap := "TAP version 13\n    # Subtest: by guesses, 7 of them\n    %s 2 - by guesses, 7 of them: none accepted%s\n      ---\n      duration_ms: 1\n      ...\n    # load: 7 handshakes\n    ok 3 - another # SKIP\n1..1\n"
	for _, step := range []struct{ word, directive, want string }{
		{"ok", " # SKIP", "| **not run** |"},
		{"ok", "", "| `by guesses` in `editors/vscode` | 7 handshakes | passed | 2026-01-02 |"},
		{"not ok", "", "| `by guesses` in `editors/vscode` | 7 handshakes | **failed** | 2026-01-02 |"},
	} {
		if err := r.readTAP(strings.NewReader(fmt.Sprintf(tap, step.word, step.directive)), "2026-01-02"); err != nil {
			t.Fatal(err)
		}
		if page := r.render(); !strings.Contains(page, step.want) {
			t.Errorf("the page lacks %s:\n%s", step.want, page)
		}
	}
	if strings.Contains(strings.Join(arguments(), " "), extension) {
		t.Error("go test is to run a test of the extension")
	}
}

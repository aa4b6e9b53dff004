// Command securityreport writes docs/security-report.md from the events of go test -json,
// and from files FILE.tap, the output of node --test --test-reporter=tap:
//
//	securityreport FILE...
//
// It keeps the last result of each test in results.json beside its source, so that tests
// can be run in parts. A test that has not run since is shown as not run. With -arguments,
// it prints the arguments of go test that run all tests of the report. With -stale, it prints
// which packages have changed since their tests were run for the report.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	kept   = "tools/securityreport/results.json"
	report = "docs/security-report.md"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "securityreport:", err)
		os.Exit(1)
	}
}

func run() error {
	only := flag.Bool("arguments", false, "print the arguments of go test for the tests of the report")
	stale := flag.Bool("stale", false, "print the packages that have changed since their tests were run for the report")
	flag.Parse()
	if *only {
		_, err := fmt.Fprintln(os.Stdout, strings.Join(arguments(), " "))
		return err
	}
	all, err := load(kept)
	if err != nil {
		return err
	}
	if *stale {
		_, err := fmt.Fprint(os.Stdout, all.stale(lastChange))
		return err
	}
	for _, file := range flag.Args() {
		if err := all.add(file); err != nil {
			return err
		}
	}
	if err := all.save(kept); err != nil {
		return err
	}
	return os.WriteFile(report, []byte(all.render()), 0o644)
}

// add adds the events in a file.
func (r results) add(file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if filepath.Ext(file) != ".tap" {
		return r.read(in)
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return r.readTAP(in, info.ModTime().UTC().Format(time.DateOnly))
}

// arguments returns the arguments of go test that run all tests of the report.
func arguments() []string {
	tests, packages := []string{bypasses}, slices.Clone(attacked)
	for _, part := range goals {
		for _, g := range part.goals {
			for _, n := range g.tests {
				if n.pkg == extension {
					continue
				}
				tests = append(tests, n.test)
				packages = append(packages, "./"+n.pkg)
			}
		}
	}
	slices.Sort(packages)
	slices.Sort(tests)
	return append([]string{"-run", "^(" + strings.Join(slices.Compact(tests), "|") + ")$"}, slices.Compact(packages)...)
}

// bypasses is the name of the tests of published attacks.
const bypasses = "TestPublishedBypasses"

// attacked are packages of which no goal is, but that have tests of published attacks.
var attacked = []string{"./internal/permission"}

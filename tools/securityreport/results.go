package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/tools/gotest"
)

// module is the path before the names of packages in events.
const module = "github.com/bb2d0cf4/agent/"

// result is the last run of a test.
type result struct {
	Date   string `json:"date"`
	Passed bool   `json:"passed"`
	Load   string `json:"load,omitzero"` // as the test reported it
}

// bypass is a published attack, tried with and without the guard against it.
type bypass struct {
	Attack string `json:"attack"`
	Guard  string `json:"guard"`
	result
}

// results are the last runs of all tests and attacks, by package and name of the test.
type results struct {
	Tests    map[string]result `json:"tests"`
	Bypasses map[string]bypass `json:"bypasses"`
}

// load reads the results saved in a file, if it exists.
func load(file string) (results, error) {
	r := results{Tests: map[string]result{}, Bypasses: map[string]bypass{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// save writes the results to a file.
func (r results) save(file string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// read adds the tests of events; a later run replaces an earlier one. Skipped tests did
// not run.
func (r results) read(in io.Reader) error {
	said := map[string][]string{} // lines of tests that count
	return gotest.Read(in, func(e gotest.Event) {
		key := strings.TrimPrefix(e.Package, module) + "." + e.Test
		switch e.Action {
		case "output":
			if text := strings.TrimSpace(gotest.AfterLocation(e.Output, ".go")); strings.HasPrefix(text, "load: ") || strings.HasPrefix(text, "bypass: ") {
				said[key] = append(said[key], text)
			}
		case "pass", "fail":
			if e.Test == "" {
				return
			}
			r.take(key, result{Date: e.Time.UTC().Format(time.DateOnly), Passed: e.Action == "pass"}, said[key])
			maps.DeleteFunc(r.Bypasses, func(old string, _ bypass) bool {
				return strings.HasPrefix(old, key+"/") && said[old] == nil // no longer a case
			})
		}
	})
}

// take records a finished test, with the lines that it logged.
func (r results) take(key string, got result, said []string) {
	for _, line := range said {
		if text, ok := strings.CutPrefix(line, "load: "); ok {
			got.Load = text
			continue
		}
		attack, guard, _ := strings.Cut(strings.TrimPrefix(line, "bypass: "), " | ")
		r.Bypasses[key] = bypass{attack, guard, got}
		return
	}
	for _, part := range goals {
		for _, g := range part.goals {
			for _, n := range g.tests {
				if n.String() == key {
					r.Tests[key] = got
				}
			}
		}
	}
}

// String returns the key of a test's result.
func (n name) String() string { return n.pkg + "." + n.test }

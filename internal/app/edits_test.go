package app

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
)

// The table in docs/models.md has the tools for changing files that each model is
// offered; the others can be called as well.
func TestEditsDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	a := newApp(t)
	set := a.newTools(nil, Options{})
	var every []string
	for _, s := range set.Set.Specs() {
		every = append(every, s.Name)
	}
	rows := regexp.MustCompile("(?m)^\\| `(patch|replace|all)` \\| (`[a-z_`, ]+`) \\| (.*) \\|$").FindAllStringSubmatch(string(data), -1)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	offers := map[string][]string{}
	for _, row := range rows {
		for _, m := range quoted.FindAllStringSubmatch(row[2], -1) {
			offers[row[1]] = append(offers[row[1]], m[1])
		}
	}
	for _, row := range rows {
		set.edits = func() string { return row[1] }
		var offered []string
		for _, s := range set.Specs() {
			if slices.Contains(offers[config.EditsAll], s.Name) {
				offered = append(offered, s.Name)
			}
		}
		if !slices.Equal(offered, offers[row[1]]) || len(set.Specs()) != len(every)-6+len(offered) {
			t.Errorf("%s offers %q", row[1], offered)
		}
		for _, m := range quoted.FindAllStringSubmatch(row[3], -1) {
			if got := (config.Model{Name: m[1]}).Edits(); got != row[1] {
				t.Errorf("%s has %s", m[1], got)
			}
			if got := (config.Model{Name: strings.ToUpper(m[1]), Options: config.ModelOptions{Edits: config.EditsAll}}).Edits(); got != config.EditsAll {
				t.Errorf("%s as configured has %s", m[1], got)
			}
		}
	}
}

// Package catalog knows the models of hosted providers: the size of their context, their prices, and
// whether they take pictures. It guarantees that a model counts as known only by its own name, or by
// one that names a version of it: a guess about a price would be worse than none.
package catalog

import (
	_ "embed" // the table
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// table is written by tools/modeltable, which also describes its columns.
//
//go:embed models.tsv
var table string

// Model holds the facts about a model. Prices are in USD for a million tokens; zero means unknown.
type Model struct {
	Name                           string
	Window                         int64 // tokens of context
	Input, Output, Cached, Written float64
	Pictures                       bool
	Effort                         string // how much it thinks by default; "" if unknown
}

// Date returns the day of the facts, as 2026-10-28.
func Date() string {
	_, rest, _ := strings.Cut(table, "\ndate\t")
	date, _, _ := strings.Cut(rest, "\n")
	return date
}

// Models returns the models of a provider, the recommended ones first.
func Models(provider string) []Model {
	_, rest, ok := strings.Cut(table, "\nprovider\t"+provider+"\n")
	if !ok {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "\nprovider\t")
	var all []Model
	for line := range strings.Lines(rest) {
		all = append(all, parse(strings.TrimSuffix(line, "\n")))
	}
	return all
}

// parse reads a row; the tests read them all.
func parse(line string) Model {
	f := append(strings.Split(line, "\t"), make([]string, 8)...)
	m := Model{Name: f[0], Pictures: f[6] == "pictures", Effort: strings.Trim(f[7], "-")}
	m.Window, _ = strconv.ParseInt(f[1], 10, 64)
	for i, price := range []*float64{&m.Input, &m.Output, &m.Cached, &m.Written} {
		*price, _ = strconv.ParseFloat(f[2+i], 64)
	}
	return m
}

// version matches the end of a name that only names a version of the model, and number the
// end of one of which "latest" is a version.
var (
	version = lazyregexp.New(`([-@](latest|20\d{6}|20\d\d-\d\d-\d\d|\d{4}))$`)
	number  = lazyregexp.New(`-\d{1,2}([-.]\d{1,2})?$`)
)

// Find returns the model of a provider with a name. A name with a date, or without the one in the
// table, is the same model if the table has one such; the latest is the newest of the table.
func Find(provider, name string) (Model, bool) {
	name = strings.TrimPrefix(name, "models/") // as Google lists them
	all := Models(provider)
	if i := slices.IndexFunc(all, func(m Model) bool { return m.Name == name }); i >= 0 {
		return all[i], true
	}
	stem, latest := version.ReplaceAllString(name, ""), strings.HasSuffix(name, "-latest")
	same := func(m Model) bool {
		return version.ReplaceAllString(m.Name, "") == stem || latest && strings.Contains(stem, "-") && number.ReplaceAllString(m.Name, "") == stem
	}
	var found Model
	for _, m := range all {
		if same(m) && age(m.Name) > age(found.Name) {
			found = m // of several versions, the newest
		}
	}
	return found, found.Name != "" && (name == stem || found.Name == stem || latest)
}

// age returns name in a form that sorts its versions.
func age(name string) string { return strings.ReplaceAll(name, ".", "-") }

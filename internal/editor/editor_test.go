package editor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewSince(t *testing.T) {
	at := func(line int, severity Severity, source, message string) Diagnostic {
		return Diagnostic{Path: "/a.go", Line: line, Severity: severity, Source: source, Message: message}
	}
	unused, other := at(3, SeverityWarning, "vet", "unused"), at(9, SeverityError, "vet", "unused")
	moved := at(30, SeverityWarning, "vet", "unused")
	for name, c := range map[string]struct{ before, after, want []Diagnostic }{
		"nothing":           {nil, nil, nil},
		"all are new":       {nil, []Diagnostic{unused, other}, []Diagnostic{unused, other}},
		"one has moved":     {[]Diagnostic{unused}, []Diagnostic{moved}, nil},
		"one more like it":  {[]Diagnostic{unused}, []Diagnostic{unused, moved}, []Diagnostic{moved}},
		"another severity":  {[]Diagnostic{unused}, []Diagnostic{other}, []Diagnostic{other}},
		"one has gone":      {[]Diagnostic{unused, other}, []Diagnostic{other}, nil},
		"of another source": {[]Diagnostic{unused}, []Diagnostic{at(3, SeverityWarning, "lint", "unused")}, []Diagnostic{at(3, SeverityWarning, "lint", "unused")}},
	} {
		if d := cmp.Diff(c.want, NewSince(c.before, c.after)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

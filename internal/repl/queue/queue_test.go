package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func filled(lines ...string) *Queue {
	var q Queue
	for _, l := range lines {
		q.Add(l)
	}
	return &q
}

func TestTakeStopsAtACommand(t *testing.T) {
	q := filled("one", "/etc/hosts is a path", "/clear", "two")
	if d := cmp.Diff([]string{"one", "/etc/hosts is a path"}, q.Take()); d != "" {
		t.Error(d)
	}
	if got := q.Take(); len(got) != 0 {
		t.Errorf("%q passed a command", got)
	}
	q.Add("three")
	if d := cmp.Diff([]string{"/clear", "two", "three"}, q.List()); d != "" {
		t.Error(d)
	}
}

func TestNextIsInOrder(t *testing.T) {
	q := filled("one", "two", "/clear", "/model m", "three")
	for _, want := range []string{"one\n\ntwo", "/clear", "/model m", "three", ""} {
		if got := q.Next(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestClear(t *testing.T) {
	q := filled("/clear", "one")
	if d := cmp.Diff([]string{"/clear", "one"}, q.Clear()); d != "" || len(q.List()) != 0 {
		t.Errorf("%s %q", d, q.List())
	}
}

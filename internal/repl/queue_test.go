package repl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	var q queue
	for _, l := range []string{"a", "b", "/clear", "!ls", "c"} {
		q.add(l, l[0] == '/' || l[0] == '!')
	}
	q.add("/not typed", false)
	if d := cmp.Diff([]string{"a", "b"}, q.take()); d != "" {
		t.Error(d)
	}
	if got := q.take(); got != nil {
		t.Errorf("a turn was given %q, from behind a command", got)
	}
	for _, want := range []line{{"/clear", true}, {"!ls", true}, {"c\n\n/not typed", false}, {"", false}} {
		if text, acts := q.next(); text != want.text || acts != want.acts {
			t.Errorf("%q, %v; want %v", text, acts, want)
		}
	}
}

func TestLastAndClear(t *testing.T) {
	t.Parallel()
	var q queue
	if got, _ := q.last(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	q.add("a", false)
	q.add("/b", true)
	q.add("c", false)
	if got, acts := q.last(); got != "c" || acts {
		t.Errorf("%q, %v", got, acts)
	}
	if d := cmp.Diff([]string{"a", "/b"}, q.list()); d != "" {
		t.Error(d)
	}
	q.add("d", false)
	all, acts := q.clear()
	if d := cmp.Diff([]string{"a", "d", "/b"}, all); d != "" || acts || q.list() != nil {
		t.Error(d, acts, q.list())
	}
	q.add("!e", true)
	if _, acts := q.clear(); !acts {
		t.Error("a command alone comes back as a prompt")
	}
	q.add("!f", true)
	if got, acts := q.last(); got != "!f" || !acts {
		t.Errorf("%q, %v", got, acts)
	}
}

// Whatever is added and removed, each line leaves once and in order.
func TestOnceAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var added, left []string
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				l := string(rune('a'+i%26)) + string(rune('0'+i/26))
				added = append(added, l)
				q.add(l, rapid.Bool().Draw(t, "acts"))
			case 2:
				left = append(left, q.take()...)
			case 3:
				text, _ := q.next()
				for ; len(text) > 2; text = text[4:] {
					left = append(left, text[:2])
				}
				if text != "" {
					left = append(left, text)
				}
			}
		}
		left = append(left, q.list()...)
		if d := cmp.Diff(added, left); d != "" {
			t.Fatal(d)
		}
	})
}

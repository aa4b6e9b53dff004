package shell

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestElsewhere(t *testing.T) {
	got := Elsewhere(Options{}, "one\ntwo", 3, time.Second)
	if got.ExitCode != 3 || got.Output != "one\ntwo" || got.Lines != 2 || got.Spill != "" || got.Took != time.Second {
		t.Errorf("got %+v", got)
	}
	long := strings.Repeat("0123456789\n", 10_000)
	got = Elsewhere(Options{SpillDir: t.TempDir(), Limit: 1000}, long, 0, 0)
	if len(got.Output) > 1500 || got.Lines != 10_000 || got.Omitted == 0 {
		t.Errorf("%d bytes, %d lines, %d omitted", len(got.Output), got.Lines, got.Omitted)
	}
	if all, err := os.ReadFile(got.Spill); err != nil || string(all) != long {
		t.Errorf("the whole output is not kept: %d bytes, %v", len(all), err)
	}
}

// TestRelay: a small output arrives completely, in order, before the end.
func TestRelay(t *testing.T) {
	var got strings.Builder
	add, end := Relay(func(chunk string) { got.WriteString(chunk) })
	for i := range 100 {
		add(strconv.Itoa(i) + "\n")
	}
	end()
	add("too late")
	if text := got.String(); !strings.HasPrefix(text, "0\n1\n") || !strings.HasSuffix(text, "\n99\n") || strings.Count(text, "\n") != 100 {
		t.Errorf("%q", text)
	}
}

//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// A page is asked about with its host; an address on this machine is not contacted even
// after a yes, and a rule names hosts.
func TestFetchAsks(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	fetch := callOf("web_fetch", `{"url":"`+strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+`/a"}`)
	literal := callOf("web_fetch", `{"url":"`+s.URL+`/a"}`) // refused without a question
	d := newDesk(t, llmtest.NewServer(t, literal, fetch, fetch, llmtest.Turn{Text: "Done."}), nil)
	d.sit()
	d.say("read it")
	d.asked(`fetch from localhost: http://localhost`)
	d.Press("a")
	d.WaitFor(`Done`)
	d.idle()
	d.leave()
	for n := 1; n <= 3; n++ {
		if told := d.told(n); !strings.Contains(told, "was not fetched: it is not a public address") {
			t.Errorf("told %q", told)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("the server was contacted %d times", reached.Load())
	}
}

func TestFetchInAScript(t *testing.T) {
	t.Parallel()
	turns := []llmtest.Turn{callOf("web_fetch", `{"url":"https://a.invalid/x"}`), {Text: "Done."}}
	d := newDesk(t, llmtest.NewServer(t, turns...), nil)
	_, out := d.prompted("--output-format", "json")
	if !strings.Contains(out, "fetch(a.invalid)") {
		t.Errorf("no rule would allow it:\n%s", out)
	}
	d = newDesk(t, llmtest.NewServer(t, turns...), nil)
	code, out := d.prompted("--allow", "WebFetch(domain:a.invalid)")
	if told := d.told(1); code != 0 || !strings.Contains(told, "was not fetched: ") || strings.Contains(told, "asked") {
		t.Errorf("exit status %d, told %q:\n%s", code, told, out)
	}
}

//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

// The first request describes the folder, fits in 8 KiB whatever the folder holds, and the
// second begins with its bytes although there are new files.
func TestFirstRequest(t *testing.T) {
	t.Parallel()
	files := map[string]string{"go.mod": "module x\n", "Makefile": "build:\ntest:\nlint:\ncheck:\n", "package.json": `{"scripts":{"build":"x","test":"y"}}`}
	for i := range 200 {
		files[fmt.Sprintf("some-file-with-a-long-name-%d.txt", i)] = ""
	}
	d := newDesk(t, answers(t, "One.", "Two."), files)
	d.sit()
	d.say("first")
	d.WaitFor(`One\.`)
	d.idle()
	d.write("new.go", "package x\n")
	d.say("second")
	d.WaitFor(`Two\.`)
	d.idle()
	d.leave()
	first, second := string(d.request(0)), string(d.request(1))
	for _, want := range []string{"Reproduce a fault before", "by the narrowest test, then", "- Files: Makefile, go.mod, package.json, some-file", "- Build and test: make build, make test, make lint, make check, npm run build, npm run test"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in %s", want, first)
		}
	}
	if len(first) > 8<<10 {
		t.Errorf("the first request has %d bytes", len(first))
	}
	if !strings.HasPrefix(second, strings.TrimSuffix(first, "]}")) {
		t.Errorf("the second request begins differently:\n%s\n%s", first, second)
	}
}

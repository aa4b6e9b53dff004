package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPipeHeldByAStranger: a process that is not the command's holds the pipe open; the
// output written so far is returned, and nobody waits for more.
func TestPipeHeldByAStranger(t *testing.T) {
	j := NewJobs()
	var out strings.Builder
	held := make(chan *os.File, 1)
	dir := t.TempDir()
	line := "echo $$; until [ -e held ]; do sleep 0.01; done; echo end"
	c, err := j.start(Options{Line: line, Dir: dir}, func(p []byte) {
		if out.Len() == 0 {
			f, err := os.OpenFile(fmt.Sprintf("/proc/%s/fd/1", strings.TrimSpace(string(p))), os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
			}
			held <- f
			if err := os.WriteFile(filepath.Join(dir, "held"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
		out.Write(p)
	})
	if err != nil {
		t.Fatal(err)
	}
	writer := <-held
	start := time.Now()
	end := c.wait(nil, nil, time.Minute)
	if took := time.Since(start); end.timedOut || took > 10*time.Second {
		t.Errorf("waited for %v; a second is promised", took)
	}
	if end.code != 0 || !strings.HasSuffix(out.String(), "\nend\n") {
		t.Errorf("exit %d, output %q", end.code, out.String())
	}
	if _, err := writer.WriteString("late"); err == nil {
		t.Error("the pipe was still held: the fault did not fire or nobody closed our end")
	}
	if err := writer.Close(); err != nil {
		t.Error(err)
	}
}

func TestNotes(t *testing.T) {
	var many []process
	for pid := range 12 {
		many = append(many, process{identity: identity{pid: pid}, name: "x"})
	}
	got := leftovers{ended: many, survivors: many[3:4], strays: many[:2]}.notes()
	want := []string{
		"12 processes were left in the background and ended: " +
			"x, x (pid 1), x (pid 2), x (pid 3), x (pid 4), x (pid 5), x (pid 6), x (pid 7), x (pid 8), x (pid 9), …",
		"1 process was impossible to end and may still be running: x (pid 3)",
		"2 processes were detached from the command and may still be running: x, x (pid 1)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again := process{identity: identity{pid: 3, start: 7}, name: "x"} // the same pid, but another process
	if got := without(many, append([]process{again}, many[4:]...)); len(got) != 4 {
		t.Errorf("without = %v", got)
	}
}

// TestThreadsWork: processor time counts as work even if the first thread only waits.
func TestThreadsWork(t *testing.T) {
	looks := 0
	look := func() []process {
		if looks++; looks == 40 { // 0.6 s
			return nil
		}
		return []process{{identity: identity{pid: 1, start: 1}, spent: uint64(looks)}}
	}
	if left := waitGone(look, 100*time.Millisecond, time.Hour, nil); left != nil {
		t.Errorf("gave up after %d looks", looks)
	}
}

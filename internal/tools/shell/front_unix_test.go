//go:build unix

package shell_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// A command moved to the background goes on beyond its time limit, with its output from the
// beginning in the log.
func TestMove(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	if err := j.Move(); err == nil {
		t.Error("no command runs, and one was moved")
	}
	ready, dir := make(chan string, 100), t.TempDir()
	var moved shell.Job
	done := make(chan shell.Result)
	go func() {
		res, err := j.Run(t.Context(), shell.Options{
			Line: "echo before; until [ -e go ]; do sleep 0.05; done; echo after", Dir: dir, SpillDir: t.TempDir(), Timeout: time.Hour,
			Output: func(chunk string) { ready <- chunk }, Moved: func(job shell.Job) { moved = job },
		})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	if got := <-ready; got != "before\n" {
		t.Fatalf("%q", got)
	}
	if f, ok := j.Front(); !ok || f.Limit != time.Hour || f.Started.IsZero() {
		t.Errorf("%+v, %v", f, ok)
	}
	if err := j.Move(); err != nil {
		t.Fatal(err)
	}
	if res := <-done; !res.Moved || moved.ID != "job-1" || !moved.Running {
		t.Fatalf("%+v, %+v", res, moved)
	}
	if _, ok := j.Front(); ok {
		t.Error("it is still in front")
	}
	if got := j.Running(); len(got) != 1 || got[0].ID != moved.ID {
		t.Errorf("running: %+v", got)
	}
	scratch.Write(t, filepath.Join(dir, "go"), "")
	if job := waitForEnd(t, j, moved.ID); job.ExitCode != 0 || scratch.Read(t, job.Log) != "before\nafter\n" {
		t.Errorf("%+v: %q", job, scratch.Read(t, job.Log))
	}
	if got := j.Running(); len(got) != 0 {
		t.Errorf("running: %+v", got)
	}
}

// However the end of a command and its move meet, it is either a result or a job, and its
// output is complete.
func TestMoveMeetsTheEnd(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	both := map[bool]int{}
	for range 40 {
		var moved shell.Job
		began := make(chan struct{}, 100)
		done := make(chan shell.Result)
		go func() {
			res, err := j.Run(t.Context(), shell.Options{
				Line: "echo out", Dir: t.TempDir(), SpillDir: t.TempDir(), Output: func(string) { began <- struct{}{} }, Moved: func(job shell.Job) { moved = job },
			})
			if err != nil {
				t.Error(err)
			}
			done <- res
		}()
		<-began
		_ = j.Move() // it may have ended
		res := <-done
		both[res.Moved]++
		switch out := res.Output; {
		case res.Moved && scratch.Read(t, waitForEnd(t, j, moved.ID).Log) != "out\n":
			t.Errorf("the log holds %q", scratch.Read(t, moved.Log))
		case !res.Moved && (out != "out\n" || res.Spill != ""):
			t.Errorf("%+v", res)
		}
	}
	t.Logf("moved and not: %v", both)
	if n := len(j.List()); n != both[true] {
		t.Errorf("%d jobs, %d were moved", n, both[true])
	}
}

package shell_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// start starts a job in fresh folders.
func start(t *testing.T, j *shell.Jobs, line string) shell.Job {
	t.Helper()
	job, err := j.Start(shell.Options{Line: line, Dir: t.TempDir(), SpillDir: filepath.Join(t.TempDir(), "spill")})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// waitForLog waits until the job's log contains text.
func waitForLog(t *testing.T, job shell.Job, text string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		log, err := os.ReadFile(job.Log)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(log, []byte(text)) {
			return
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%q never came, the log is %q", text, log)
		}
	}
}

// waitForEnd waits until the job with the id has ended.
func waitForEnd(t *testing.T, j *shell.Jobs, id string) shell.Job {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		for _, job := range j.List() {
			if job.ID == id && !job.Running {
				return job
			}
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-deadline:
			t.Fatalf("job %s did not end", id)
		}
	}
}

func TestJobRunsBesideCommands(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	job := start(t, j, "echo ready; sleep 1000")
	if !job.Running || job.ID == "" || job.Line != "echo ready; sleep 1000" || job.Started.IsZero() {
		t.Errorf("%+v", job)
	}
	waitForLog(t, job, "ready\n")
	res, err := j.Run(t.Context(), shell.Options{Line: "cat " + job.Log, Dir: t.TempDir()})
	if err != nil || res.Output != "ready\n" || len(res.Notes) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	out, err := j.Kill(job.ID)
	if err != nil || out != "ready\n" {
		t.Errorf("Kill = %q, %v", out, err)
	}
	if again, err := j.Kill(job.ID); err != nil || again != out {
		t.Errorf("a second Kill = %q, %v", again, err)
	}
	if got := j.List(); len(got) != 1 || got[0].Running || got[0].ExitCode != 128+15 {
		t.Errorf("List = %+v", got)
	}
	info, err := os.Stat(job.Log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v, %v", info, err)
	}
	if info, err = os.Stat(filepath.Dir(job.Log)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the log: %v, %v", info, err)
	}
}

func TestJobThatEndsByItself(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	job := start(t, j, "echo one; echo two >&2; sleep 1000 & exit 4")
	if got := waitForEnd(t, j, job.ID); got.ExitCode != 4 || got.Log != job.Log {
		t.Errorf("%+v", got)
	}
	out, err := j.Kill(job.ID)
	if err != nil || !strings.HasPrefix(out, "one\ntwo\n") || !strings.Contains(out, "left in the background and ended") {
		t.Errorf("Kill = %q, %v", out, err)
	}
	if log, err := os.ReadFile(job.Log); err != nil || string(log) != "one\ntwo\n" {
		t.Errorf("log %q, %v", log, err)
	}
}

func TestJobsAreListedInOrder(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	var want, got []string
	for range 5 {
		want = append(want, start(t, j, "sleep 1000").ID)
	}
	for _, job := range j.List() {
		got = append(got, job.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestJobsFloodIsBounded(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	before := allocated() // a search for processes costs much beside many
	quiet := start(t, j, "echo end")
	waitForEnd(t, j, quiet.ID)
	if _, err := j.Kill(quiet.ID); err != nil {
		t.Error(err)
	}
	search := allocated() - before
	before = allocated()
	job := start(t, j, "head -c 100000000 /dev/zero | tr '\\0' x; echo end")
	waitForEnd(t, j, job.ID)
	out, err := j.Kill(job.ID)
	if err != nil || !strings.Contains(out, "its beginning is in "+job.Log) || !strings.Contains(out, "xend\n") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if grown := allocated() - before; grown > search+8<<20 {
		t.Errorf("allocated %d, and %d for a job without output", grown, search)
	}
	if info, err := os.Stat(job.Log); err != nil || info.Size() != 64<<20 {
		t.Errorf("log: %v, %v", info, err)
	}
}

func TestJobsErrors(t *testing.T) {
	j := shell.NewJobs()
	if _, err := j.Kill("job-1"); err == nil || !strings.Contains(err.Error(), `"job-1"`) {
		t.Errorf("Kill of an unknown id: %v", err)
	}
	if _, err := j.Start(shell.Options{Line: "true", Dir: "/"}); err == nil {
		t.Error("a job without a log")
	}
	logs := t.TempDir()
	if _, err := j.Start(shell.Options{Line: "true", Dir: filepath.Join(logs, "gone"), SpillDir: logs}); err == nil {
		t.Error("a job in a folder that is not there")
	}
	file := filepath.Join(t.TempDir(), "file")
	scratch.Write(t, file, "")
	if _, err := j.Start(shell.Options{Line: "true", Dir: "/", SpillDir: file}); err == nil {
		t.Error("a job whose log cannot be made")
	}
	closeJobs(t, j)
	if _, err := j.Start(shell.Options{Line: "true", Dir: "/", SpillDir: logs}); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a job after Close: %v", err)
	}
	if files, err := os.ReadDir(logs); err != nil || len(files) > 0 || len(j.List()) > 0 {
		t.Errorf("left %v, %v, %v", files, err, j.List())
	}
}

func TestCloseEndsAllJobs(t *testing.T) {
	j := shell.NewJobs()
	for _, line := range []string{"sleep 1000", "trap '' TERM; echo up; sleep 1000; sleep 1000", "exit 1", "(setsid sleep 1000 &) ; sleep 1000"} {
		start(t, j, line)
	}
	closeJobs(t, j)
	closeJobs(t, j)
	for _, job := range j.List() {
		if job.Running {
			t.Errorf("%+v", job)
		}
	}
}

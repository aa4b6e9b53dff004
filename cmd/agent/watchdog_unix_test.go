//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/early"
)

// TestWatchdogWaitsEarly: a watchdog reads its input before the large packages initialize,
// and they do once there may be work.
func TestWatchdogWaitsEarly(t *testing.T) {
	t.Parallel()
	const large = "github.com/alecthomas/chroma/v2/styles"
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	errs, err := os.Create(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	cmd := agentIn(t, dir, early.WatchdogArg)
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: once it is written, the watchdog has read some of it.
	lines := "mark\n" + string(bytes.Repeat([]byte("ended 1\n"), 256<<10/8))
	if _, err := io.WriteString(in, lines); err != nil {
		t.Fatal(err)
	}
	if before := scratch.Read(t, trace); strings.Contains(before, large) {
		t.Error("the large packages are there before the input is read")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if after := scratch.Read(t, trace); !strings.Contains(after, large) {
		t.Errorf("the trace does not show when packages initialize:\n%s", after)
	}
}

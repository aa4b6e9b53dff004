// Package peertest runs part of a test as another user of the machine. Only tests
// import it.
package peertest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// marker is set in the environment of the stranger.
const marker = "AGENT_TEST_STRANGER"

// UID is the user that a Stranger runs as; it needs no entry in the list of users.
const UID = 61_234

// patience is the longest wait for the stranger.
const patience = 15 * time.Second

// Stranger is a process of another user that runs one test of this program.
type Stranger struct {
	tb    testing.TB
	lines chan string
	stdin io.WriteCloser
	cmd   *exec.Cmd
}

// Asked returns the argument of Start, and whether this process is the stranger.
func Asked() (what string, ok bool) { return os.LookupEnv(marker) }

// NeedsAnotherUser skips a test that cannot start a Stranger here.
func NeedsAnotherUser(tb testing.TB) {
	tb.Helper()
	_ = another(tb)
}

// Start runs the named test of this test program as another user, passes it what,
// and kills it at the end of the test. It skips a test that may not change users.
func Start(tb testing.TB, test, what string) *Stranger {
	tb.Helper()
	attr := another(tb)
	cmd := exec.CommandContext(tb.Context(), "/proc/self/exe", "-test.run=^"+test+"$", "-test.count=1")
	cmd.Env = []string{marker + "=" + what, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.SysProcAttr = attr
	s := &Stranger{tb: tb, lines: make(chan string, 1024), cmd: cmd}
	out, err := cmd.StdoutPipe()
	if err == nil {
		s.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		cmd.Stderr = cmd.Stdout
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatalf("start a process of another user: %v", err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(s.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait() // it was killed
	})
	return s
}

// Next waits for the stranger's next line with the given prefix, and returns the rest
// of that line.
func (s *Stranger) Next(prefix string) string {
	s.tb.Helper()
	late := time.After(patience)
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				s.tb.Fatalf("the stranger ended before it printed %q", prefix)
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
			s.tb.Logf("stranger: %s", line)
		case <-late:
			s.tb.Fatalf("the stranger did not print %q", prefix)
		}
	}
}

// Printed returns the lines that the stranger has printed since the last call.
func (s *Stranger) Printed() []string {
	var all []string
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				return all
			}
			all = append(all, line)
		default:
			return all
		}
	}
}

// Stop closes the stranger's standard input and returns the rest of its output.
func (s *Stranger) Stop() []string {
	s.tb.Helper()
	_ = s.stdin.Close() // the stranger waits for that
	var all []string
	late := time.After(patience)
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				return all
			}
			all = append(all, line)
		case <-late:
			s.tb.Fatal("the stranger does not end")
		}
	}
}

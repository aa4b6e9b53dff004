package child

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the program that starts a helper and waits for it.
func TestMain(m *testing.M) {
	if os.Getenv("CHILD_TEST_PROGRAM") != "" {
		cmd := exec.Command("/bin/sh", "-c", "echo $$; exec sleep 1000")
		cmd.Stdout = os.Stdout
		if err := Run(cmd, Memory); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A program that is killed takes its helper with it.
func TestDiesWithUs(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CHILD_TEST_PROGRAM=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the helper has not begun: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The pipe closes when the last process that holds it ends: the helper.
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("the helper printed more")
	}
	if !late.Stop() {
		t.Error("the helper lived on")
	}
	_ = cmd.Wait() // it was killed
}

// A helper that exceeds its memory limit ends with an error. tail keeps an endless line
// in memory.
func TestMemory(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "tail", "-n", "1", "/dev/zero")
	var exit *exec.ExitError
	if err := Run(cmd, 64<<20); !errors.As(err, &exit) {
		t.Errorf("it ended with %v", err)
	}
}

func TestBuffer(t *testing.T) {
	out := Buffer{Limit: 1000}
	cmd := exec.CommandContext(t.Context(), "yes")
	cmd.Stdout = &out
	if err := Run(cmd, 0); err == nil {
		t.Error("a program that prints too much gives no error")
	}
	out = Buffer{Limit: 5}
	cmd = exec.CommandContext(t.Context(), "echo", "four")
	cmd.Stdout = &out
	if err := Run(cmd, 0); err != nil || string(out.Bytes()) != "four\n" {
		t.Errorf("%q, %v", out.Bytes(), err)
	}
	if err := Run(exec.Command("/nowhere"), 0); err == nil {
		t.Error("a program that is not there is no error")
	}
}

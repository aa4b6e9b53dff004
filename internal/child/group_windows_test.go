package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const roleName = "CHILD_TEST_ROLE"

// TestMain is also a program that starts one in a group, which starts another and ends.
func TestMain(m *testing.M) {
	switch os.Getenv(roleName) {
	case "first":
		cmd := role("second")
		cmd.Stdout = os.Stdout
		g, err := StartGroup(cmd)
		if err != nil {
			panic(err)
		}
		stay()
		g.Close()
	case "second":
		cmd := role("third")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	case "third":
		fmt.Println("up")
		stay()
	default:
		os.Exit(m.Run())
	}
}

func role(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleName+"="+name)
	return cmd
}

// stay keeps the program until it is killed, which must come soon.
func stay() {
	<-time.After(time.Minute)
	fmt.Println("nobody has ended it")
}

// A program that is killed takes with it the programs of its helpers.
func TestGroupDiesWithUs(t *testing.T) {
	cmd := role("first")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "up" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines) // until the last process that holds the pipe has ended
	if err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	_ = cmd.Wait() // it was killed
}

// Programs that a helper leaves end with it.
func TestLeftProcessEnds(t *testing.T) {
	cmd := role("second")
	p, err := StartPiped(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(p.Out)
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "up" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	p.Ended()
	rest, err := io.ReadAll(lines)
	if err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	_ = p.In.Close() // nobody reads it
	_ = p.Out.Close()
}

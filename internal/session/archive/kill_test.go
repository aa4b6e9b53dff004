package archive

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// TestMain makes the test binary the process that is killed.
func TestMain(m *testing.M) {
	if home := os.Getenv("SESSION_WRITER"); home != "" {
		os.Exit(writer(home))
	}
	os.Exit(m.Run())
}

// writer continues the only session in home, or starts one, and prints each message
// that it has appended.
func writer(home string) int {
	a := New(home)
	s, _, err := a.Latest("/p")
	if err != nil {
		s = a.Create("/p", "m")
	}
	for i := len(s.Conversation().Entries); ; i++ {
		m := llm.TextMessage(llm.User, fmt.Sprint(i, " ", strings.Repeat("x", 4000)))
		if err := s.Append(history.Entries(m)...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		fmt.Println(i)
		if i%16 == 0 {
			if err := s.Sync(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 3
			}
		}
	}
}

// TestKilledWriter kills a writing process at random instants: the messages that it
// reported are in the file, and the next process continues.
func TestKilledWriter(t *testing.T) {
	kills, random := stress.Size(40, 400), rand.New(rand.NewPCG(stress.Seed(t), 0))
	home, said, messages := "", -1, 0
	for i := range kills {
		if i%40 == 0 { // otherwise the session would only grow
			home, said = t.TempDir(), -1
		}
		before := said
		said = max(said, killAfter(t, home, 1+random.IntN(60)))
		list, err := New(home).List("/p")
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		_, c, err := New(home).Read(list[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Entries) <= said {
			t.Fatalf("%d messages kept, %d said", len(c.Entries), said+1)
		}
		for i, m := range c.Messages() {
			if !strings.HasPrefix(m.Text(), strconv.Itoa(i)+" ") {
				t.Fatalf("message %d is %.20q", i, m.Text())
			}
		}
		messages += said - before
	}
	t.Logf("load: %d kills, %d messages", kills, messages)
}

// killAfter starts a writer, kills it once it has printed n messages and returns the
// last one printed.
func killAfter(t *testing.T, home string, n int) (last int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SESSION_WRITER="+home)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if i == n {
			cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 3 {
		t.Fatalf("the writer ended by itself: %v", cmd.ProcessState)
	}
	return last
}

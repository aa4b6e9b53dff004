package shell_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Roles of this binary, given as its first argument.
const (
	asWatchdog = "as-watchdog"
	asVictim   = "as-victim"  // followed by a folder and command lines, which it runs until it is killed
	asLeaving  = "as-leaving" // it starts the next, prints its number and ends
	asLeft     = "as-left"
)

// play plays a role and returns false if args name none.
func play(args []string) bool {
	switch {
	case len(args) == 0:
		return false
	case args[0] == asWatchdog:
		if err := shell.Watch(os.Stdin); err != nil {
			panic(err)
		}
	case args[0] == asVictim:
		victim(args[1], args[2:])
	case args[0] == asLeaving:
		leave()
	case args[0] == asLeft:
		fmt.Println(os.Getpid())
		<-time.After(time.Minute)
	default:
		return false
	}
	return true
}

// leave starts another program, prints its number and leaves it.
func leave() {
	cmd := exec.Command(executable(nil), asLeft)
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	fmt.Print(line)
}

// watchedJobs returns Jobs with this binary as their watchdog.
func watchedJobs(t testing.TB) *shell.Jobs {
	j := shell.NewJobs()
	j.Watchdog(executable(t), "watchdog", asWatchdog)
	return j
}

func executable(t testing.TB) string {
	self, err := os.Executable()
	if err != nil {
		if t == nil {
			panic(err)
		}
		t.Fatal(err)
	}
	return self
}

// victim starts lines in the background, prints "up", and stays.
func victim(dir string, lines []string) {
	j := watchedJobs(nil)
	for _, line := range lines {
		opts := shell.Options{Line: line, Dir: dir, SpillDir: dir}
		if _, err := j.Start(opts); err != nil {
			panic(err)
		}
	}
	fmt.Println("up")
	<-time.After(time.Hour) // select {} would end a program in which nothing else runs
}

// Command agent is a coding agent for the terminal. It guarantees that it ends
// with the status that cli.Run returns, that a SIGTERM or SIGHUP lets it clean
// up, while a second one ends it at once, and that, where the system can do
// that, no other program of the user reads its environment and memory.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/cli"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/initenv"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(run(context.Background())) }

func run(ctx context.Context) int {
	if err := initenv.Restore(); err != nil {
		fmt.Fprintf(os.Stderr, "agent: it does not know its terminal: %v\n", err)
	}
	if err := keepPrivate(); err != nil {
		fmt.Fprintf(os.Stderr, "agent: the commands that it runs may read its environment, and the keys in it: %v\n", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, crash.Guarded(stop))
	return cli.Run(ctx, cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
		Self: self(), Name: os.Args[0],
	})
}

// self is the file of this program; empty if it cannot be told. On Linux it is the
// one that runs, even if an update has put another in its place.
func self() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	return file
}

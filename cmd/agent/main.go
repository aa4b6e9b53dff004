// Command agent is a coding agent for the terminal. It guarantees that it ends
// with the status that cli.Run returns, and that a SIGTERM or SIGHUP lets it
// clean up, while a second one ends it at once.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/cli"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
	})
}

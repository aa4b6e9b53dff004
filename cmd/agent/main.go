// Command agent is a coding agent for the terminal. It guarantees that it exits with the
// status that cli.Run returns; that it cleans up at a SIGTERM or SIGHUP, and exits at
// once at the second; and that, if the system allows it, no other program of the user
// can read its environment and memory.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/cli"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/early"
)

// version is the next or the present release, the newest in CHANGELOG.md.
const version = "0.1.0"

// commit is set by make; "" is unknown.
var commit string

// fullVersion returns the version, with the commit as build metadata.
func fullVersion() string { return strings.TrimSuffix(version+"+"+commit, "+") }

func main() { os.Exit(run(context.Background())) }

func run(ctx context.Context) int {
	if err := early.RestoreEnv(); err != nil {
		fmt.Fprintf(os.Stderr, "agent: the environment is incomplete: %v\n", err)
	}
	if err := findHome(); err != nil {
		fmt.Fprintf(os.Stderr, "agent: HOME is not set, and the system's user database does not have it: %v\n", err)
	}
	if err := keepPrivate(); err != nil {
		fmt.Fprintf(os.Stderr, "agent: commands can read its environment, and the keys in it: %v\n", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, crash.Guarded(stop))
	return cli.Run(ctx, cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: fullVersion(),
		Self: self(), Name: os.Args[0],
	})
}

// findHome sets HOME from the system's user database if the environment lacks it: some editors
// start programs with a few variables only. Commands need it as much as this program does.
func findHome() error {
	if os.Getenv("HOME") != "" || runtime.GOOS == "windows" {
		return nil
	}
	me, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || me.HomeDir == "" {
		return err
	}
	return os.Setenv("HOME", me.HomeDir)
}

// self returns the file of this program, or "" if it is unknown. On Linux that is the
// running file, even if an update has replaced it.
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

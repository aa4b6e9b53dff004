// Command testreport runs go test and summarizes it. It prints the usual line of each
// package, the whole output of failures, the lines of tests that begin with "load:",
// and a summary. It guarantees a non-zero exit status if a package failed or did not
// finish and, with CI=true in the environment, if a test was skipped. With
// -events FILE before the arguments of go test, it keeps the events of go test -json. With -except FILE
// there, the tests that the file lists fail, each for its reason; the run fails if one of them does not.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	events := io.Discard
	var except exceptions
	if len(args) > 1 && args[0] == "-except" {
		var err error
		if except, err = readExceptions(args[1]); err != nil {
			return err
		}
		args = args[2:]
	}
	if len(args) > 1 && args[0] == "-events" {
		file, err := os.Create(args[1])
		if err != nil {
			return err
		}
		defer file.Close()
		events, args = file, args[2:]
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	rep := newReport(os.Stdout)
	rep.except = except
	readErr := rep.read(io.TeeReader(out, events))
	waitErr := cmd.Wait()
	if err := rep.close(os.Getenv("CI") == "true"); err != nil {
		return errors.Join(readErr, err) // more precise than go test's exit status
	}
	if exit := new(exec.ExitError); len(rep.except.failed) > 0 && errors.As(waitErr, &exit) {
		waitErr = nil // the exceptions failed, as they must
	}
	return errors.Join(readErr, waitErr)
}

// Command release makes parts of a release, and sets the names under which it is published.
// It runs in the root of the repository:
//
//	release set NAME=VALUE...        sets names of identity.json wherever they stand
//	release env                      prints identity.json and the version for a shell
//	release man FOLDER               writes the manual pages
//	release notices FILE             writes the licences of the libraries in the program
//	release provenance SUMS FILE     writes how the files that SUMS lists were built
//
// It guarantees that the same commit gives the same files, whenever and wherever it runs.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) > 1 && args[0] == "set":
		return set(args[1:])
	case len(args) == 1 && args[0] == "env":
		return printEnv()
	case len(args) == 2 && args[0] == "man":
		return writeManuals(args[1])
	case len(args) == 2 && args[0] == "notices":
		return writeNotices(args[1])
	case len(args) == 3 && args[0] == "provenance":
		return writeProvenance(args[1], args[2])
	}
	return errors.New("usage: release set NAME=VALUE... | env | man FOLDER | notices FILE | provenance SUMS FILE")
}

// output returns the output of a program, without the blanks around it.
func output(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// commitTime returns when the commit that is checked out was made.
func commitTime() (time.Time, error) {
	out, err := output("git", "log", "-1", "--format=%cI")
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, out)
	return at.UTC(), err
}

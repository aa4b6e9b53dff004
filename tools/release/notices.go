package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are those that a release has a program for.
var systems = []string{"linux", "darwin", "windows"}

// legal matches the names of files that must go with the program.
var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([-.].*)?$`)

// writeNotices writes the licences of Go's library and of all modules that are compiled into the
// program on any system. A module without a licence is an error.
func writeNotices(file string) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("agent contains the following software. The licence of agent itself is in the file LICENSE.\n")
	for _, m := range append([]string{"The library of Go\t" + root}, modules...) {
		name, dir, _ := strings.Cut(m, "\t")
		text, err := licences(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.WriteString("\n" + strings.Repeat("-", 80) + "\n" + name + "\n\n" + text)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// linked returns the modules in the program, sorted, each as its name and version, a tab, and its folder.
func linked() ([]string, error) {
	var all []string
	for _, system := range systems {
		out, err := output("env", "GOOS="+system, "go", "list", "-deps",
			"-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`, "./cmd/agent")
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(out, "\n") {
			if line != "" && !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// licences returns the legal files of a folder.
func licences(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		if !e.Type().IsRegular() || !legal.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		b.WriteString(strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")) + "\n")
	}
	if b.Len() == 0 {
		return "", errors.New("no licence found")
	}
	return b.String(), nil
}

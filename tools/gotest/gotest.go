// Package gotest reads the events of go test -json.
package gotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Event is one line of go test -json (see go doc test2json).
type Event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// Read passes all events of in to take, in order.
func Read(in io.Reader, take func(Event)) error {
	dec := json.NewDecoder(in)
	for {
		var e Event
		err := dec.Decode(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the events of go test: %w", err)
		}
		take(e)
	}
}

// AfterLocation cuts the "file.go:12: " that t.Log puts before its text. Only a file that
// ends in suffix counts.
func AfterLocation(line, suffix string) string {
	if head, rest, ok := strings.Cut(line, ": "); ok && strings.Contains(head, suffix+":") {
		return rest
	}
	return line
}

// Package cast stores recordings of a terminal in asciinema's format (asciicast v2). It
// guarantees that a recording reads back as written, that no character is cut in two,
// and that time never runs backwards.
package cast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// Recording is a program's output on a terminal, with times.
type Recording struct {
	Width, Height int
	Title         string
	Events        []Event

	rest []byte // the beginning of a character
}

// Event is output that came at once.
type Event struct {
	At   time.Duration // since the beginning
	Text string
}

// header is the first line of a file.
type header struct {
	Version int    `json:"version"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Title   string `json:"title,omitempty"`
}

// Add appends output at a time, to the millisecond, but not before the last event.
// Empty output extends the recording.
func (r *Recording) Add(at time.Duration, output []byte) {
	if n := len(r.Events); n > 0 {
		at = max(at, r.Events[n-1].At)
	}
	all := slices.Concat(r.rest, output)
	whole := len(all) - cutOff(all)
	r.rest = all[whole:]
	if whole == 0 && len(output) > 0 {
		return
	}
	r.Events = append(r.Events, Event{At: at.Round(time.Millisecond), Text: string(all[:whole])})
}

// cutOff returns the length of the incomplete character at the end of b.
func cutOff(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Marshal returns the recording as a file.
func (r *Recording) Marshal() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header{Version: 2, Width: r.Width, Height: r.Height, Title: r.Title}); err != nil {
		return nil, err
	}
	for _, ev := range r.Events {
		if err := enc.Encode([]any{float64(ev.At.Milliseconds()) / 1000, "o", ev.Text}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Parse reads a file. It skips events other than output, such as input or marks.
func Parse(file []byte) (*Recording, error) {
	first, lines, _ := bytes.Cut(file, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, fmt.Errorf("the first line of the recording: %w", err)
	}
	if h.Version != 2 || h.Width <= 0 || h.Height <= 0 {
		return nil, fmt.Errorf("not a recording in version 2 with a size: %s", first)
	}
	r := &Recording{Width: h.Width, Height: h.Height, Title: h.Title}
	for line := range bytes.Lines(lines) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.event(line); err != nil {
			return nil, fmt.Errorf("event %d of the recording: %w", len(r.Events)+1, err)
		}
	}
	return r, nil
}

// event reads one line of a file.
func (r *Recording) event(line []byte) error {
	var seconds float64
	var kind, text string
	if err := json.Unmarshal(line, &[]any{&seconds, &kind, &text}); err != nil {
		return err
	}
	at := time.Duration(math.Round(seconds*1000)) * time.Millisecond
	if n := len(r.Events); at < 0 || n > 0 && at < r.Events[n-1].At {
		return errors.New("time runs backwards")
	}
	if kind == "o" {
		r.Events = append(r.Events, Event{At: at, Text: text})
	}
	return nil
}

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/nearest"
)

// Hook is a command that runs at an event of a session.
type Hook struct {
	Event   string // one of HookEvents
	Matcher string // a regular expression for the whole name of a tool; empty for all
	Command string // for the shell
	Timeout time.Duration
	Source  string // the file
}

// String describes the hook in one line.
func (h Hook) String() string {
	s := h.Event
	if h.Matcher != "" {
		s += " " + h.Matcher
	}
	return fmt.Sprintf("%s: %s (%s at most)", s, h.Command, h.Timeout)
}

// HookEvents returns the events of hooks.
func HookEvents() []string {
	return []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
}

// The time-outs of hooks.
const (
	hookTimeout    = 60 * time.Second
	maxHookTimeout = 600 * time.Second
)

// hookFile is the form of hooks in a file, by event.
type hookFile map[string][]struct {
	Matcher string      `json:"matcher" yaml:"matcher"`
	Hooks   []hookEntry `json:"hooks" yaml:"hooks"`
}

type hookEntry struct {
	Type    string  `json:"type" yaml:"type"`
	Command string  `json:"command" yaml:"command"`
	Timeout float64 `json:"timeout" yaml:"timeout"` // seconds
}

// list returns the hooks in the order of HookEvents, and the reasons why others cannot be
// used.
func (f hookFile) list(source string) (list []Hook, wrong []error) {
	events := HookEvents()
	for event := range f {
		if !slices.Contains(events, event) {
			wrong = append(wrong, unknownEvent(event))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	for _, event := range events {
		for _, group := range f[event] {
			for _, entry := range group.Hooks {
				h, err := entry.hook(event, group.Matcher)
				if err != nil {
					wrong = append(wrong, fmt.Errorf("%s: %w", event, err))
					continue
				}
				h.Source = source
				list = append(list, h)
			}
		}
	}
	return list, wrong
}

func unknownEvent(name string) error {
	if near := nearest.Name(name, HookEvents()); near != "" {
		return fmt.Errorf("there is no event %q, did you mean %q?", name, near)
	}
	return fmt.Errorf("there is no event %q; the events are %s", name, strings.Join(HookEvents(), ", "))
}

// hook returns the hook of an entry.
func (e hookEntry) hook(event, matcher string) (Hook, error) {
	timeout := time.Duration(e.Timeout * float64(time.Second))
	if timeout == 0 {
		timeout = hookTimeout
	}
	if matcher == "*" {
		matcher = ""
	}
	_, err := regexp.Compile(matcher)
	switch {
	case e.Type != "command":
		return Hook{}, fmt.Errorf("type %q is not supported; write type: command", e.Type)
	case strings.TrimSpace(e.Command) == "" || strings.ContainsRune(e.Command, 0):
		return Hook{}, errors.New("its command is missing")
	case timeout < 0 || timeout > maxHookTimeout:
		return Hook{}, fmt.Errorf("timeout is in seconds, at most %d", int(maxHookTimeout.Seconds()))
	case err != nil:
		return Hook{}, fmt.Errorf("matcher: %w", err)
	}
	return Hook{Event: event, Matcher: matcher, Command: e.Command, Timeout: timeout}, nil
}

// ProjectHooks returns the hooks in a project's JSON file, and the reasons why others are
// left out.
func ProjectHooks(file string, data []byte) (list []Hook, left []error, err error) {
	var f struct {
		Hooks hookFile `json:"hooks"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	list, left = f.Hooks.list(file)
	return list, left, nil
}

// typeErrorLine finds the line in an error of the YAML decoder, whose words are about Go's types.
var typeErrorLine = lazyregexp.New(`line (\d+): `)

// addHooks reads the hooks of the user's file.
func (d *document) addHooks(n *yaml.Node, where string) error {
	var f hookFile
	if err := n.Decode(&f); err != nil {
		if m := typeErrorLine.FindStringSubmatch(err.Error()); m != nil {
			where = d.file + ":" + m[1] + ": "
		}
		return fmt.Errorf("%shooks: want events with lists of matcher and hooks, as agent help hooks shows", where)
	}
	var wrong []error
	if d.hooks, wrong = f.list(d.file); len(wrong) > 0 {
		return fmt.Errorf("%shooks: %w", where, wrong[0])
	}
	return nil
}

// Package config says how the program is set up. It guarantees that a Config is
// complete and valid and never changes: every source has been checked, an
// unknown key is an error that names the nearest known one and its line, and a
// project sets only what it may, once a person trusts it. It opens files for
// reading only and holds no secret, just where secrets are to be found.
//
// Precedence: flag, environment (AGENT_…), a trusted project's file, the user's
// file, default.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Config is the whole set-up.
type Config struct {
	// Home is the program's own folder, absolute. File is the user's file in it;
	// it may be missing.
	Home, File string

	// Model is the chosen model as provider/name; it may be empty. BaseURL, if
	// set, replaces the base URL of that model's provider.
	Model, BaseURL string
	PermissionMode string // default, accept-edits, plan or bypass
	Limits         Limits
	Providers      map[string]Provider // the user's, by name
	Shell          Shell
	IDE            IDE
	Interface      Interface
	// Encoding is that of files that are not valid UTF-8 and have no byte order
	// mark, by a name that golang.org/x/text's htmlindex knows.
	Encoding string

	// Notes say what the user should change in the configuration, although it works.
	Notes []string

	settings []Setting
}

// Limits bound a session. Zero means no limit.
type Limits struct {
	MaxTurns    int     // requests to the model for one prompt
	MaxTokens   int64   // of the session
	MaxCostUSD  float64 // of the session
	CompactAt   int     // percent of the model's context
	IdleTimeout time.Duration
}

// IDE says what an editor is used for.
type IDE struct {
	Enabled     bool
	AutoConnect bool
	UseDiffs    bool
	Review      string // diff, inline or off
	Foreign     string // offer or auto
	LockDir     string // empty means the ide folder in Home
	Context     EditorContext
}

// EditorContext says what a model is told about the editor.
type EditorContext struct {
	Place       string // system or message
	Diagnostics bool
	OpenEditors bool
	Selection   bool
}

// Shell says how commands run.
type Shell struct {
	Surface string // agent, or ide for the editor's visible terminal
}

// Interface is what the terminal looks like.
type Interface struct {
	Editor        string // command line; empty means $VISUAL or $EDITOR
	Theme         string // auto, dark, light, high-contrast, colorblind, ansi or none
	Diff          string // auto, unified or split
	Vi            bool   // the keys of vi at the prompt
	ReducedMotion bool
	ScreenReader  bool     // flat, labelled lines; nothing is redrawn
	Status        []string // the items of the status line
	Title         bool     // the window's title says what goes on
	Progress      bool     // so does its tab, where the terminal is known to show it
	Notify        string   // auto, osc9, osc777, bell or off
}

// Setting is the value in force of one key, and where it comes from.
type Setting struct {
	Key, Value string
	Source     string // flag, an environment variable, file:line, or default
}

// Settings lists the values in force, in the order of the documentation.
func (c Config) Settings() []Setting { return c.settings }

// Overrides are the values given by flags, by key.
type Overrides map[string]string

// Home returns the program's own folder: AGENT_HOME, else .agent in the home
// directory. It is absolute and may be missing.
func Home() (string, error) {
	if dir := os.Getenv("AGENT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory: set AGENT_HOME to a folder for the agent's own files: %w", err)
	}
	return filepath.Join(dir, ".agent"), nil
}

// File is the path of the user's file.
func File(home string) string { return filepath.Join(home, "config.yaml") }

// Load reads all sources. A missing file is an empty one; an error names the
// source and the line.
func Load(flags Overrides) (Config, error) {
	home, err := Home()
	if err != nil {
		return Config{}, err
	}
	return LoadFrom(home, flags)
}

// LoadFrom is Load with another folder than Home.
func LoadFrom(home string, flags Overrides) (Config, error) { return loadLayers(home, flags, nil) }

func loadLayers(home string, flags Overrides, project *layer) (Config, error) {
	file := File(home)
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	doc, err := parse(file, data)
	if err != nil {
		return Config{}, err
	}
	c, err := merge(doc, project, flags)
	c.Home, c.File = home, file
	return c, err
}

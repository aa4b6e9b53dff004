// Package config reads the configuration. It guarantees that a Config is complete,
// valid and immutable: every source was checked, an unknown key is an error that names
// its line and the nearest known key, and a project sets only the keys that it may,
// once a person trusts it. It only reads files, and holds no secrets, only the places
// to find them.
//
// Precedence: flag, environment (AGENT_…), a trusted project's file, the user's file,
// default.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Config is the complete configuration.
type Config struct {
	// Home is the program's own folder, absolute. File is the user's file in it, which
	// may be missing.
	Home, File string

	// Dirs are the folders of the session.
	Dirs []string

	// Model is the chosen model as provider/name; it may be empty. BaseURL, if set,
	// replaces the base URL of that model's provider.
	Model, BaseURL  string
	PermissionMode  string // default, accept-edits, plan or bypass
	SafeCommands    string // run, or ask before commands that only read too
	Rules           []Rule // the user's, and those of a trusted project
	Limits          Limits
	Providers       map[string]Provider  // the user's, by name
	MCP             map[string]MCPServer // the user's, by name
	Hooks           []Hook               // the user's
	Shell           Shell
	LanguageServers LanguageServers
	Trial           string // whether commands first run in a copy of the folder: "auto", "off" or "required"
	Sandbox         Sandbox
	IDE             IDE
	Interface       Interface
	// Encoding is the encoding of files that are not valid UTF-8 and have no byte order
	// mark, by a name that golang.org/x/text's htmlindex knows.
	Encoding string
	// UndoDays is how many days changes can be undone; 0 means no limit.
	UndoDays  int
	WebSearch string // auto: a provider with a search of its own may use it; or off
	// Review is ReviewEdit or ReviewTurn.
	Review string
	// UndoIgnored lists files that git ignores, as in a .gitignore file, whose changes by
	// commands can be undone all the same.
	UndoIgnored []string
	// Check is the command that tries each proposed edit, or off, or auto.
	Check string
	// CheckFirst sends a proposal with new problems back to the model without a question.
	CheckFirst bool
	// EnvKeep names variables that commands inherit besides the usual ones; * at the end
	// covers all that begin so.
	EnvKeep []string

	// Notes tell the user what to change in the configuration, although it works.
	Notes []string

	settings []Setting
}

// The values of Config.Review.
const (
	ReviewEdit = "edit" // a question for each edit
	ReviewTurn = "turn" // one for all edits of a turn, at its end
)

// Limits limits a session. Zero means no limit.
type Limits struct {
	MaxTurns      int           // requests to the model for one prompt
	MaxTime       time.Duration // for one prompt
	MaxTokens     int64         // of the session
	MaxCostUSD    float64       // of the session
	MaxRequestUSD float64       // estimated cost of a request
	MaxDayUSD     float64       // of all sessions on a day
	CompactAt     int           // percent of the model's context
	IdleTimeout   time.Duration
}

// LanguageServers configures the servers that the model may ask about names in code.
type LanguageServers struct {
	Mode  string                    // auto or off
	Named map[string]LanguageServer // entries of the user, by name
}

// IDE configures the use of an editor.
type IDE struct {
	Enabled     bool
	AutoConnect bool
	UseDiffs    bool
	Review      string // diff, inline or off
	Foreign     string // offer or auto
	LockDir     string // empty means the ide folder in Home
	Context     EditorContext
}

// EditorContext configures the editor's part of the prompt.
type EditorContext struct {
	Place       string // system or message
	Diagnostics bool
	OpenEditors bool
	Selection   bool
}

// Shell configures the running of commands.
type Shell struct {
	Surface string // agent, or ide for the editor's visible terminal
}

// Sandbox configures how commands are confined.
type Sandbox struct {
	Mode    string // auto, off or required
	Network bool
	Write   []string // absolute folders that commands may write besides the usual ones
}

// Interface configures the terminal's user interface.
type Interface struct {
	Editor        string // command line; empty means $VISUAL or $EDITOR
	Theme         string // auto, dark, light, high-contrast, colorblind, ansi or none
	Diff          string // auto, unified or split
	Vi            bool   // vi keys at the prompt
	ReducedMotion bool
	ScreenReader  bool     // plain, labeled lines; nothing is redrawn
	Status        []string // the items of the status line
	Title         bool     // show the current activity in the window's title
	Progress      bool     // and in its tab, if the terminal is known to support it
	Notify        string   // auto, osc9, osc777, bell or off
}

// Setting is the value of a key and its source.
type Setting struct {
	Key, Value string
	Source     string // flag, an environment variable, file:line, or default
}

// Settings returns all values in the order of the documentation.
func (c Config) Settings() []Setting { return c.settings }

// Overrides are the values of flags, by key.
type Overrides map[string]string

// Home returns the program's own folder: AGENT_HOME, else .agent in the home directory.
// It is absolute and may be missing.
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

// File returns the path of the user's file.
func File(home string) string { return filepath.Join(home, "config.yaml") }

// Load reads all sources. A missing file counts as empty; an error names the source and
// the line.
func Load(flags Overrides) (Config, error) {
	home, err := Home()
	if err != nil {
		return Config{}, err
	}
	return LoadFrom(home, flags)
}

// LoadFrom is like Load, with another folder than Home.
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

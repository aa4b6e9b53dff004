package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	strict "github.com/go-json-experiment/json"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

func env(name string) string { return os.Getenv(name) }

// place is a lock folder of a family of editors.
type place struct {
	dir     string
	dialect Dialect
	// windows marks a folder of Windows, which has no modes.
	windows bool
}

// places returns the lock folders, our own first.
func (s Search) places() []place {
	var all []place
	if s.Folder != "" {
		all = append(all, place{dir: s.Folder, dialect: Agent})
	}
	if dir := s.Env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		all = append(all, place{dir: filepath.Join(dir, "ide"), dialect: Claude})
	}
	if s.Home == "" {
		return all
	}
	config := s.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(s.Home, ".config")
	}
	all = append(all,
		place{dir: filepath.Join(s.Home, ".claude", "ide"), dialect: Claude},
		place{dir: filepath.Join(config, "claude", "ide"), dialect: Claude},
		place{dir: filepath.Join(s.Home, ".nexus3", "ide"), dialect: Nexus3},
	)
	return append(all, s.windowsPlaces()...)
}

// Folders returns the lock folders of all editors, and those where other programs find
// our extension: who reads the files there can act as an agent.
func (s Search) Folders() (all []string) {
	for _, p := range s.withDefaults().places() {
		all = append(all, p.dir)
	}
	if s.Home != "" {
		all = append(all, filepath.Join(s.Home, ".qwen", "ide"))
	}
	return append(all, filepath.Join(os.TempDir(), "gemini", "ide"))
}

// windowsPlaces returns the lock folders of Windows' users, within WSL.
func (s Search) windowsPlaces() []place {
	if !s.wsl() {
		return nil
	}
	// An invalid pattern finds nothing.
	dirs, _ := filepath.Glob(filepath.Join(s.windows, "*", ".claude", "ide"))
	var all []place
	for _, dir := range dirs[:min(len(dirs), 16)] {
		all = append(all, place{dir: dir, dialect: Claude, windows: true})
	}
	return all
}

// read returns a candidate for every lock file, with the content of valid ones.
func (s Search) read(ctx context.Context) []Candidate {
	var found []Candidate
	seen, dirs := map[string]bool{}, map[string]bool{}
	add := func(c Candidate) {
		if !seen[c.Path] {
			seen[c.Path] = true
			found = append(found, c)
		}
	}
	if path := s.Env(LockVar); path != "" {
		add(named(path))
	}
	for _, p := range s.places() {
		dir, err := filepath.EvalSymlinks(p.dir)
		if err != nil || dirs[dir] || ctx.Err() != nil {
			continue // most editors are not installed
		}
		dirs[dir] = true
		if why := checkDir(dir, p.windows); why != "" {
			add(Candidate{Path: dir, Dialect: p.dialect, Why: why})
			continue
		}
		for _, c := range locks(dir, p.dialect) {
			c.fit.windows = p.windows
			add(c)
		}
	}
	s.load(ctx, found)
	return s.unanswered(found)
}

// named returns the candidate of a lock file named by the environment.
func named(path string) Candidate {
	c := Candidate{Path: filepath.Clean(path), Dialect: Agent, Named: true}
	dir, err := filepath.EvalSymlinks(filepath.Dir(c.Path))
	c.Port = portOf(filepath.Base(c.Path))
	switch {
	case !filepath.IsAbs(path):
		c.Why = LockVar + " is not an absolute path"
	case err != nil:
		c.Why = LockVar + " names a missing file: open a new terminal in the editor"
	case c.Port == 0:
		c.Why = LockVar + " names a file that is not a lock file: its name must be PORT.lock"
	default:
		c.Path = filepath.Join(dir, filepath.Base(c.Path))
		c.Why = checkDir(dir, false)
	}
	return c
}

// portOf returns the port in the name of a lock file, or 0.
func portOf(name string) int {
	digits, ok := strings.CutSuffix(name, ".lock")
	port, err := strconv.Atoi(digits)
	if !ok || err != nil || port < 1 || port > 65535 || strconv.Itoa(port) != digits {
		return 0
	}
	return port
}

// locks returns the lock files in a folder, the newest first.
func locks(dir string, dialect Dialect) []Candidate {
	f, err := os.Open(dir)
	if err != nil {
		return []Candidate{{Path: dir, Dialect: dialect, Why: "the folder cannot be read"}}
	}
	defer f.Close()
	entries, err := f.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	var all []Candidate
	for _, e := range entries {
		port := portOf(e.Name())
		if port == 0 {
			continue
		}
		if info, err := e.Info(); err == nil {
			all = append(all, Candidate{
				Path: filepath.Join(dir, e.Name()), Port: port, Dialect: dialect, fit: fit{modified: info.ModTime()},
			})
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int { return b.fit.modified.Compare(a.fit.modified) })
	return all
}

// load reads the files, and half-written ones a second time.
func (s Search) load(ctx context.Context, found []Candidate) {
	garbled := false
	for i := range found {
		c := &found[i]
		switch {
		case c.Why != "":
		case i >= maxFiles:
			c.Why = fmt.Sprintf("there are more than %d lock files", maxFiles)
		case ctx.Err() != nil:
			c.Why = fmt.Sprintf("looking for editors took more than %s", maxTime)
		default:
			c.load()
			garbled = garbled || c.fit.garbled
		}
	}
	if !garbled {
		return
	}
	select {
	case <-s.After(rewriting):
	case <-ctx.Done():
		return
	}
	for i := range found {
		if found[i].fit.garbled {
			found[i].Why, found[i].fit.garbled = "", false
			found[i].load()
		}
	}
}

// load reads one file.
func (c *Candidate) load() {
	data, info, why := readOwn(c.Path, c.fit.windows)
	if why != "" {
		c.Why = why
		return
	}
	c.fit.modified = info.ModTime()
	var f File
	if err := strict.Unmarshal(data, &f); err != nil {
		c.Why, c.fit.garbled = "the lock file is malformed", true
		return
	}
	if c.Dialect == Agent {
		if err := strict.Unmarshal(data, &f.Ours); err != nil {
			c.Why, c.fit.garbled = "the lock file is malformed", true
			return
		}
	}
	c.File = f
	switch {
	case f.Transport != "" && f.Transport != "ws":
		c.Why = "it needs the transport " + strconv.QuoteToASCII(f.Transport) + "; this agent supports only ws"
	case f.AgentLock != "":
		c.Why = "our extension wrote this lock file for other programs"
	case c.Dialect == Agent && f.unspoken() != "":
		c.Why = f.unspoken()
	case unsendable(f.Token):
		c.Why = "its token has invalid characters"
	case f.Token == "" && c.Dialect != Agent:
		c.Notes = append(c.Notes, "it has no token: any program on this machine can be it")
	case othersRead(info) && !c.fit.windows:
		c.Notes = append(c.Notes, "its lock file can be read by others")
	}
}

// unsendable reports whether a token is malformed.
func unsendable(token string) bool {
	return len(token) > maxSecret || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// unanswered adds a candidate for every port that the environment names and no lock
// file does: without a token there is no way in.
func (s Search) unanswered(found []Candidate) []Candidate {
	for _, d := range []Dialect{Agent, Claude, Nexus3} {
		name := s.Env(d.PortVar)
		if name == "" {
			continue
		}
		port, err := strconv.Atoi(name)
		if err != nil || port < 1 || port > 65535 {
			found = append(found, Candidate{Dialect: d, Why: d.PortVar + " is not a port number"})
			continue
		}
		held := false
		for i := range found {
			if c := &found[i]; c.Port == port && c.Dialect == d {
				c.Named, held = true, true
			}
		}
		if !held {
			why := fmt.Sprintf("%s names port %d, but no lock file does: open a new terminal in the editor", d.PortVar, port)
			found = append(found, Candidate{Port: port, Dialect: d, Named: true, Why: why})
		}
	}
	return found
}

// readBounded reads an open, checked file.
func readBounded(f *os.File, info fs.FileInfo) ([]byte, string) {
	if !info.Mode().IsRegular() {
		return nil, "the lock file is not a regular file"
	}
	data, err := regularfile.ReadAll(f, maxSize)
	switch {
	case errors.Is(err, regularfile.ErrTooLarge):
		return nil, fmt.Sprintf("the lock file is larger than %d KiB", maxSize>>10)
	case err != nil:
		return nil, "the lock file cannot be read"
	}
	return data, ""
}

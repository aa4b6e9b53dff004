// Package demo holds a small Go project with a failing test, and the scripted
// conversation that repairs it. It guarantees that the project needs nothing
// from the network and that every demo starts from a fresh folder.
package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Prompt is what the demo's user asks.
const Prompt = "The tests fail. Find out why, and fix it."

// Env keeps the commands of the demo off the network, whatever the user's own
// settings are.
var env = [...]string{"GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off"}

// Env returns base with what keeps Go off the network.
func Env(base []string) []string { return append(base[:len(base):len(base)], env[:]...) }

// The project's files end in .txt here: to the go command they are no code of
// this module.
//
//go:embed project script.yaml
var files embed.FS

// Place is a demo on disk.
type Place struct {
	Base    string // the fresh folder that holds all of it
	Project string // the folder to work in
	Home    string // the agent's own folder, apart from the user's
	Script  string // the conversation, for script:FILE
}

// Write makes a new demo below the system's temporary folder.
func Write() (Place, error) {
	base, err := os.MkdirTemp("", "agent-demo-")
	if err != nil {
		return Place{}, fmt.Errorf("make the demo's folder: %w", err)
	}
	p := Place{
		Base: base, Project: filepath.Join(base, "median"),
		Home: filepath.Join(base, "home"), Script: filepath.Join(base, "script.yaml"),
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return p.put(name)
	})
	return p, err
}

// put writes one embedded file to its place.
func (p Place) put(name string) error {
	data, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	to := p.Script
	if rest, ok := strings.CutPrefix(name, "project/"); ok {
		to = filepath.Join(p.Project, filepath.FromSlash(strings.TrimSuffix(rest, path.Ext(rest))))
	}
	return statefile.Write(to, data)
}

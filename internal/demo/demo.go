// Package demo holds a small Go project with a failing test, and the scripted
// conversation that repairs it. It guarantees that the project needs no network and that
// every demo starts in a fresh folder.
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

// Prompt is the prompt of the demo's user.
const Prompt = "The tests fail. Find out why, and fix it."

// env keeps the demo's commands off the network, whatever the user's settings.
var env = [...]string{"GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off"}

// Env returns base with the variables that keep Go off the network.
func Env(base []string) []string { return append(base[:len(base):len(base)], env[:]...) }

// The project's files end in .txt, so that the go command does not take them for code of
// this module.
//
//go:embed project script.yaml
var files embed.FS

// Place is a demo on disk.
type Place struct {
	Base    string // the fresh folder that holds everything
	Project string // the folder to work in
	Home    string // the agent's own folder, apart from the user's
	Script  string // the conversation, for script:FILE
}

// Write writes a new demo below the system's temporary folder.
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

// put writes one embedded file.
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

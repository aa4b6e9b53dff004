// Package languages configures the language servers of a session. It guarantees that they are those of the program and of the
// person's own file, never of a project.
package languages

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/langserver"
)

// Options returns the options for servers of the folders, as the person configures them.
func Options(cfg config.Config, folders []string) langserver.Options {
	o := langserver.Options{Folders: folders, Programs: cfg.Programs()}
	for _, name := range slices.Sorted(maps.Keys(cfg.LanguageServers.Named)) {
		own := cfg.LanguageServers.Named[name]
		if own.Disabled {
			o.Off = append(o.Off, name)
		}
		s := langserver.Server{Name: name, Languages: map[string]string{}, Markers: own.Markers}
		for end, id := range own.Languages {
			s.Languages[strings.ToLower(end)] = id
		}
		resolved, err := own.Resolved()
		if err != nil {
			s.Broken = "its command " + err.Error()
		}
		s.Command = resolved.Command
		if own.Settings != nil {
			data, err := json.Marshal(own.Settings)
			if err != nil {
				s.Broken = "its settings: " + err.Error()
			}
			s.Settings = string(data)
		}
		o.Servers = append(o.Servers, s)
	}
	return o
}

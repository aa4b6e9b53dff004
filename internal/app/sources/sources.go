// Package sources lists everything outside the program that takes part in a session, with
// its owner, its bytes in the model's requests and whether it is used. It guarantees that
// it starts and contacts nothing, and that no command, address or value of a setting is in
// the list.
package sources

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/config"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// Source is something outside the program that takes part in a session, or would if it
// were trusted.
type Source struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`  // not sanitized
	Bytes int    `json:"bytes"` // of the model's requests; for a server, if its tools are offered
	From  string `json:"from"`  // the owner, and whether it is trusted and used
}

// Kind is the kind of a Source.
type Kind string

// The kinds of source.
const (
	Configuration Kind = "configuration"
	Instructions  Kind = "instructions"
	Skill         Kind = "skill"
	SubAgent      Kind = "sub-agent"
	Server        Kind = "MCP server"
	Hooks         Kind = "hooks"
	Rules         Kind = "rules"
)

// Owners of a source.
const (
	Yours   = "yours"
	Trusted = "the project's, trusted"
	Unused  = "not used: you have not trusted it"
	Refused = "not used: you refused it"
	hosts   = "the host's"
)

// Setup is everything that a session uses.
type Setup struct {
	Dir       string // the session's folder
	Config    config.Config
	Rules     permission.Rules
	Skills    []skills.Skill
	SubAgents []subagents.Definition
	Hooks     hooks.Project
	Servers   map[string]config.MCPServer // of the project
	More      []Source                    // files of settings, and sources that are not used
}

// List returns the sources: those of s, the given instructions and the MCP servers in their
// present state. Without running servers it lists the configured ones.
func (s Setup) List(in []modelcontext.Instruction, running []mcp.Status) []Source {
	list := s.more(Configuration)
	for _, one := range in {
		list = append(list, s.instruction(one))
	}
	for _, one := range s.Skills {
		source := Source{Kind: Skill, Name: one.FileName(), From: owner(one.Project)}
		if !one.Manual {
			source.Bytes = len(one.Name) + len(one.Description) + len(one.Path())
		}
		list = append(list, source)
	}
	list = append(list, s.more(Skill)...)
	for _, d := range s.SubAgents {
		list = append(list, Source{Kind: SubAgent, Name: d.File, Bytes: len(d.Name) + len(d.Description), From: owner(!strings.HasPrefix(d.File, "~"))})
	}
	list = append(append(list, s.more(SubAgent)...), s.servers(running)...)
	list = append(list, s.more(Server)...)
	if n := len(s.Config.Hooks); n > 0 {
		list = append(list, Source{Kind: Hooks, Name: fmt.Sprint(n), From: Yours})
	}
	if n := len(s.Hooks.Hooks); n > 0 {
		list = append(list, Source{Kind: Hooks, Name: fmt.Sprint(n), From: Trusted})
	}
	return append(append(list, s.more(Hooks)...), s.rules()...)
}

// more returns the further sources of a kind.
func (s Setup) more(kind Kind) []Source {
	return slices.DeleteFunc(slices.Clone(s.More), func(one Source) bool { return one.Kind != kind })
}

func owner(project bool) string {
	if project {
		return Trusted
	}
	return Yours
}

func (s Setup) instruction(in modelcontext.Instruction) Source {
	source := Source{Kind: Instructions, Name: in.Name, Bytes: in.Used, From: owner(filepath.Dir(in.Path) != s.Config.Home)}
	switch {
	case in.Problem != "":
		source.From = "not used: " + in.Problem
	case in.Untrusted:
		source.From = "the project's, as you trusted it; it has changed since"
	}
	return source
}

// servers returns the MCP servers that run, or those that would, and the disabled ones.
func (s Setup) servers(running []mcp.Status) (list []Source) {
	configured := maps.Clone(s.Servers)
	if configured == nil {
		configured = map[string]config.MCPServer{}
	}
	maps.Copy(configured, s.Config.MCP)
	for _, st := range running {
		one := s.server(st.Name)
		one.Bytes = st.Bytes
		if st.State != mcp.Ready {
			one.From += ", " + string(st.State)
		}
		list = append(list, one)
		delete(configured, st.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		one := s.server(name)
		switch {
		case configured[name].Disabled:
			one.From += ", disabled"
		case len(running) > 0:
			one.From += ", not started"
		}
		list = append(list, one)
	}
	return list
}

func (s Setup) server(name string) Source {
	one := Source{Kind: Server, Name: name, From: hosts}
	if _, own := s.Config.MCP[name]; own {
		one.From = Yours
	} else if _, project := s.Servers[name]; project {
		one.From = Trusted
	}
	return one
}

// line matches the line at the end of a rule's source.
var line = lazyregexp.New(`:\d+$`)

// rules counts the rules of each file or flag.
func (s Setup) rules() (list []Source) {
	count := map[string]int{}
	for _, r := range s.Rules {
		count[line.ReplaceAllString(r.Source, "")]++
	}
	for _, file := range slices.Sorted(maps.Keys(count)) {
		theirs := filepath.Join(s.Dir, ".agent") == filepath.Dir(file) && filepath.Dir(file) != s.Config.Home
		list = append(list, Source{Kind: Rules, Name: fmt.Sprintf("%d in %s", count[file], cmp.Or(file, "this session")), From: owner(theirs)})
	}
	return list
}

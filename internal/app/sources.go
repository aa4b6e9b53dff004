package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/systemprompt"
)

// Source is something outside the program that takes part in the session.
type Source struct {
	Kind  string // "instructions", "skill", "sub-agent", "MCP server", "hooks"
	Name  string // not sanitized
	Bytes int    // of the model's requests; for a server, if its tools are offered
	From  string // who set it up, and whether it is trusted or used
}

// The origins of a source.
const (
	yours   = "yours"
	trusted = "the project's, trusted"
	hosts   = "the host's"
)

// Sources lists the sources of the session and their owners.
func (a *App) Sources() []Source {
	var list []Source
	for _, in := range a.Context.Instructions() {
		list = append(list, a.instruction(in))
	}
	for _, s := range a.skills {
		one := Source{Kind: "skill", Name: s.FileName(), From: owner(s.Project)}
		if !s.Manual {
			one.Bytes = len(s.Name) + len(s.Description) + len(s.Path())
		}
		list = append(list, one)
	}
	for _, d := range a.defined {
		list = append(list, Source{Kind: "sub-agent", Name: d.File, Bytes: len(d.Name) + len(d.Description), From: owner(!strings.HasPrefix(d.File, "~"))})
	}
	for _, s := range a.Servers.Status() {
		list = append(list, a.server(s))
	}
	own, project := a.hooked.run.Count()
	if own > 0 {
		list = append(list, Source{Kind: "hooks", Name: fmt.Sprint(own), From: yours})
	}
	if project > 0 {
		list = append(list, Source{Kind: "hooks", Name: fmt.Sprint(project), From: trusted})
	}
	return list
}

func owner(project bool) string {
	if project {
		return trusted
	}
	return yours
}

func (a *App) instruction(in systemprompt.Instruction) Source {
	s := Source{Kind: "instructions", Name: in.Name, Bytes: in.Used, From: owner(filepath.Dir(in.Path) != a.Config.Home)}
	switch {
	case in.Problem != "":
		s.From = "not used: " + in.Problem
	case in.Untrusted:
		s.From = "the project's, as you trusted it; it has changed since"
	}
	return s
}

func (a *App) server(st mcp.Status) Source {
	s := Source{Kind: "MCP server", Name: st.Name, Bytes: st.Bytes, From: hosts}
	if _, own := a.Config.MCP[st.Name]; own {
		s.From = yours
	} else if a.projects[st.Name] {
		s.From = trusted
	}
	if st.State != mcp.Ready {
		s.From += ", " + string(st.State)
	}
	return s
}

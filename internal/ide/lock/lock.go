// Package lock finds the editors that could be connected to. It guarantees that
// it only reads: no lock file is ever changed or removed. It trusts no lock file
// that another user could have written, takes no host from one, and is bounded:
// at most 256 files of 64 KiB each and about a second in all. Whatever it does
// not choose it returns too, with the reason in plain words.
package lock

import (
	"context"
	"time"
)

// Dialect is a family of editors that share a lock folder: each has its own
// header for the token and its own variable for the port.
type Dialect struct {
	Name string // "agent", "claude" or "nexus3"
	// Header carries the lock's token in the WebSocket handshake.
	Header string
	// PortVar is the environment variable in which the editor's own terminals
	// carry its port.
	PortVar string
}

// The dialects.
var (
	Agent  = Dialect{Name: "agent", Header: "x-agent-ide-authorization", PortVar: "AGENT_IDE_PORT"}
	Claude = Dialect{Name: "claude", Header: "x-claude-code-ide-authorization", PortVar: "CLAUDE_CODE_SSE_PORT"}
	Nexus3 = Dialect{Name: "nexus3", Header: "x-nexus3-ide-authorization", PortVar: "NEXUS3_IDE_PORT"}
)

// File is the contents of a lock file. Every field may be missing.
type File struct {
	PID       int      `json:"pid"`
	Folders   []string `json:"workspaceFolders"`
	RealPaths []string `json:"realFolders"`
	Name      string   `json:"ideName"`
	Transport string   `json:"transport"`
	Token     string   `json:"authToken"`
	InWindows bool     `json:"runningInWindows"`
	Trusted   *bool    `json:"trusted"`
	Version   string   `json:"extVersion"`
}

// Candidate is one lock file and what is known about its editor.
type Candidate struct {
	Path    string // of the lock file
	Port    int
	Host    string // where the port answered: 127.0.0.1 unless the environment says otherwise
	Dialect Dialect
	File    File
	ModTime time.Time
	// Folder is the editor's folder that holds the working directory, empty if
	// there is none.
	Folder string
	Named  bool // the environment named its port or its lock file
	// Usable says that the lock is in order and its port answers: a person may
	// choose it. Auto says that it may be connected without being asked for.
	Usable bool
	Auto   bool
	// Why says why it is not the chosen one, in words for a person; empty for the
	// chosen one.
	Why string
	// Notes are remarks on a usable candidate: no token, readable by others.
	Notes []string
}

// Search says where and for whom to look. Dir is required; a nil function
// stands for the real one.
type Search struct {
	Folder    string // our own lock folder; empty: none
	Home      string // the user's home folder, for the folders of other editors
	Dir       string // working directory, absolute
	Foreign   bool   // other editors' locks may be connected unasked
	Env       func(name string) string
	After     func(time.Duration) <-chan time.Time
	Ancestors func() []int // process ids of this process's ancestors
}

// Find returns all candidates, the best first. It returns within about a second,
// with what it has by then; ctx may end it sooner.
func Find(ctx context.Context, s Search) []Candidate { return nil }

// Choice returns the candidate to be connected by itself, if there is one.
func Choice(found []Candidate) (Candidate, bool) {
	if len(found) > 0 && found[0].Auto {
		return found[0], true
	}
	return Candidate{}, false
}

// Package lock finds the editors that can be connected to. It only reads: it never
// changes or removes a lock file. It does not trust a lock file that another user could
// have written, takes no host from one, and marks an editor usable only if its port
// belongs to this user. It reads at most 256 files of 64 KiB each, in about three seconds,
// and returns every editor that it does not choose with the reason.
package lock

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/bb2d0cf4/agent/internal/peer"
)

// Dialect is a family of editors with a common lock folder, token header and port
// variable.
type Dialect struct {
	Name string // "agent", "claude" or "nexus3"
	// Header carries the lock's token in the WebSocket handshake; empty if both sides
	// prove that they know the lock's secret.
	Header string
	// PortVar is the environment variable with the editor's port, set in its own
	// terminals.
	PortVar string
	hostVar string // of the variable for a host other than 127.0.0.1
}

// The dialects.
var (
	Agent = Dialect{
		Name: "agent", PortVar: "AGENT_IDE_PORT", hostVar: "AGENT_IDE_HOST",
	}
	Claude = Dialect{
		Name: "claude", Header: "x-claude-code-ide-authorization",
		PortVar: "CLAUDE_CODE_SSE_PORT", hostVar: "CLAUDE_CODE_IDE_HOST_OVERRIDE",
	}
	Nexus3 = Dialect{Name: "nexus3", Header: "x-nexus3-ide-authorization", PortVar: "NEXUS3_IDE_PORT"}
)

// LockVar is the environment variable with the path of the lock file, which our own
// extension sets in its terminals.
const LockVar = "AGENT_IDE_LOCK"

// File is the content of a lock file. Any field may be missing, and none is safe to
// show before it is sanitized.
type File struct {
	PID         int      `json:"pid"`
	Folders     []string `json:"workspaceFolders"`
	RealFolders []string `json:"realFolders"`
	Name        string   `json:"ideName"`
	Transport   string   `json:"transport"`
	Token       string   `json:"authToken"`
	InWindows   bool     `json:"runningInWindows"`
	Trusted     *bool    `json:"trusted"`
	Version     string   `json:"extVersion"`
	// AgentLock is the lock for this program, if our extension wrote this one for others.
	AgentLock string `json:"agentLock"`

	Ours `json:"-"`
}

// Ours holds the fields of our own dialect.
type Ours struct {
	Protocol int    `json:"v"`      // of the protocol
	Secret   string `json:"secret"` // both sides prove that they know it; never sent
	// SecretSocket is the Unix socket that gives the secret; see ReadSecret.
	SecretSocket string `json:"secretSocket"`
}

// Credential returns the secret or token that the editor may refuse.
func (f File) Credential() string {
	if f.Secret != "" {
		return f.Secret
	}
	return f.Token
}

// Candidate is a lock file and the state of its editor.
type Candidate struct {
	Path    string // of the lock file, or of a lock folder that cannot be used
	Port    int
	Host    string // at which the port answered: 127.0.0.1 unless the environment names another
	Dialect Dialect
	File    File
	// Folder is the editor's folder that holds the working directory, or "".
	Folder string
	// Usable means that the lock is valid, a program of this user answers on its port,
	// and the editor has the working directory open: a person may choose it. Auto means
	// that it may be linked without asking, Named that the environment names its port or
	// lock file.
	Usable, Auto, Named bool
	// Gone means that the lock's process no longer belongs to this user; Elsewhere that
	// the owner of the port is unknown, because it is on another machine. Neither is ever
	// Auto.
	Gone, Elsewhere bool
	// Why explains to a person why this candidate is not chosen; empty for the chosen
	// one.
	Why string
	// Notes are remarks on a usable candidate: no token, readable by others.
	Notes []string

	fit fit
}

// fit ranks a candidate.
type fit struct {
	modified time.Time
	depth    int  // of Folder
	ancestor bool // the editor started this process
	garbled  bool // the file is no lock; it may be half-written
	windows  bool // the file is in a folder of Windows
}

// Address returns the host and port to dial.
func (c Candidate) Address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// Tolerates reports whether a person accepted the error of a check by choosing this
// editor by hand.
func (c Candidate) Tolerates(err error) bool {
	return c.Elsewhere && (errors.Is(err, peer.ErrElsewhere) || c.File.InWindows && errors.Is(err, peer.ErrUnknown))
}

// Search configures Find. Dir is required; a nil function means the default.
type Search struct {
	Folder    string // our own lock folder; empty: none
	Home      string // the user's home, for the folders of other editors; empty: none
	Dir       string // working directory, absolute
	Foreign   bool   // link other editors automatically too
	Env       func(name string) string
	After     func(time.Duration) <-chan time.Time
	Ancestors func() []int // process ids of this process's ancestors
	// Check inspects a connection before it is used; nil means [peer.Check].
	Check func(net.Conn) error

	windows string // the home folders of Windows, within WSL
}

const (
	maxFiles = 256
	maxSize  = 64 << 10
	maxNames = 4096 // entries of a folder that are read

	maxTime   = 3 * time.Second        // only a busy machine, or another host, takes that long
	rewriting = 100 * time.Millisecond // wait before a half-written file is read again
)

// Find returns all candidates, the best first. It returns within about three seconds, or
// when ctx ends, with the results so far.
func Find(ctx context.Context, s Search) []Candidate {
	s = s.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	found := s.read(ctx)
	s.match(found)
	s.probe(ctx, found)
	s.own(found)
	s.rank(found)
	return found
}

// Choice returns the candidate to link automatically, if any.
func Choice(found []Candidate) (Candidate, bool) {
	if len(found) > 0 && found[0].Auto {
		return found[0], true
	}
	return Candidate{}, false
}

func (s Search) withDefaults() Search {
	if s.Env == nil {
		s.Env = env
	}
	if s.After == nil {
		s.After = time.After
	}
	if s.Ancestors == nil {
		s.Ancestors = ancestors
	}
	if s.Check == nil {
		s.Check = peer.Check
	}
	if s.windows == "" {
		s.windows = "/mnt/c/Users"
	}
	return s
}

// wsl reports whether this is Linux within Windows: paths have two forms there, and
// process ids of editors mean nothing.
func (s Search) wsl() bool { return s.Env("WSL_DISTRO_NAME") != "" }

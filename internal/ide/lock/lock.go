// Package lock finds the editors that could be connected to. It guarantees that
// it only reads: no lock file is ever changed or removed. It trusts no lock file
// that another user could have written, takes no host from one, calls no editor
// usable before its port is known to be this user's, and is bounded: at most 256 files of 64 KiB each and about a second in all. Whatever it does
// not choose it returns too, with the reason in plain words.
package lock

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/bb2d0cf4/agent/internal/peer"
)

// Dialect is a family of editors that share a lock folder: each has its own
// header for the token and its own variable for the port.
type Dialect struct {
	Name string // "agent", "claude" or "nexus3"
	// Header carries the lock's token in the WebSocket handshake; empty where both
	// sides prove that they know the lock's secret instead.
	Header string
	// PortVar is the environment variable in which the editor's own terminals
	// carry its port.
	PortVar string
	hostVar string // names another host than 127.0.0.1
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

// LockVar is the environment variable in which our own extension gives its
// terminals the path of its lock file.
const LockVar = "AGENT_IDE_LOCK"

// File is the contents of a lock file. Every field may be missing; none is safe
// to show before it is sanitised.
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

	Ours `json:"-"`
}

// Ours is what only a lock of our own dialect has.
type Ours struct {
	Protocol int    `json:"v"`      // version of the protocol
	Secret   string `json:"secret"` // both sides prove that they know it
}

// Credential is what the editor would refuse if it refused us.
func (f File) Credential() string {
	if f.Secret != "" {
		return f.Secret
	}
	return f.Token
}

// Candidate is one lock file and what is known about its editor.
type Candidate struct {
	Path    string // of the lock file, or of a folder of them that cannot be used
	Port    int
	Host    string // where the port answered: 127.0.0.1 unless the environment says otherwise
	Dialect Dialect
	File    File
	// Folder is the editor's folder that holds the working directory, empty if
	// there is none.
	Folder string
	// Usable says that the lock is in order, that a program of this user answers on
	// its port, and that it has the working directory open: a person may choose it.
	// Auto says that it may be connected without being asked for, Named that the
	// environment names its port or its lock file.
	Usable, Auto, Named bool
	// Gone says that the process of the lock is not this user's any more; Elsewhere
	// that the owner of the port cannot be learned, because it is not on this
	// machine. Neither is ever Auto.
	Gone, Elsewhere bool
	// Why says why it is not the chosen one, in words for a person; empty for the
	// chosen one.
	Why string
	// Notes are remarks on a usable candidate: no token, readable by others.
	Notes []string

	fit fit
}

// fit is what ranks a candidate beside its exported fields.
type fit struct {
	modified time.Time
	depth    int  // of Folder
	ancestor bool // this process was started by the editor
	garbled  bool // the contents are no lock; they may be half-written
	windows  bool // the file lies in a folder of Windows
}

// Address returns the host and port to dial.
func (c Candidate) Address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// Tolerates reports whether an error of the look at a connection is what a person
// put up with who chose the editor by hand.
func (c Candidate) Tolerates(err error) bool {
	return c.Elsewhere && (errors.Is(err, peer.ErrElsewhere) || c.File.InWindows && errors.Is(err, peer.ErrUnknown))
}

// Search says where and for whom to look. Dir is required; a nil function
// stands for the real one.
type Search struct {
	Folder    string // our own lock folder; empty: none
	Home      string // the user's home, for the folders of other editors; empty: none
	Dir       string // working directory, absolute
	Foreign   bool   // other editors' locks may be connected unasked
	Env       func(name string) string
	After     func(time.Duration) <-chan time.Time
	Ancestors func() []int // process ids of this process's ancestors
	// Check looks at a connection before it is used; nil stands for [peer.Check].
	Check func(net.Conn) error

	windows string // where the home folders of Windows are, within WSL
}

const (
	maxFiles = 256
	maxSize  = 64 << 10
	maxNames = 4096 // entries of one folder that are looked at

	maxTime   = time.Second
	rewriting = 100 * time.Millisecond // a half-written file is read again after it
	reply     = 300 * time.Millisecond // for a port to answer
)

// Find returns all candidates, the best first. It returns within about a second,
// with what it has by then; ctx may end it sooner.
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

// Choice returns the candidate to be connected by itself, if there is one.
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

// wsl reports whether this is Linux within Windows: paths are written in two
// ways there, and process ids of editors mean nothing.
func (s Search) wsl() bool { return s.Env("WSL_DISTRO_NAME") != "" }

package confirm

import (
	"time"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Command is a command line to be run by a shell.
type Command struct {
	Line       string
	Dir        string // absolute
	Timeout    time.Duration
	Background bool
	// Unconfined marks the question whether a command that failed in the sandbox may run
	// again without one. No rule and no mode approves it.
	Unconfined bool
	// ReadOnly means that Line is known to be read-only. A rule may approve such a command:
	// the caller then runs a guarded form of it, which Verdict.Guarded demands.
	ReadOnly bool
	// Trial asks only whether Line may first run in a copy of the folder, in which it changes
	// nothing: an approval then has Verdict.Trial set.
	Trial bool
	// Parts are the pieces of Line, for rules: simple commands, redirections and other
	// constructs. They are empty if Line was not taken apart.
	Parts []CommandPart
}

// CommandPart is a piece of a command line.
type CommandPart struct {
	// Words are the words of a simple command, without quotes; nil for another piece,
	// and if one of them is known only when it runs.
	Words  []string
	Safe   bool // it only reads
	Hidden bool // Words do not name all programs that it runs
	Piped  bool // it reads what another part prints
	// Away are the indexes of the words that name files outside of the project by a
	// symbolic link in it.
	Away []int
}

func (c *Command) facts(Request) Facts {
	f := Facts{Title: "Run " + sanitize.Line(c.Line), Covers: "this command", Kind: "command", About: c.Line, Text: c.Line}
	if c.Unconfined {
		f.Title, f.Covers = "Run again without the sandbox: "+sanitize.Line(c.Line), ""
	}
	return f
}

func (*Command) fits(v Verdict) error { return v.bare() }

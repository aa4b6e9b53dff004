package mcp

import (
	"fmt"
	"io"
	"strings"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// stray keeps a text between the messages of the server, which says describes, and tells the user once.
func (s *server) stray(kept io.Writer, says string, line []byte) {
	text := strings.TrimSpace(sanitize.ForModel(clip.Bytes(string(line), maxDescription, "…")))
	_, _ = fmt.Fprintln(kept, text) // a log never fails
	s.strayed.Do(func() {
		first, _, _ := strings.Cut(text, "\n")
		s.opt.Tell(fmt.Sprintf("The MCP server %s %s, such as %q. That is skipped, and kept in %s.",
			s.Name, says, clip.Bytes(first, maxHelp, "…"), s.logFile()))
	})
}

// strayEvent is stray for the data of an event.
func (s *server) strayEvent(data []byte) {
	s.logged.Do(func() {
		l, err := newLog(s.logFile())
		if err != nil {
			s.opt.Tell(fmt.Sprintf("The log of the MCP server %s cannot be written: %v.", s.Name, err))
			return
		}
		s.log = l
	})
	if s.log != nil {
		s.stray(s.log, "sends events that are not messages of the protocol", data)
	}
}

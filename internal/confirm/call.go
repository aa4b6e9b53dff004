package confirm

import "github.com/bb2d0cf4/agent/internal/sanitize"

// Call is a call of a tool of an MCP server.
type Call struct {
	Server string // its name in the configuration
	Tool   string // its name at the server
	Args   string // JSON, the very bytes that are sent
	// Definition is the server's description of the tool; a grant ends when it changes.
	Definition string
}

func (c *Call) facts(r Request) Facts {
	return Facts{Title: "Call " + sanitize.Line(c.Server+": "+c.Tool), Covers: "this tool", Kind: "call", About: r.Tool, Text: c.Args}
}

func (*Call) fits(v Verdict) error { return v.bare() }

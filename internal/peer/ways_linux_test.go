package peer

// ways returns the ways to find sockets.
func ways() map[string]finder { return map[string]finder{"question": sockets, "table": table} }

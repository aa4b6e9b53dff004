package statefile

// Private does nothing: a folder in the user's profile is private already. Who can read one elsewhere
// (AGENT_HOME) is not checked.
func Private(string) (open string, err error) { return "", nil }

package statefile

// Private does nothing here: a folder in the user's profile is private by itself.
func Private(string) (open string, err error) { return "", nil }

package shell

// Environ returns base without what a command must not see or be steered by,
// and with what keeps it from waiting for a person. secrets names the variables
// that hold keys; a variable that contains the value of one is removed too.
func Environ(base []string, secrets []string) []string { return base }

package shell

import "time"

// Relay passes on output of another source as Run does: at a pace that a screen can
// follow, only the newest part of a flood, never after end has returned. add does not
// block.
func Relay(output func(chunk string)) (add func(text string), end func()) {
	r := newReporter(output, "")
	return func(text string) { r.add([]byte(text)) }, r.close
}

// Argv returns the program and the arguments that run a line; nil if they are no list, as
// on Windows.
func Argv(line string) []string {
	return argvOf(line, "")
}

// Elsewhere returns the result of a command that something else ran, such as an editor in
// its terminal. It limits and stores the output like Run.
func Elsewhere(opts Options, output string, code int, took time.Duration) Result {
	all := opts.capture("")
	all.Write([]byte(output))
	out := all.Finish()
	return Result{
		ExitCode: code, Took: took,
		Output: out.Text, Lines: out.Lines, Omitted: out.Omitted, Spill: out.File, Notes: out.Notes,
	}
}

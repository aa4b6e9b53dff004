package shell

import "time"

// Relay hands on output that comes from elsewhere as Run hands on its own: at a pace
// that a screen can follow, the newest part of a flood, never after end has
// returned. add does not wait.
func Relay(output func(chunk string)) (add func(text string), end func()) {
	r := newReporter(output)
	return func(text string) { r.add([]byte(text)) }, r.close
}

// Elsewhere returns the result of a command that something else has run, such as
// an editor in its terminal: the output is bounded and kept as that of Run.
func Elsewhere(opts Options, output string, code int, took time.Duration) Result {
	all := opts.capture()
	all.Write([]byte(output))
	out := all.Finish()
	return Result{
		ExitCode: code, Took: took,
		Output: out.Text, Lines: out.Lines, Omitted: out.Omitted, Spill: out.File, Notes: out.Notes,
	}
}

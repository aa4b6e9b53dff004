package shell

import "time"

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

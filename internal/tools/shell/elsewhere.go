package shell

import "time"

// Elsewhere returns the result of a command that something else has run, such as
// an editor in its terminal: the output is bounded and kept as that of Run.
func Elsewhere(opts Options, output string, code int, took time.Duration) Result {
	all := newCapture(opts.Limit, opts.SpillDir)
	all.write([]byte(output))
	out := all.finish()
	return Result{
		ExitCode: code, Took: took,
		Output: out.text, Lines: out.lines, Omitted: out.omitted, Spill: out.file, Notes: out.notes,
	}
}

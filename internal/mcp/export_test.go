package mcp

import "time"

// WithProbe returns opt with the time for a program's first answer.
func (opt Options) WithProbe(d time.Duration) Options {
	opt.probe = d
	return opt
}

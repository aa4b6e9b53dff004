package plain

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// mostOutput is the number of lines printed of a failed check's output.
const mostOutput = 40

// checked returns the result of a check, with the output if it failed or has no result.
func (o Options) checked(c *confirm.Check) string {
	res, _ := c.Result()
	line := res.Line()
	if o.Labels {
		line = strings.NewReplacer(" ✔", " passes,", " ✗", " fails,").Replace(line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s%s\n", o.label("", "check"), sanitize.Line("check: "+line))
	if !res.Red() && res.Missing == "" || res.Output == "" {
		return b.String()
	}
	left := mostOutput
	for line := range strings.SplitSeq(strings.TrimRight(res.Output, "\n"), "\n") {
		if left--; left < 0 {
			b.WriteString("  …\n")
			break
		}
		b.WriteString("  " + sanitize.Exact(line) + "\n")
	}
	return b.String()
}

// Package child runs small helper programs, and starts those that are talked to over pipes.
// On Linux it guarantees that no helper outlives this program, however it ends, and that
// none exceeds its memory limit; on Windows, that none of those over pipes outlives it, nor a program
// of theirs; everywhere, that at most a limit of their output is kept.
package child

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
)

// Memory is the usual memory limit of a helper in bytes.
const Memory = 1 << 30

// Run starts cmd, whose context limits its time, and waits for it. memory limits its data
// in bytes; zero means no limit.
func Run(cmd *exec.Cmd, memory uint64) error {
	// The system kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tie(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	if memory > 0 {
		Limit(cmd, memory)
	}
	return cmd.Wait()
}

// Limit limits the data of cmd, which was started, in bytes, and that of each process that it starts. Only Linux can.
func Limit(cmd *exec.Cmd, memory uint64) { limit(cmd.Process.Pid, memory) }

// Buffer holds up to Limit bytes of a program's output. Beyond that, the program's output
// is closed.
type Buffer struct {
	Limit int

	output bytes.Buffer
}

// Write appends p. It fails beyond the limit.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.output.Len()+len(p) > b.Limit {
		return 0, fmt.Errorf("it prints more than %d bytes", b.Limit)
	}
	return b.output.Write(p)
}

// Bytes returns the output.
func (b *Buffer) Bytes() []byte { return b.output.Bytes() }

package peer

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process reports who runs a process.
func Process(pid int) Owner {
	if pid <= 0 {
		return Unknown
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return signalled(unix.Kill(pid, 0))
	}
	owner := Unknown
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		f := strings.Fields(value)
		switch {
		case len(f) < 2:
		case name == "State" && (f[0] == "Z" || f[0] == "X"):
			return Nobody // it only waits for its parent
		case name == "Uid" && User(f[1]) == Self(): // the effective one
			owner = Mine
		case name == "Uid":
			owner = Another
		}
	}
	return owner
}

// ambiguous returns an error if the kernel shows other users under the number of
// this one: in a user namespace, all users that it lacks share one number.
func ambiguous() error {
	const everybody = "0 0 4294967295"
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if strings.TrimSpace(string(overflow)) != strconv.Itoa(os.Geteuid()) || strings.Join(strings.Fields(string(users)), " ") == everybody {
		return nil
	}
	return fmt.Errorf("%w: the number %d stands for more than one user here", ErrUnknown, os.Geteuid())
}

//go:build unix

package peer

import (
	"os"
	"strconv"
)

// Self is the user who runs this program.
func Self() User { return number(uint32(os.Geteuid())) }

func number(uid uint32) User { return User(strconv.FormatUint(uint64(uid), 10)) }

// IsSystem reports whether u is the administrator, or an account of a service: no
// person can have made it but the administrator.
func (u User) IsSystem() bool {
	n, err := strconv.ParseUint(string(u), 10, 32)
	return err == nil && n <= maxSystem
}

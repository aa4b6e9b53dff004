//go:build unix

package peer

import (
	"os"
	"strconv"
)

// Self is the user who runs this program.
func Self() User { return number(uint32(os.Geteuid())) }

func number(uid uint32) User { return User(strconv.FormatUint(uint64(uid), 10)) }

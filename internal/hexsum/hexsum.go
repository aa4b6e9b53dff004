// Package hexsum names contents by their SHA-256.
package hexsum

import (
	"crypto/sha256"
	"encoding/hex"
)

// Of returns the SHA-256 of data in hexadecimal digits.
func Of[T ~string | ~[]byte](data T) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}
